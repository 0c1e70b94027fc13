//! `exec`.

use haft_text::Bytes;

use super::{Context, options};
use crate::execute::ExecutionParameters;
use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;
use crate::traps::Trap;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "cla:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if operands.is_empty() {
        context.session.open_files.keep_redirections();
        return Ok(0);
    }
    let login = options::has(&flags, b'l');
    let given = flags.iter().rev().find(|flag| flag.letter == b'a').map(super::options::Flag::text);
    let zero = match (given, login) {
        (None, false) => None,
        (name, _) => {
            let name = name.unwrap_or(&operands[0]);
            Some([if login { b"-".as_slice() } else { b"" }, name].concat())
        }
    };
    let status = become_program(context, operands, zero.as_deref(), options::has(&flags, b'c'))?;
    match status {
        Ended::Failed(status) if context.session.options.shell(ShellOption::ExecFail) => Ok(status),
        Ended::Failed(status) => {
            if operands[0].contains(&b'/') {
                // The shell had already made way for the program.
                context.session.traps.reset(Trap::Exit);
            }
            Err(Unwind::Exit(status))
        }
        Ended::Ran(status) => Err(Unwind::Exit(status)),
    }
}

/// What became of an `exec` that returned.
enum Ended {
    /// The program ran in the place of the shell, and ended with this status.
    Ran(i32),
    /// It could not be started.
    Failed(i32),
}

/// Whether the name is no program's, but something else's that runs in this process or beyond the machine.
fn reaches_beyond(context: &mut Context<'_>, words: &[Bytes]) -> bool {
    !context.session.has_program(&words[0]) && context.session.is_found_beyond(words)
}

/// Puts a program in the place of the shell. Only a process that is nothing but this shell is replaced; elsewhere the
/// program runs and the shell ends with it, which nobody can tell from outside.
fn become_program(
    context: &mut Context<'_>,
    words: &[Bytes],
    zero: Option<&[u8]>,
    clear: bool,
) -> Result<Ended, Unwind> {
    if zero.is_none() && !clear && reaches_beyond(context, words) {
        context.session.traps.reset(Trap::Exit);
        return context.session.dispatch_beyond(words, context.values).map(Ended::Ran);
    }
    let session = &mut *context.session;
    if session.owns_process() && session.identity.leads_process() {
        session.change_level(-1);
        let status = session.replace_process(words, zero, clear);
        session.change_level(1);
        return Ok(Ended::Failed(status));
    }
    let Some(path) = session.program_path(&words[0], &[]) else {
        context.error(format_args!("{}: not found", words[0]));
        return Ok(Ended::Failed(127));
    };
    if zero.is_none() && !clear {
        session.traps.reset(Trap::Exit);
        return session.run_external(words, &[], ExecutionParameters::default(), None).map(Ended::Ran);
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
            session.wait_child(&mut child, None).map(|exit| Ended::Ran(exit.code()))
        }
        Err(message) => {
            context.error(format_args!("{}: {message}", words[0]));
            Ok(Ended::Failed(126))
        }
    }
}
