//! `xargs`: runs a command with arguments from standard input.

mod invocations;

use std::collections::VecDeque;
use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::jobs::Member;
use haft_kernel::{Bytes, Flow, Session, Unwind};
use haft_process::Signals;

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::status::{CANNOT_EXECUTE, ITEM_FAILED, NOT_FOUND, SIGNAL_BASE, XARGS_ABORTED, XARGS_KILLED};
use invocations::{Invocation, group_items, group_lines, split_delimited, split_quoted};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "xargs",
    summary: "Run a haft command or a tool with arguments from standard input. For programs, GNU `xargs` runs instead.",
    style: ArgumentStyle::Gnu(&["[COMMAND", "[ARGUMENT]...]"]),
    parameters: &[
        CommandParameter::new(
            "null",
            ParameterKind::Flag,
            "Items end with a NUL byte. Quotes and backslashes are not special.",
        )
        .letter('0'),
        CommandParameter::new(
            "delimiter",
            ParameterKind::Text,
            "Items end with this character. Quotes and backslashes are not special.",
        )
        .letter('d')
        .with_value_name("CHARACTER"),
        CommandParameter::new("max-args", ParameterKind::Integer(1), "Pass at most N items per invocation.")
            .letter('n'),
        CommandParameter::new(
            "max-lines",
            ParameterKind::Integer(1),
            "Pass the items of at most N lines per invocation.",
        )
        .letter('L'),
        CommandParameter::new(
            "replace",
            ParameterKind::Text,
            "Run COMMAND once per line, and replace this text in its arguments by the line.",
        )
        .letter('I'),
        CommandParameter::new(
            "max-procs",
            ParameterKind::Integer(0),
            "Run up to N invocations in parallel. 0 means no limit.",
        )
        .letter('P'),
        CommandParameter::new("no-run-if-empty", ParameterKind::Flag, "Run nothing if there are no items.")
            .letter('r'),
        CommandParameter::new(
            "verbose",
            ParameterKind::Flag,
            "Print each command line on standard error before it runs.",
        )
        .letter('t'),
    ],
    details: &[
        "If COMMAND is a program, or an option is not listed here, the machine's own `xargs` runs. As in GNU `xargs`, COMMAND \
         is never a function or a builtin, and its standard input is empty.",
    ],
    statuses: &[
        ("0", "all invocations succeeded"),
        ("1", "another error occurred"),
        ("123", "an invocation exited with status 1–125"),
        ("124", "an invocation exited with status 255; no further ones were started"),
        ("125", "a signal killed an invocation; no further ones were started"),
        ("126", "COMMAND cannot be run"),
        ("127", "COMMAND was not found"),
    ],
    examples: &[
        Example {
            summary: "Run once per line",
            script: "printf '%s\\n' 'a b' c | xargs -I{} spawn command=echo argv='<{}>'",
            output: "<a b>\n<c>\n",
            status: 0,
        },
        Example {
            summary: "Pass the words of one line to each invocation",
            script: "printf '%s\\n' 'a 1' 'b 2' | xargs -L1 timeout 20 echo",
            output: "a 1\nb 2\n",
            status: 0,
        },
        Example {
            summary: "Report a failure in the exit status",
            script: "echo 0 3 0 | xargs -n1 timeout 20 spawn command=false",
            output: "",
            status: 123,
        },
    ],
};

/// The exit status for wrong usage and unreadable input.
const XARGS_FAILED: i32 = 1;
/// The exit status with which an invocation stops `xargs`.
const STOP_STATUS: i32 = 255;
const READ_CHUNK_BYTES: usize = 64 * 1024;

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: XARGS_FAILED,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// GNU's `xargs` runs programs, and combinations of options that this one does not implement.
fn steps_aside(session: &mut Session, arguments: &CommandArguments, operands: &[Bytes]) -> bool {
    let long_delimiter = arguments.text("delimiter").is_some_and(|text| parse_delimiter(text).is_none());
    let by_line = arguments.number("max-lines").is_some();
    let groupings = [arguments.text("replace").is_some(), arguments.number("max-args").is_some(), by_line];
    let delimited = arguments.flag("null") || arguments.text("delimiter").is_some();
    let combined = groupings.iter().filter(|grouping| **grouping).count() > 1 || by_line && delimited;
    long_delimiter || combined || !session.runs_in_process(operands)
}

/// A single byte or one of the escapes `\n`, `\t`, `\0` and `\\`.
fn parse_delimiter(text: &[u8]) -> Option<u8> {
    match text {
        [byte] => Some(*byte),
        b"\\n" => Some(b'\n'),
        b"\\t" => Some(b'\t'),
        b"\\0" => Some(0),
        b"\\\\" => Some(b'\\'),
        _ => None,
    }
}

/// The byte that separates items, or `None` if blanks and newlines do.
fn delimiter(arguments: &CommandArguments) -> Result<Option<u8>, &'static str> {
    let delimiter = match arguments.text("delimiter") {
        Some(text) => Some(parse_delimiter(text).ok_or("the delimiter must be a single character")?),
        None => None,
    };
    Ok(if arguments.flag("null") { Some(0) } else { delimiter })
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let delimiter = match delimiter(arguments) {
        Ok(delimiter) => delimiter,
        Err(message) => {
            context.error(message);
            return Ok(XARGS_FAILED);
        }
    };
    let input = match read_input(context)? {
        Ok(input) => input,
        Err(error) => {
            context.error(format_args!("cannot read standard input: {}", haft_fs::message(&error)));
            return Ok(XARGS_FAILED);
        }
    };
    let invocations = match plan_invocations(arguments, delimiter, &words[arguments.option_words..], &input) {
        Ok(invocations) => invocations,
        Err(message) => {
            context.error(message);
            return Ok(XARGS_FAILED);
        }
    };
    let limit = match arguments.number("max-procs") {
        None => 1,
        Some(0) => usize::MAX,
        Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    run_all(context, &invocations, limit, arguments.flag("verbose"))
}

/// Reads standard input to its end.
fn read_input(context: &mut Context<'_>) -> Result<io::Result<Vec<u8>>, Unwind> {
    let mut input = Vec::new();
    let Some(file) = context.file(0) else { return Ok(Ok(input)) };
    let mut buffer = vec![0; READ_CHUNK_BYTES];
    loop {
        match file.read(&mut buffer, None, context.cancel_token()) {
            Ok(0) => return Ok(Ok(input)),
            Ok(length) => input.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => context.check()?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Turns the input into invocations of `command`, or of `echo` if that is empty.
fn plan_invocations(
    arguments: &CommandArguments,
    delimiter: Option<u8>,
    command: &[Bytes],
    input: &[u8],
) -> Result<Vec<Invocation>, String> {
    let items = match delimiter {
        Some(delimiter) => split_delimited(input, delimiter),
        None => split_quoted(input, arguments.text("replace").is_some())?,
    };
    let echo = [Bytes::from("echo")];
    let command = if command.is_empty() { &echo } else { command };
    Ok(match arguments.number("max-lines").and_then(|max| usize::try_from(max).ok()) {
        Some(max_lines) if !items.is_empty() => group_lines(command, input, max_lines),
        _ => group_items(command, &items, arguments),
    })
}

/// Runs all invocations, up to `limit` in parallel, and returns the exit status of `xargs`.
fn run_all(context: &mut Context<'_>, invocations: &[Invocation], limit: usize, verbose: bool) -> Flow {
    let mut running: VecDeque<Member> = VecDeque::new();
    let mut result = 0;
    for words in invocations {
        if verbose {
            let shown: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
            context.print_error(&[shown.join(b" ".as_slice()), b"\n".to_vec()].concat());
        }
        let mut child = context.session_mut().fork();
        child.close_input();
        if limit == 1 {
            let status = context.run_in_subshell(child, words)?;
            match judge(context, &words[0], status) {
                XargsVerdict::Stop(status) => return Ok(status),
                XargsVerdict::Failed => result = ITEM_FAILED,
                XargsVerdict::Succeeded => {}
            }
            continue;
        }
        running.push_back(context.start_in_subshell(child, words));
        if running.len() >= limit {
            result = wait_for_oldest(context, &mut running, result, &words[0])?;
        }
        if result > ITEM_FAILED {
            break;
        }
    }
    while !running.is_empty() {
        let name = &invocations[0][0];
        result = wait_for_oldest(context, &mut running, result, name)?.max(result);
    }
    Ok(result)
}

/// Waits for the oldest invocation and returns the exit status so far.
fn wait_for_oldest(
    context: &mut Context<'_>,
    running: &mut VecDeque<Member>,
    result: i32,
    name: &Bytes,
) -> Result<i32, Unwind> {
    let Some(mut member) = running.pop_front() else { return Ok(result) };
    let status = match context.session_mut().wait_member_until(&mut member, None) {
        Ok(status) => status.unwrap_or(NOT_FOUND),
        Err(unwind) => {
            running.iter().chain([&member]).for_each(|member| member.signal(Signals::TERM));
            return Err(unwind);
        }
    };
    Ok(match judge(context, name, status) {
        XargsVerdict::Stop(status) => status.max(result),
        XargsVerdict::Failed => result.max(ITEM_FAILED),
        XargsVerdict::Succeeded => result,
    })
}

/// The effect of an invocation's exit status on `xargs`.
enum XargsVerdict {
    Succeeded,
    /// The remaining invocations run.
    Failed,
    /// No further invocation starts; `xargs` exits with this status.
    Stop(i32),
}

fn judge(context: &mut Context<'_>, name: &Bytes, status: i32) -> XargsVerdict {
    match status {
        0 => XargsVerdict::Succeeded,
        CANNOT_EXECUTE | NOT_FOUND => XargsVerdict::Stop(status),
        STOP_STATUS => {
            context.error(format_args!("{name}: exited with status {STOP_STATUS}; aborting"));
            XargsVerdict::Stop(XARGS_ABORTED)
        }
        _ if status > SIGNAL_BASE => {
            context.error(format_args!("{name}: terminated by signal {}", status - SIGNAL_BASE));
            XargsVerdict::Stop(XARGS_KILLED)
        }
        _ => XargsVerdict::Failed,
    }
}
