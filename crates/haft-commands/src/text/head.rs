//! `head`: writes the first part of files.

use std::collections::VecDeque;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::portion::{
    CountText, Headers, Portion, QUIET, SILENT, Unit, VERBOSE, ZERO_TERMINATED, expand_old_count,
};
use super::streams::{Stop, TextInput, TextRun, Wording, run_worded};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "head",
    summary: "Write the first 10 lines of each file.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new(
            "bytes",
            ParameterKind::Text,
            "Write the first N bytes; with -N, all but the last N.",
        )
        .letter('c')
        .with_value_name("[-]N"),
        CommandParameter::new(
            "lines",
            ParameterKind::Text,
            "Write the first N lines; with -N, all but the last N.",
        )
        .letter('n')
        .with_value_name("[-]N"),
        QUIET,
        SILENT,
        VERBOSE,
        ZERO_TERMINATED,
    ],
    details: &[
        "With several files, a header with its name precedes each. -N is the same as -n N.",
        "N may have a suffix: b (512), kB (1000), K (1024), MB, M, and so on.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "The first two lines",
        script: "printf '%s\\n' a b c | head -n 2",
        output: "a\nb\n",
        status: 0,
    }],
};

/// How much is read at once, as by GNU's `head`. It leaves the rest of a pipe to the next reader.
const BLOCK_BYTES: usize = 8192;

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { rewrite: Some(expand_old_count), ..text_command(&DESCRIPTOR, run) };

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::Reading, |run| {
        let portion = Portion::parse(run, arguments, split)?;
        let mut headers = Headers::new(arguments);
        run.each_input(&arguments.operands, |run, input| {
            headers.write(run, &input.name)?;
            match (portion.unit, portion.from_end) {
                (Unit::Bytes, false) => first_bytes(run, input, portion.count),
                (Unit::Bytes, true) => all_but_last_bytes(run, input, portion.count),
                (Unit::Lines(end), false) => first_lines(run, input, portion.count, end),
                (Unit::Lines(end), true) => all_but_last_lines(run, input, portion.count, end),
            }
        })
    })
}

/// Splits a count: `-N` means all but the last N.
fn split(text: &[u8], _: bool) -> CountText<'_> {
    let (from_end, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix(b"+").unwrap_or(text)),
    };
    CountText { from_end, digits, shown: digits }
}

fn first_bytes(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64) -> Result<(), Stop> {
    let mut left = count;
    while left > 0 {
        input.set_read_size(usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK_BYTES));
        let piece = input.fill(run)?;
        if piece.is_empty() {
            break;
        }
        let length = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let piece = piece[..length].to_vec();
        run.write(&piece)?;
        input.consume(length);
        left -= length as u64;
    }
    input.give_back();
    Ok(())
}

fn first_lines(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64, end: u8) -> Result<(), Stop> {
    input.set_read_size(BLOCK_BYTES);
    let mut line = Vec::new();
    for _ in 0..count {
        if !input.read_line(run, end, &mut line)? {
            break;
        }
        run.write(&line)?;
    }
    input.give_back();
    Ok(())
}

fn all_but_last_bytes(run: &mut TextRun<'_, '_>, input: &mut TextInput, count: u64) -> Result<(), Stop> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    loop {
        let piece = input.fill(run)?;
        let length = piece.len();
        if length == 0 {
            return Ok(());
        }
        held.extend_from_slice(piece);
        input.consume(length);
        if held.len() > count {
            let rest = held.split_off(held.len() - count);
            run.write(&std::mem::replace(&mut held, rest))?;
        }
    }
}

fn all_but_last_lines(
    run: &mut TextRun<'_, '_>,
    input: &mut TextInput,
    count: u64,
    end: u8,
) -> Result<(), Stop> {
    let mut held: VecDeque<Vec<u8>> = VecDeque::new();
    let mut line = Vec::new();
    while input.read_line(run, end, &mut line)? {
        held.push_back(line.clone());
        if held.len() as u64 > count
            && let Some(oldest) = held.pop_front()
        {
            run.write(&oldest)?;
        }
    }
    Ok(())
}
