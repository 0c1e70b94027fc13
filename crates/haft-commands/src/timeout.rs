//! `timeout`: runs a command with a time limit.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;
use haft_kernel::jobs::Member;
use haft_kernel::run::RunPart;
use haft_kernel::{Bytes, Flow, Session, StartedCommand};
use haft_process::{Signals, TIMED_OUT};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::duration;
use crate::status::{SIGNAL_BASE, WRAPPER_FAILED};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "timeout",
    summary: "Run a command and terminate it when a time limit expires.",
    style: ArgumentStyle::Gnu(&["DURATION", "COMMAND", "[ARGUMENT]..."]),
    parameters: &[
        CommandParameter::new(
            "foreground",
            ParameterKind::Flag,
            "Signal only COMMAND, not the processes it has started.",
        )
        .letter('f'),
        CommandParameter::new(
            "kill-after",
            ParameterKind::Duration,
            "Also send `SIGKILL` if COMMAND still runs this long after the first signal.",
        )
        .letter('k'),
        CommandParameter::new(
            "preserve-status",
            ParameterKind::Flag,
            "Return the exit status of COMMAND even if the time limit expires.",
        )
        .letter('p'),
        CommandParameter::new("signal", ParameterKind::Signal, "Send this signal instead of `SIGTERM`.")
            .letter('s'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Report each signal on standard error.")
            .letter('v'),
    ],
    details: &[
        "DURATION is a number with an optional unit: `s` (seconds, the default), `m`, `h` or `d`. 0 disables the limit.",
        "COMMAND can be a program, a function, a builtin such as `eval`, a haft command or a tool. Everything except a \
         program runs in a subshell. A name that exists as a program means the program, as in GNU `timeout`.",
        "When the limit expires, the signal goes to every process that COMMAND has started, including detached ones. \
         Processes that remain after COMMAND has exited are terminated too. With `--foreground`, only COMMAND is signalled.",
        "In a plain shell, the machine's own `timeout` runs programs, if it is installed.",
    ],
    statuses: &[
        ("124", "the time limit expired"),
        ("125", "`timeout` itself failed, for example because of wrong usage"),
        ("126", "COMMAND cannot be run"),
        ("127", "COMMAND was not found"),
        ("137", "`SIGKILL` was sent"),
        ("other", "the exit status of COMMAND"),
    ],
    examples: &[
        Example { summary: "Limit a program", script: "timeout 0.2 sleep 60", output: "", status: 124 },
        Example {
            summary: "Limit a function",
            script: "count() { while :; do n=$((n + 1)); done; }\ntimeout 0.2s count; echo $?",
            output: "124\n",
            status: 0,
        },
        Example {
            summary: "Limit a list of commands",
            script: "timeout 5 eval 'echo one; echo two; exit 3'",
            output: "one\ntwo\n",
            status: 3,
        },
        Example {
            summary: "Kill a program that ignores `SIGTERM`",
            script: "timeout -k 0.1 0.2 sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' 2>/dev/null",
            output: "",
            status: 137,
        },
    ],
};

/// The exit status of a process that `SIGKILL` ended.
const KILLED: i32 = SIGNAL_BASE + Signals::KILL;

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: WRAPPER_FAILED,
    command_at: |_| 1,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// GNU's `timeout` reports wrong usage, and in a plain shell runs every program.
fn steps_aside(session: &mut Session, _: &CommandArguments, operands: &[Bytes]) -> bool {
    let [time, name, ..] = operands else { return true };
    if duration::parse(time).is_none() {
        return true;
    }
    let in_process = session.has_command(name)
        || !session.has_program(name) && (session.has_function(name) || session.has_builtin(name));
    // Programs come before tools, so there is no need to look for a tool of that name.
    session.is_plain_shell() && !in_process && (session.has_program(name) || !session.has_tool(name))
}

struct TimeoutSettings {
    signal: i32,
    kill_after: Option<Duration>,
    preserve_status: bool,
    foreground: bool,
    verbose: bool,
}

impl TimeoutSettings {
    fn new(arguments: &CommandArguments) -> Self {
        let signal = arguments.number("signal").and_then(|signal| i32::try_from(signal).ok());
        Self {
            signal: signal.unwrap_or(Signals::TERM),
            kill_after: arguments.duration("kill-after").filter(|after| !after.is_zero()),
            preserve_status: arguments.flag("preserve-status"),
            foreground: arguments.flag("foreground"),
            verbose: arguments.flag("verbose"),
        }
    }
}

/// The command that runs, with everything it has started.
struct LimitedCommand<'a> {
    name: &'a Bytes,
    member: Member,
    part: RunPart,
    settings: TimeoutSettings,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let (time, command) = match &words[arguments.option_words..] {
        [time, command @ ..] if !command.is_empty() => (time, command),
        _ => {
            context.error("missing operand: expected DURATION COMMAND");
            return Ok(WRAPPER_FAILED);
        }
    };
    let Some(limit) = duration::parse(time) else {
        context.error(format_args!("invalid time interval '{time}'"));
        return Ok(WRAPPER_FAILED);
    };
    let (member, part) = match context.start(command)? {
        StartedCommand::Member(member, part) => (member, part),
        StartedCommand::Failed(status) => return Ok(status),
    };
    let settings = TimeoutSettings::new(arguments);
    let mut limited = LimitedCommand { name: &command[0], member, part, settings };
    let deadline = if limit.is_zero() { None } else { Instant::now().checked_add(limit) };
    let result = limited.wait(context, deadline);
    if result.is_err() {
        context.session().end_member(&mut limited.member);
    }
    result
}

impl LimitedCommand<'_> {
    /// Waits for the command, terminates it at the deadline, and returns the exit status of `timeout`.
    fn wait(&mut self, context: &mut Context<'_>, deadline: Option<Instant>) -> Flow {
        if let Some(status) = context.session_mut().wait_member_until(&mut self.member, deadline)? {
            return Ok(status);
        }
        let mut sent = self.settings.signal;
        self.send(context, sent);
        let deadline = self.settings.kill_after.and_then(|after| Instant::now().checked_add(after));
        let status = match context.session_mut().wait_member_until(&mut self.member, deadline)? {
            Some(status) => status,
            None => {
                sent = Signals::KILL;
                self.send(context, sent);
                context.session_mut().wait_member_until(&mut self.member, None)?.unwrap_or(KILLED)
            }
        };
        if !self.settings.foreground {
            self.part.end();
        }
        // As in GNU, the status distinguishes a killed command from one that ended at the first signal.
        let killed = sent == Signals::KILL && status == KILLED;
        Ok(if self.settings.preserve_status || killed { status } else { TIMED_OUT })
    }

    fn send(&self, context: &mut Context<'_>, signal: i32) {
        if self.settings.verbose {
            let shown = haft_process::signal_name(signal).unwrap_or_else(|| signal.to_string());
            context.error(format_args!("sending signal {shown} to command '{}'", self.name));
        }
        if self.settings.foreground {
            self.member.signal(signal);
            return;
        }
        // A stopped process handles the signal only after SIGCONT.
        for signal in [signal, Signals::CONT] {
            if !self.part.signal(signal) {
                self.member.signal_group(signal);
            }
        }
    }
}
