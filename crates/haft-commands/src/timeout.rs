//! `timeout`.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;
use haft_kernel::jobs::Member;
use haft_kernel::run::Part;
use haft_kernel::{Beside, Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::duration;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "timeout",
    summary: "Runs a command, and ends it when its time is up.",
    style: ArgumentStyle::Gnu(&["DURATION", "COMMAND", "[ARGUMENT]..."]),
    parameters: &[
        CommandParameter::new(
            "foreground",
            ParameterKind::Flag,
            "Signals the command alone, not the processes it has started.",
        )
        .letter('f'),
        CommandParameter::new(
            "kill-after",
            ParameterKind::Duration,
            "Sends `KILL` too, so long after the first signal.",
        )
        .letter('k'),
        CommandParameter::new(
            "preserve-status",
            ParameterKind::Flag,
            "Ends with the command's status even if its time was up.",
        )
        .letter('p'),
        CommandParameter::new("signal", ParameterKind::Signal, "The signal to send instead of `TERM`.")
            .letter('s'),
        CommandParameter::new(
            "verbose",
            ParameterKind::Flag,
            "Says on standard error which signal it sends.",
        )
        .letter('v'),
    ],
    details: &[
        "DURATION is a number with an optional unit: `s` (seconds, as without one), `m`, `h`, `d`. 0 is no limit.",
        "COMMAND is anything that can be run: a program, a function, a builtin (`eval` among them), another command of haft, a tool. \
         Everything but a program runs in a subshell. A name that a program has means the program, as it does for GNU's \
         `timeout`.",
        "When the time is up, the signal goes to everything that COMMAND has started, wherever that went; what is left of it when \
         COMMAND has ended is ended too. With `--foreground` it goes to COMMAND alone.",
        "In a plain shell a program is run by the machine's own `timeout`, if there is one.",
    ],
    statuses: &[
        ("124", "its time was up"),
        ("125", "`timeout` itself failed: wrong usage"),
        ("126", "COMMAND cannot be run"),
        ("127", "there is no such COMMAND"),
        ("137", "`KILL` was sent"),
        ("else", "that of COMMAND"),
    ],
    examples: &[
        Example { summary: "a program", script: "timeout 0.2 sleep 60", output: "", status: 124 },
        Example {
            summary: "a function",
            script: "count() { while :; do n=$((n + 1)); done; }\ntimeout 0.2s count; echo $?",
            output: "124\n",
            status: 0,
        },
        Example {
            summary: "a list, by way of eval",
            script: "timeout 5 eval 'echo one; echo two; exit 3'",
            output: "one\ntwo\n",
            status: 3,
        },
        Example {
            summary: "a program that does not listen",
            script: "timeout -k 0.1 0.2 sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' 2>/dev/null",
            output: "",
            status: 137,
        },
    ],
};

/// The signal that lets the stopped go on, so that they notice the one before it.
const CONTINUE: i32 = 18;

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage: 125,
    command_at: |_| 1,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// GNU's own goes first with what it alone does, and in a plain shell with every program.
fn steps_aside(session: &mut Session, _: &CommandArguments, operands: &[Bytes]) -> bool {
    let [time, name, ..] = operands else { return true };
    if duration::parse(time).is_none() {
        return true;
    }
    let ours = session.has_command(name)
        || !session.has_program(name) && (session.has_function(name) || session.has_builtin(name));
    session.is_plain_shell() && !ours && !session.has_tool(name)
}

struct TimeoutSettings {
    signal: i32,
    kill_after: Option<Duration>,
    preserve: bool,
    foreground: bool,
    verbose: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let (time, command) = match &words[arguments.options..] {
        [time, command @ ..] if !command.is_empty() => (time, command),
        _ => {
            context.error("needs a duration and a command");
            return Ok(125);
        }
    };
    let Some(limit) = duration::parse(time) else {
        context.error(format_args!("invalid time interval '{time}'"));
        return Ok(125);
    };
    let settings = TimeoutSettings {
        signal: arguments.number("signal").and_then(|signal| i32::try_from(signal).ok()).unwrap_or(15),
        kill_after: arguments.duration("kill-after").filter(|after| !after.is_zero()),
        preserve: arguments.flag("preserve-status"),
        foreground: arguments.flag("foreground"),
        verbose: arguments.flag("verbose"),
    };
    let (mut member, part) = match context.start(command)? {
        Beside::Member(member, part) => (member, part),
        Beside::Failed(status) => return Ok(status),
    };
    let deadline = if limit.is_zero() { None } else { Instant::now().checked_add(limit) };
    let result = wait(context, &mut member, &part, deadline, &settings, &command[0]);
    if result.is_err() {
        context.session.end_member(&mut member);
    }
    result
}

fn wait(
    context: &mut Context<'_>,
    member: &mut Member,
    part: &Part,
    deadline: Option<Instant>,
    settings: &TimeoutSettings,
    name: &Bytes,
) -> Flow {
    if let Some(status) = context.session.wait_member_until(member, deadline)? {
        return Ok(status);
    }
    let mut sent = settings.signal;
    send(context, member, part, sent, settings, name);
    let deadline = settings.kill_after.and_then(|after| Instant::now().checked_add(after));
    let status = match context.session.wait_member_until(member, deadline)? {
        Some(status) => status,
        None => {
            sent = 9;
            send(context, member, part, sent, settings, name);
            context.session.wait_member_until(member, None)?.unwrap_or(137)
        }
    };
    if !settings.foreground {
        part.end();
    }
    // Whoever was killed can be told from whoever was asked.
    let killed = sent == 9 && status == 128 + 9;
    Ok(if settings.preserve || killed { status } else { 124 })
}

fn send(
    context: &mut Context<'_>,
    member: &Member,
    part: &Part,
    signal: i32,
    settings: &TimeoutSettings,
    name: &Bytes,
) {
    if settings.verbose {
        let shown = haft_process::signal_name(signal).unwrap_or_else(|| signal.to_string());
        context.error(format_args!("sending signal {shown} to command '{name}'"));
    }
    if settings.foreground {
        member.signal(signal);
        return;
    }
    for signal in [signal, CONTINUE] {
        if !part.signal(signal) {
            member.signal_group(signal);
        }
    }
}
