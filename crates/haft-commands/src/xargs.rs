//! `xargs`.

use std::collections::VecDeque;
use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::jobs::Member;
use haft_kernel::{Bytes, Flow, Session, Unwind};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "xargs",
    summary: "Runs a command of haft or a tool with arguments from its input; everything else is GNU's `xargs`.",
    style: ArgumentStyle::Gnu(&["[COMMAND", "[ARGUMENT]...]"]),
    parameters: &[
        CommandParameter::new(
            "null",
            ParameterKind::Flag,
            "ItemReader end with a NUL byte; nothing in them is special.",
        )
        .letter('0'),
        CommandParameter::new(
            "delimiter",
            ParameterKind::Text,
            "ItemReader end with this character; nothing in them is special.",
        )
        .letter('d'),
        CommandParameter::new("max-args", ParameterKind::Integer(1), "So many items at most for each run.")
            .letter('n'),
        CommandParameter::new(
            "max-lines",
            ParameterKind::Integer(1),
            "The items of so many lines at most for each run.",
        )
        .letter('L'),
        CommandParameter::new(
            "replace",
            ParameterKind::Text,
            "Each line is an item, put in the place of this text.",
        )
        .letter('I'),
        CommandParameter::new(
            "max-procs",
            ParameterKind::Integer(0),
            "So many runs at once; 0 is as many as there are.",
        )
        .letter('P'),
        CommandParameter::new("no-run-if-empty", ParameterKind::Flag, "Runs nothing if there are no items.")
            .letter('r'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Shows each run on standard error first.")
            .letter('t'),
    ],
    details: &[
        "A program, and an option that is not listed here, is left to the machine's own `xargs`, if there is one. As there, COMMAND is neither a \
         function nor a builtin, and its input is empty.",
    ],
    statuses: &[
        ("0", "all runs succeeded"),
        ("123", "a run ended with 1–125"),
        ("124", "a run ended with 255; it was the last"),
        ("125", "a signal ended a run; it was the last"),
        ("126", "COMMAND cannot be run"),
        ("127", "there is no such COMMAND"),
        ("1", "something else went wrong"),
    ],
    examples: &[
        Example {
            summary: "one run for each line",
            script: "printf '%s\\n' 'a b' c | xargs -I{} spawn command=echo argv='<{}>'",
            output: "<a b>\n<c>\n",
            status: 0,
        },
        Example {
            summary: "the items of one line for each run",
            script: "printf '%s\\n' 'a 1' 'b 2' | xargs -L1 timeout 20 echo",
            output: "a 1\nb 2\n",
            status: 0,
        },
        Example {
            summary: "a failure is told at the end",
            script: "echo 0 3 0 | xargs -n1 timeout 20 spawn command=false",
            output: "",
            status: 123,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage: 1,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// GNU's own runs what is not in this process, and reads what it alone understands.
fn steps_aside(session: &mut Session, arguments: &CommandArguments, operands: &[Bytes]) -> bool {
    let odd = arguments.text("delimiter").is_some_and(|text| delimiter(text).is_none());
    let ways = [
        arguments.text("replace").is_some(),
        arguments.number("max-args").is_some(),
        arguments.number("max-lines").is_some(),
    ];
    let split = arguments.flag("null") || arguments.text("delimiter").is_some();
    let mixed = ways.iter().filter(|way| **way).count() > 1 || ways[2] && split;
    odd || mixed || !session.runs_here(operands)
}

/// The byte that a delimiter means.
fn delimiter(text: &[u8]) -> Option<u8> {
    match text {
        [byte] => Some(*byte),
        b"\\n" => Some(b'\n'),
        b"\\t" => Some(b'\t'),
        b"\\0" => Some(0),
        b"\\\\" => Some(b'\\'),
        _ => None,
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let command = &words[arguments.options..];
    let Some(delimiter) = arguments.text("delimiter").map_or(Some(None), |text| delimiter(text).map(Some))
    else {
        context.error("the delimiter must be one character");
        return Ok(1);
    };
    let delimiter = if arguments.flag("null") { Some(0) } else { delimiter };
    let input = match read(context)? {
        Ok(input) => input,
        Err(error) => {
            context.error(format_args!("cannot read: {}", haft_fs::message(&error)));
            return Ok(1);
        }
    };
    let replace = arguments.text("replace");
    let items = match (delimiter, replace.is_some()) {
        (Some(delimiter), _) => Ok(delimited(&input, delimiter)),
        (None, by_line) => quoted(&input, by_line),
    };
    let items = match items {
        Ok(items) => items,
        Err(message) => {
            context.error(message);
            return Ok(1);
        }
    };
    let echo = [Bytes::from("echo")];
    let command = if command.is_empty() { &echo } else { command };
    let runs = match arguments.number("max-lines").and_then(|most| usize::try_from(most).ok()) {
        Some(most) if !items.is_empty() => line_runs(command, &input, most),
        _ => runs(command, &items, replace, arguments),
    };
    let limit = match arguments.number("max-procs") {
        None => 1,
        Some(0) => usize::MAX,
        Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    run_all(context, &runs, limit, arguments.flag("verbose"))
}

/// All of standard input.
fn read(context: &mut Context<'_>) -> Result<io::Result<Vec<u8>>, Unwind> {
    let mut input = Vec::new();
    let Some(file) = context.file(0) else { return Ok(Ok(input)) };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer, None, context.session.cancel_token()) {
            Ok(0) => return Ok(Ok(input)),
            Ok(length) => input.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => context.check()?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

fn delimited(input: &[u8], delimiter: u8) -> Vec<Bytes> {
    let input = input.strip_suffix(&[delimiter]).unwrap_or(input);
    if input.is_empty() {
        return Vec::new();
    }
    input.split(|byte| *byte == delimiter).map(Bytes::from).collect()
}

/// Items between blanks, or lines, in which quotes and backslashes protect.
fn quoted(input: &[u8], by_line: bool) -> Result<Vec<Bytes>, String> {
    let mut items = Vec::new();
    let mut item: Option<Vec<u8>> = None;
    let mut bytes = input.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => items.extend(item.take().map(Bytes::from)),
            b' ' | b'\t' if item.is_none() => {}
            b' ' | b'\t' if !by_line => items.extend(item.take().map(Bytes::from)),
            b'\'' | b'"' => {
                let text = item.get_or_insert_default();
                let kind = if byte == b'"' { "double" } else { "single" };
                loop {
                    match bytes.next() {
                        Some(end) if end == byte => break,
                        Some(b'\n') | None => return Err(format!("unmatched {kind} quote")),
                        Some(inner) => text.push(inner),
                    }
                }
            }
            b'\\' => item.get_or_insert_default().extend(bytes.next()),
            other => item.get_or_insert_default().push(other),
        }
    }
    items.extend(item.map(Bytes::from));
    Ok(items)
}

/// The words of each run.
fn runs(
    command: &[Bytes],
    items: &[Bytes],
    replace: Option<&Bytes>,
    arguments: &CommandArguments,
) -> Vec<Vec<Bytes>> {
    if let Some(place) = replace {
        let fill = |item: &Bytes| command.iter().map(|word| replaced(word, place, item)).collect();
        return items.iter().map(fill).collect();
    }
    if items.is_empty() {
        return if arguments.flag("no-run-if-empty") { Vec::new() } else { vec![command.to_vec()] };
    }
    let most = arguments.number("max-args").and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    items.chunks(most.min(items.len())).map(|items| [command, items].concat()).collect()
}

/// The words of each run, with the items of so many lines. A line that ends in a blank goes on with the next; an empty one is
/// none.
fn line_runs(command: &[Bytes], input: &[u8], most: usize) -> Vec<Vec<Bytes>> {
    let mut runs: Vec<Vec<Bytes>> = Vec::new();
    let (mut lines, mut goes_on) = (0, false);
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let items = quoted(line, false).unwrap_or_default();
        lines += usize::from(!goes_on);
        match runs.last_mut().filter(|_| goes_on || lines <= most) {
            Some(run) => run.extend(items),
            None => {
                lines = 1;
                runs.push([command, &items].concat());
            }
        }
        goes_on = line.ends_with(b" ") || line.ends_with(b"\t");
    }
    runs
}

fn replaced(word: &Bytes, place: &Bytes, item: &Bytes) -> Bytes {
    let mut made = Vec::new();
    let mut rest: &[u8] = word;
    while let Some(at) = memchr::memmem::find(rest, place).filter(|_| !place.is_empty()) {
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(item);
        rest = &rest[at + place.len()..];
    }
    made.extend_from_slice(rest);
    made.into()
}

/// Runs them, so many at once, and says how it went.
fn run_all(context: &mut Context<'_>, runs: &[Vec<Bytes>], limit: usize, verbose: bool) -> Flow {
    let mut running: VecDeque<Member> = VecDeque::new();
    let mut result = 0;
    for words in runs {
        if verbose {
            let shown: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
            let _ = context.session.write(2, &[shown.join(b" ".as_slice()), b"\n".to_vec()].concat());
        }
        let mut child = context.session.fork();
        child.close_input();
        if limit == 1 {
            let status = context.run_apart(child, words)?;
            match judge(context, &words[0], status) {
                Verdict::Stop(status) => return Ok(status),
                Verdict::Failed => result = 123,
                Verdict::Fine => {}
            }
            continue;
        }
        running.push_back(context.start_apart(child, words));
        if running.len() >= limit {
            result = first_ended(context, &mut running, result, &words[0])?;
        }
        if result >= 124 {
            break;
        }
    }
    while !running.is_empty() {
        let name = &runs[0][0];
        result = first_ended(context, &mut running, result, name)?.max(result);
    }
    Ok(result)
}

/// Waits for the oldest, and yields the status so far.
fn first_ended(
    context: &mut Context<'_>,
    running: &mut VecDeque<Member>,
    result: i32,
    name: &Bytes,
) -> Result<i32, Unwind> {
    let Some(mut member) = running.pop_front() else { return Ok(result) };
    let status = context.session.wait_member_until(&mut member, None);
    let status = match status {
        Ok(status) => status.unwrap_or(127),
        Err(unwind) => {
            running.iter().chain([&member]).for_each(|member| member.signal(15));
            return Err(unwind);
        }
    };
    Ok(match judge(context, name, status) {
        Verdict::Stop(status) => status.max(result),
        Verdict::Failed => result.max(123),
        Verdict::Fine => result,
    })
}

enum Verdict {
    Fine,
    Failed,
    Stop(i32),
}

fn judge(context: &mut Context<'_>, name: &Bytes, status: i32) -> Verdict {
    match status {
        0 => Verdict::Fine,
        126 | 127 => Verdict::Stop(status),
        255 => {
            context.error(format_args!("{name}: exited with status 255; aborting"));
            Verdict::Stop(124)
        }
        129.. => {
            context.error(format_args!("{name}: terminated by signal {}", status - 128));
            Verdict::Stop(125)
        }
        _ => Verdict::Failed,
    }
}
