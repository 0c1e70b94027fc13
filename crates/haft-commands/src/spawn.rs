//! `spawn`: runs a program under supervision.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::jobs::{Completion, Member};
use haft_kernel::{Bytes, Flow, Session};
use haft_process::{Command, Environment, Host, Input, Job, JobOutcome, Signals, Streams, Task};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::status::{CANNOT_EXECUTE, NOT_FOUND, USAGE_ERROR};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "spawn",
    summary: "Run a program under supervision, with exact arguments.",
    style: ArgumentStyle::TypedCommand(&["[PROGRAM [ARGUMENT]...]"]),
    parameters: &[
        CommandParameter::new(
            "command",
            ParameterKind::Text,
            "The program: a path, or a name to look up in `PATH`.",
        )
        .required()
        .with_value_name("PROGRAM"),
        CommandParameter::new(
            "argv",
            ParameterKind::List,
            "The arguments: a JSON array of strings, also as text, or a single argument. May be repeated.",
        ),
        CommandParameter::new(
            "env",
            ParameterKind::Object,
            "Variables to add to the environment, as a JSON object.",
        ),
        CommandParameter::new(
            "cwd",
            ParameterKind::Text,
            "The working directory. It must be a real directory, not an in-memory one.",
        )
        .with_value_name("DIR"),
        CommandParameter::new(
            "timeout",
            ParameterKind::Integer(0),
            "Terminate the program after this many milliseconds. 0 means no limit.",
        )
        .with_value_name("MILLISECONDS"),
        CommandParameter::new(
            "clear_env",
            ParameterKind::Flag,
            "Pass only the variables of `env`, and `HAFT_RUN`, which marks the processes of this run.",
        ),
    ],
    details: &[
        "Each string of `argv` becomes exactly one argument: it is not split or unquoted again. Within a JSON word the \
         shell expands variables and commands as in double quotes; write `\\u0024` for a literal dollar sign.",
        "The program and its arguments can also be words after the parameters, as in `spawn timeout=500 make \"${targets[@]}\"`.",
        "The program reads the standard input of `spawn` if that is a pipe or a file. A terminal is not passed on, so the \
         program cannot wait for a person. Standard output and standard error go where those of `spawn` go.",
        "The program runs in its own session. At the timeout, or when the script is cancelled, the program and every \
         process it started receive `SIGTERM`, and `SIGKILL` two seconds later. A message says so, and the stage in the \
         result of `haft run --json` is `timed_out`.",
    ],
    statuses: &[
        ("0–125", "the exit status of the program"),
        ("2", "wrong usage"),
        ("124", "the timeout expired; all processes have ended"),
        ("126", "the program cannot be run, or external commands are disabled"),
        ("127", "the program was not found"),
        ("128+n", "signal n killed the program"),
    ],
    examples: &[
        Example {
            summary: "Pass arguments without quoting",
            script: r#"spawn command=printf argv=["<%s>\n", "a b", "$HOME is ok"]"#,
            output: "<a b>\n<… is ok>\n",
            status: 0,
        },
        Example {
            summary: "Pass the elements of an array, and JSON from a variable",
            script: "a=('a b' c); spawn printf '<%s>\\n' \"${a[@]}\"\n\
                     json='[\"hello\", \"from\", \"PATH\"]'; spawn command=echo argv=\"$json\"",
            output: "<a b>\n<c>\nhello from PATH\n",
            status: 0,
        },
        Example {
            summary: "Read from a pipe and set a variable",
            script: r#"script='read line; echo "$line $NAME"'
echo hello | spawn command=sh argv=["-c", "$script"] env={"NAME": "world"}"#,
            output: "hello world\n",
            status: 0,
        },
        Example {
            summary: "Terminate the whole process tree after 300 ms",
            script: r#"spawn command=sh argv=["-c", "echo begun; sleep 60 & sleep 60"] timeout=300"#,
            output: "begun\n",
            status: 124,
        },
        Example {
            summary: "Run a program that does not exist",
            script: "spawn command=no-such-program 2>/dev/null",
            output: "",
            status: 127,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition::new(&DESCRIPTOR, run);

/// The stack of the supervising thread.
const SUPERVISOR_STACK_BYTES: usize = 256 << 10;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let words = match arguments.operands.is_empty() {
        true => arguments.text("command").cloned().into_iter().chain(arguments.list("argv")).collect(),
        false => arguments.operands.clone(),
    };
    let name = words.first().cloned().unwrap_or_default();
    if let Some(reason) = context.session().permission().refusal().map(str::to_owned) {
        context.error(format_args!("'{name}': {reason}"));
        return Ok(CANNOT_EXECUTE);
    }
    let directory = match arguments.text("cwd").map(|path| directory(context, path)) {
        Some(Err(message)) => {
            context.error(message);
            return Ok(CANNOT_EXECUTE);
        }
        Some(Ok(directory)) => Some(directory),
        None => None,
    };
    let Some(path) = find_program(context, &name, arguments) else {
        context.error(format_args!("'{name}': command not found"));
        return Ok(NOT_FOUND);
    };
    let mut program = match context.session_mut().program(&path, &words) {
        Ok(program) => program,
        Err(message) => {
            context.error(format_args!("'{name}': {message}"));
            return Ok(CANNOT_EXECUTE);
        }
    };
    if let Some(directory) = directory {
        program.working_directory(directory);
    }
    if context.session().is_plain_shell() {
        // A plain shell has no watcher process that would end the program if the shell is killed.
        program.parent_death_signal(Signals::TERM);
    }
    if let Err(error) = set_environment(context, &mut program, arguments) {
        context.error(error);
        return Ok(USAGE_ERROR);
    }
    // A signal that would end this process ends the program first, even if it arrives before the program starts.
    let own = context.name;
    let supervise =
        |session: &mut Session| supervise(&mut Context::of(session, own), &name, program, arguments);
    context.session_mut().defer_fatal_signals(supervise)
}

/// Maps `cwd` to a real directory of this machine.
fn directory(context: &Context<'_>, path: &[u8]) -> Result<PathBuf, String> {
    let shown = String::from_utf8_lossy(path);
    let Some(real) = context.session().real_path(path) else {
        return Err(format!("cwd '{shown}' is not a real directory of this machine"));
    };
    let absolute = context.session().resolve(path);
    match context.session().files().metadata(OsStr::from_bytes(&absolute).as_ref()) {
        Ok(metadata) if metadata.is_dir() => Ok(real),
        Ok(_) => Err(format!("cwd '{shown}' is not a directory")),
        Err(error) => Err(format!("cwd '{shown}': {}", haft_fs::message(&error))),
    }
}

/// Finds the program, using the `PATH` of the `env` parameter if it has one.
fn find_program(context: &mut Context<'_>, name: &Bytes, arguments: &CommandArguments) -> Option<Bytes> {
    if name.contains(&b'/') {
        return Some(context.session().resolve(name).into());
    }
    let path = arguments.object("env").iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    match path {
        Some(path) => context.session().search_path(name, Some(path.as_bytes())),
        None => context.session_mut().find_program(name),
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
        false => Environment::clone(&context.session_mut().environment()),
    };
    for (name, value) in given {
        environment.set(name, value)?;
    }
    program.environment(environment);
    Ok(())
}

/// Runs the program until it exits or the timeout expires.
fn supervise(
    context: &mut Context<'_>,
    name: &Bytes,
    program: Command,
    arguments: &CommandArguments,
) -> Flow {
    let cancel = context.cancel_token().child();
    let mut task = Task::new(program).streams(Streams::Inherit).input(input(context)).cancel(&cancel);
    let timeout = arguments.number("timeout").filter(|milliseconds| *milliseconds > 0);
    if let Some(milliseconds) = timeout {
        task = task.timeout(Duration::from_millis(milliseconds));
    }
    if let Some(scope) = context.session().scope() {
        task = task.within(scope);
    }
    let job = match task.start(&Host::plain().restricted(context.session().permission())) {
        Ok(job) => job,
        Err(error) => {
            context.error(format_args!("'{name}': {error}"));
            return Ok(error.exit_code());
        }
    };
    let (flow, timed_out) = wait(context, job, cancel);
    if let Some(milliseconds) = timeout.filter(|_| timed_out) {
        context.error(format_args!("'{name}' timed out after {milliseconds}ms"));
        context.set_timed_out();
    }
    flow
}

/// The standard input of `spawn`, unless it is a terminal or has no descriptor.
fn input(context: &Context<'_>) -> Input {
    match context.file(0) {
        Some(file) if !file.is_terminal() => file.for_program().map_or(Input::Null, Input::File),
        _ => Input::Null,
    }
}

/// Waits while another thread supervises the job. Waiting here keeps reading the output that the session captures. Also returns whether
/// the timeout expired.
fn wait(context: &mut Context<'_>, job: Job, cancel: haft_process::CancelToken) -> (Flow, bool) {
    let pid = job.controller().pid();
    let (completion, outcome) = (Completion::new(), Arc::new(OnceLock::<JobOutcome>::new()));
    let (done, filled) = (completion.clone(), outcome.clone());
    let supervisor = std::thread::Builder::new()
        .name("spawn".to_owned())
        .stack_size(SUPERVISOR_STACK_BYTES)
        .spawn(move || {
            let outcome = job.wait();
            let status = outcome.code();
            let _ = filled.set(outcome);
            done.complete(status);
        });
    let Ok(supervisor) = supervisor else {
        context.error("cannot start a supervisor thread");
        return (Ok(CANNOT_EXECUTE), false);
    };
    let stop = cancel.clone();
    let mut member = Member::thread(pid, completion, cancel);
    let ended = context.session_mut().wait_member_until(&mut member, None);
    // After an interruption, return only when every process of the program has ended.
    if ended.is_err() {
        stop.cancel();
    }
    let _ = supervisor.join();
    let timed_out = outcome.get().is_some_and(|outcome| outcome.timed_out);
    // Dropping the outcome ends the processes that the program left running.
    drop(outcome);
    (ended.map(|status| status.unwrap_or(NOT_FOUND)), timed_out)
}
