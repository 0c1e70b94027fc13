//! `exec`.

use haft_text::Bytes;

use super::{Context, options};
use crate::execute::{ExecutionParameters, Started};
use crate::flow::{CANNOT_EXECUTE, Flow, NOT_FOUND, Unwind};
use crate::options::ShellOption;
use crate::traps::Trap;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "cla:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if operands.is_empty() {
        context.open_files_mut().keep_redirections();
        return Ok(0);
    }
    if context.session().is_restricted() {
        context.error("restricted");
        return Ok(1);
    }
    let login = options::has(&flags, b'l');
    let given = flags.iter().rev().find(|flag| flag.letter == b'a').map(super::options::OptionFlag::text);
    let zero = match (given, login) {
        (None, false) => None,
        (name, _) => {
            let name = name.unwrap_or(&operands[0]);
            Some([if login { b"-".as_slice() } else { b"" }, name].concat())
        }
    };
    let status = become_program(context, operands, zero.as_deref(), options::has(&flags, b'c'))?;
    match status {
        ExecReturn::Failed(status) if context.options().shell(ShellOption::ExecFail) => Ok(status),
        ExecReturn::Failed(status) => {
            if operands[0].contains(&b'/') {
                // The shell had already given up its state for the program.
                context.traps_mut().reset(Trap::Exit);
            }
            Err(Unwind::Exit(status))
        }
        ExecReturn::Ran(status) => Err(Unwind::Exit(status)),
    }
}

/// The result of an `exec` that returned.
enum ExecReturn {
    /// The program ran as a child in place of the shell, and exited with this status.
    Ran(i32),
    /// The program could not be started.
    Failed(i32),
}

/// Tells whether the name is an in-process command, a script or a tool instead of a program.
fn is_not_a_program(context: &mut Context<'_>, words: &[Bytes]) -> bool {
    !context.session_mut().has_program(&words[0]) && context.session_mut().resolves_outside_shell(words)
}

/// Replaces the shell with a program. Only a process that runs nothing but this shell is really replaced; elsewhere the program runs as
/// a child and the shell exits with it, which looks the same from outside.
fn become_program(
    context: &mut Context<'_>,
    words: &[Bytes],
    zero: Option<&[u8]>,
    clear: bool,
) -> Result<ExecReturn, Unwind> {
    if zero.is_none() && !clear && is_not_a_program(context, words) {
        context.traps_mut().reset(Trap::Exit);
        return context.dispatch_external(words).map(ExecReturn::Ran);
    }
    let session = context.session_mut();
    if session.owns_process() && session.identity.leads_process() {
        session.change_shell_level(-1);
        let started = session.replace_process(words, zero, clear);
        session.change_shell_level(1);
        return match started {
            Started::NoShebang(path) => {
                session.traps.reset(Trap::Exit);
                session.run_without_shebang(&path, words, &[]).map(ExecReturn::Ran)
            }
            Started::Failed(status) => Ok(ExecReturn::Failed(status)),
            Started::Child(_) => Ok(ExecReturn::Failed(CANNOT_EXECUTE)),
        };
    }
    let Some(path) = session.program_path(&words[0], &[]) else {
        context.error(format_args!("{}: not found", words[0]));
        return Ok(ExecReturn::Failed(NOT_FOUND));
    };
    if zero.is_none() && !clear {
        session.traps.reset(Trap::Exit);
        return session.run_external(words, &[], ExecutionParameters::default(), None).map(ExecReturn::Ran);
    }
    let _ = session.flush();
    let started = session.command(&path, words, &[]).and_then(|mut command| {
        if let Some(zero) = zero {
            command.argument_zero(haft_text::os_str(zero));
        }
        if clear {
            command.environment(haft_process::Environment::new());
        }
        command.spawn(&session.kernel.permission).map_err(|error| error.to_string())
    });
    match started {
        Ok(mut child) => {
            session.traps.reset(Trap::Exit);
            session.wait_child(&mut child, None).map(|exit| ExecReturn::Ran(exit.code()))
        }
        Err(message) => {
            context.error(format_args!("{}: {message}", words[0]));
            Ok(ExecReturn::Failed(CANNOT_EXECUTE))
        }
    }
}
