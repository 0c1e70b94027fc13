//! `tail`: writes the last part of files, and what is added to them.

mod follow;

use std::collections::VecDeque;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::cat::copy;
use super::portion::{
    CountText, Headers, Portion, QUIET, SILENT, Unit, VERBOSE, ZERO_TERMINATED, expand_old_count,
};
use super::streams::{Stop, TextInput, TextRun, Wording, run_worded};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use follow::Following;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "tail",
    summary: "Write the last 10 lines of each file.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new(
            "bytes",
            ParameterKind::Text,
            "Write the last N bytes; with +N, all from byte N on.",
        )
        .letter('c')
        .with_value_name("[+]N"),
        CommandParameter::new(
            "lines",
            ParameterKind::Text,
            "Write the last N lines; with +N, all from line N on.",
        )
        .letter('n')
        .with_value_name("[+]N"),
        CommandParameter::short_flag("f", 'f', "Go on with what is added to the files."),
        CommandParameter::short_flag("F", 'F', "The same as --follow=name --retry."),
        CommandParameter::new(
            "follow",
            ParameterKind::OptionalText,
            "The same as -f. With 'name', follow the file of that name, also if it is another one.",
        )
        .with_value_name("HOW"),
        CommandParameter::new("retry", ParameterKind::Flag, "Go on if a file cannot be opened."),
        CommandParameter::new(
            "sleep-interval",
            ParameterKind::Text,
            "Look for changes every N seconds (default 0.1).",
        )
        .letter('s')
        .with_value_name("N"),
        QUIET,
        SILENT,
        VERBOSE,
        ZERO_TERMINATED,
    ],
    details: &[
        "With several files, a header with its name precedes each. -N is the same as -n N, and +N the same as -n +N.",
        "N may have a suffix: b (512), kB (1000), K (1024), MB, M, and so on.",
        "-f ends when its output is closed, when it is cancelled, or when there is no file left.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "All lines from the second on",
        script: "printf '%s\\n' a b c | tail -n +2",
        output: "b\nc\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    rewrite: Some(rewrite),
    steps_aside: Some(steps_aside),
    ..text_command(&DESCRIPTOR, run)
};

/// A program that follows a file can be stopped and killed on its own.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    arguments.in_order().any(|(name, _)| matches!(name, "f" | "F" | "follow" | "retry" | "sleep-interval"))
}

/// Replaces a single old option such as `-5`, `+5` or `-20c`.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    if words.len() > 2 {
        return None;
    }
    match words.first()?.strip_prefix(b"+") {
        Some(count) if count.first().is_some_and(u8::is_ascii_digit) => {
            let minus = Bytes::from([b"-".as_slice(), count].concat());
            let mut rewritten = expand_old_count(&[&[minus], &words[1..]].concat())?;
            rewritten[1] = Bytes::from([b"+".as_slice(), &rewritten[1]].concat());
            Some(rewritten)
        }
        _ => expand_old_count(words),
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::Reading, |run| {
        let mut portion = Portion::parse(run, arguments, split)?;
        portion.count = portion.count.saturating_sub(u64::from(portion.from_end));
        let mut following = Following::parse(run, arguments)?;
        if portion.count == 0 && !portion.from_end && following.is_none() {
            return Ok(());
        }
        let mut headers = Headers::new(arguments);
        let standard = [Bytes::from("-")];
        let names = if arguments.operands.is_empty() { &standard } else { arguments.operands.as_slice() };
        for name in names {
            let mut input = run.open(name)?;
            if let Some(input) = &mut input {
                headers.write(run, name)?;
                write_end(run, input, portion)?;
            }
            if let Some(following) = &mut following {
                following.add(name.clone(), input);
            }
        }
        match following {
            Some(following) => following.follow(run, headers),
            None => Ok(()),
        }
    })
}

/// Writes the last part of a file.
fn write_end(run: &mut TextRun<'_, '_>, input: &mut TextInput, portion: Portion) -> Result<(), Stop> {
    match (portion.unit, portion.from_end) {
        (Unit::Bytes, false) => last_bytes(run, input, portion.count)?,
        (Unit::Lines(end), false) => return last_lines(run, input, portion.count, end),
        (unit, true) => {
            skip(run, input, portion.count, unit)?;
            if input.has_failed() && matches!(unit, Unit::Lines(_)) {
                return Ok(());
            }
            copy(run, input)?;
        }
    }
    // GNU's `tail` ends if it cannot copy the rest of a file.
    if input.has_failed() { Err(Stop::Exit(1)) } else { Ok(()) }
}

/// Splits a count: `+N` means all from line or byte N on. As in GNU's `tail`, a `+` also counts for the options after it.
fn split(text: &[u8], from_end: bool) -> CountText<'_> {
    let (from_end, digits) = match text.strip_prefix(b"+") {
        Some(digits) => (true, digits),
        None => (from_end, text.strip_prefix(b"-").unwrap_or(text)),
    };
    CountText { from_end, digits, shown: text }
}

/// Skips bytes or lines at the start.
fn skip(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64, unit: Unit) -> Result<(), Stop> {
    let mut left = count;
    let mut line = Vec::new();
    while left > 0 {
        match unit {
            Unit::Lines(end) => {
                if !input.read_line(run, end, &mut line)? {
                    break;
                }
                left -= 1;
            }
            Unit::Bytes => {
                let available = input.fill(run)?.len();
                if available == 0 {
                    break;
                }
                let length = available.min(usize::try_from(left).unwrap_or(usize::MAX));
                input.consume(length);
                left -= length as u64;
            }
        }
    }
    Ok(())
}

fn last_bytes(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64) -> Result<(), Stop> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    loop {
        let piece = input.fill(run)?;
        let length = piece.len();
        if length == 0 {
            break;
        }
        held.extend_from_slice(piece);
        input.consume(length);
        if held.len() > count.saturating_mul(2) {
            held.drain(..held.len() - count);
        }
    }
    let start = held.len().saturating_sub(count);
    run.write(&held[start..])
}

fn last_lines(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64, end: u8) -> Result<(), Stop> {
    let mut held: VecDeque<Vec<u8>> = VecDeque::new();
    let mut line = Vec::new();
    while input.read_line(run, end, &mut line)? {
        if held.len() as u64 >= count
            && let Some(mut oldest) = held.pop_front()
        {
            // Lines reuse their memory.
            oldest.clear();
            std::mem::swap(&mut oldest, &mut line);
            held.push_back(oldest);
        } else if count > 0 {
            held.push_back(std::mem::take(&mut line));
        }
    }
    held.iter().try_for_each(|line| run.write(line))
}
