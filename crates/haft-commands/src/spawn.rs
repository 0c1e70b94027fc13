//! `spawn`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::jobs::{Completion, Member};
use haft_kernel::{Bytes, Flow, Session};
use haft_process::{Command, Environment, Host, Input, Job, Outcome, Streams, Task};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "spawn",
    summary: "Runs a program under supervision, with exact arguments.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new(
            "command",
            ParameterKind::Text,
            "The program: a path, or a name that `PATH` finds.",
        )
        .required(),
        CommandParameter::new(
            "argv",
            ParameterKind::List,
            "Its arguments: a JSON array, or one string that is one argument.",
        ),
        CommandParameter::new(
            "env",
            ParameterKind::Object,
            "Variables for its environment, as a JSON object.",
        ),
        CommandParameter::new(
            "cwd",
            ParameterKind::Text,
            "The directory it runs in; it must be on this machine.",
        ),
        CommandParameter::new(
            "timeout",
            ParameterKind::Integer(0),
            "Milliseconds after which it is ended; 0 is no limit.",
        ),
        CommandParameter::new(
            "clear_env",
            ParameterKind::Flag,
            "Gives it no variables but those of `env` (and `HAFT_RUN`, by which it is found again).",
        ),
    ],
    details: &[
        "Nothing is split, expanded or quoted again: each string of `argv` is one argument. In a string of a JSON word \
         the shell's expansions are made, as in double quotes; `\\u0024` is a dollar sign that stays one. Standard input is that of the command, from a \
         pipe or a redirection; a terminal is not handed on, so that no program waits for a person. Standard output and standard error go \
         where those of the command go, as they come and whole.",
        "The program runs in a session of its own. When its time is up, or what it is part of is cancelled, it is ended with everything it \
         has started: `SIGTERM`, two seconds of grace, `SIGKILL`.",
    ],
    statuses: &[
        ("0–125", "the program's own"),
        ("124", "its time was up; nothing of it is left"),
        ("126", "it cannot be run, or programs are switched off"),
        ("127", "there is no such program"),
        ("128+n", "signal n ended it"),
        ("2", "wrong usage"),
    ],
    examples: &[
        Example {
            summary: "arguments that no shell takes apart",
            script: r#"spawn command=printf argv=["<%s>\n", "a b", "$HOME is ok"]"#,
            output: "<a b>\n<… is ok>\n",
            status: 0,
        },
        Example {
            summary: "input from a pipe, an exact environment",
            script: r#"script='read line; echo "$line $NAME"'
echo hello | spawn command=sh argv=["-c", "$script"] env={"NAME": "world"}"#,
            output: "hello world\n",
            status: 0,
        },
        Example {
            summary: "a deadline for the whole tree",
            script: r#"spawn command=sh argv=["-c", "echo begun; sleep 60 & sleep 60"] timeout=300"#,
            output: "begun\n",
            status: 124,
        },
        Example {
            summary: "a program that is not there",
            script: "spawn command=no-such-program 2>/dev/null",
            output: "",
            status: 127,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition::new(&DESCRIPTOR, run);

/// The signal that asks to end.
const TERMINATE: i32 = 15;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let name = arguments.text("command").cloned().unwrap_or_default();
    if let Some(reason) = context.session.permission().refusal().map(str::to_owned) {
        context.error(format_args!("'{name}': {reason}"));
        return Ok(126);
    }
    let directory = match arguments.text("cwd").map(|path| directory(context, path)) {
        Some(Err(message)) => {
            context.error(message);
            return Ok(126);
        }
        Some(Ok(directory)) => Some(directory),
        None => None,
    };
    let Some(path) = find(context, &name, arguments) else {
        context.error(format_args!("'{name}': command not found"));
        return Ok(127);
    };
    let words: Vec<Bytes> = std::iter::once(name.clone()).chain(arguments.list("argv")).collect();
    let mut program = match context.session.program(&path, &words) {
        Ok(program) => program,
        Err(message) => {
            context.error(format_args!("'{name}': {message}"));
            return Ok(126);
        }
    };
    if let Some(directory) = directory {
        program.working_directory(directory);
    }
    if context.session.is_plain_shell() {
        // Nobody would end it if this process were killed.
        program.parent_death_signal(TERMINATE);
    }
    if let Err(error) = set_environment(context, &mut program, arguments) {
        context.error(error);
        return Ok(2);
    }
    // From before its start a signal that would end this process ends the program first.
    let own = context.name;
    let supervise =
        |session: &mut Session| supervise(&mut Context::of(session, own), &name, program, arguments);
    context.session.ended_in_order(supervise)
}

/// The directory on this machine that a path of the session means.
fn directory(context: &Context<'_>, path: &[u8]) -> Result<PathBuf, String> {
    let shown = String::from_utf8_lossy(path);
    let Some(real) = context.session.real_path(path) else {
        return Err(format!("cwd '{shown}' is not on this machine"));
    };
    let absolute = context.session.resolve(path);
    match context.session.files().metadata(OsStr::from_bytes(&absolute).as_ref()) {
        Ok(metadata) if metadata.is_dir() => Ok(real),
        Ok(_) => Err(format!("cwd '{shown}' is not a directory")),
        Err(error) => Err(format!("cwd '{shown}': {}", haft_fs::message(&error))),
    }
}

/// The file of the program, found by the `PATH` that it is given if that is another one.
fn find(context: &mut Context<'_>, name: &Bytes, arguments: &CommandArguments) -> Option<Bytes> {
    if name.contains(&b'/') {
        return Some(context.session.resolve(name).into());
    }
    let path = arguments.object("env").iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    match path {
        Some(path) => {
            let found = haft_process::find_program(
                OsStr::from_bytes(name),
                Some(OsStr::new(path)),
                Some(context.session.directory()),
            );
            found.ok().map(|found| found.as_os_str().as_bytes().into())
        }
        None => context.session.find_program(name),
    }
}

fn set_environment(
    context: &mut Context<'_>,
    program: &mut Command,
    arguments: &CommandArguments,
) -> Result<(), haft_process::Error> {
    let clear = arguments.flag("clear_env");
    let given = arguments.object("env");
    if given.is_empty() && !clear {
        return Ok(());
    }
    let mut environment = match clear {
        true => Environment::new(),
        false => Environment::clone(&context.session.environment()),
    };
    for (name, value) in given {
        environment.set(name, value)?;
    }
    program.environment(environment);
    Ok(())
}

/// Runs the program to its end, or to that of its time.
fn supervise(
    context: &mut Context<'_>,
    name: &Bytes,
    program: Command,
    arguments: &CommandArguments,
) -> Flow {
    let cancel = context.session.cancel_token().child();
    let mut task = Task::new(program).streams(Streams::Inherit).input(input(context)).cancel(&cancel);
    if let Some(milliseconds) = arguments.number("timeout").filter(|milliseconds| *milliseconds > 0) {
        task = task.timeout(Duration::from_millis(milliseconds));
    }
    if let Some(scope) = context.session.scope() {
        task = task.within(scope);
    }
    let job = match task.start(&Host::plain().restricted(context.session.permission())) {
        Ok(job) => job,
        Err(error) => {
            context.error(format_args!("'{name}': {error}"));
            return Ok(error.exit_code());
        }
    };
    wait(context, job, cancel)
}

/// What the program reads: the command's own input, unless that is a terminal or nothing that a program can be given.
fn input(context: &Context<'_>) -> Input {
    match context.file(0) {
        Some(file) if !file.is_terminal() => file.for_program().map_or(Input::Null, Input::File),
        _ => Input::Null,
    }
}

/// Waits on this thread while another one supervises: whatever collects output around this is read meanwhile.
fn wait(context: &mut Context<'_>, job: Job, cancel: haft_process::CancelToken) -> Flow {
    let pid = job.controller().pid();
    let (completion, slot) = (Completion::new(), Arc::new(OnceLock::<Outcome>::new()));
    let (done, filled) = (completion.clone(), slot.clone());
    let supervisor =
        std::thread::Builder::new().name("spawn".to_owned()).stack_size(256 << 10).spawn(move || {
            let outcome = job.wait();
            let status = outcome.code();
            let _ = filled.set(outcome);
            done.complete(status);
        });
    let Ok(supervisor) = supervisor else {
        context.error("cannot start a thread to supervise it");
        return Ok(126);
    };
    let stop = cancel.clone();
    let mut member = Member::thread(pid, completion, cancel);
    let ended = context.session.wait_member_until(&mut member, None);
    // Who is stopped goes on only when nothing of the program is left.
    if ended.is_err() {
        stop.cancel();
    }
    let _ = supervisor.join();
    // What it has left running ends with it.
    drop(slot);
    Ok(ended?.unwrap_or(127))
}
