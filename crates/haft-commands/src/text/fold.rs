//! `fold`: breaks long lines.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::number::parse_count;
use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "fold",
    summary: "Break lines that are longer than 80 columns.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("bytes", ParameterKind::Flag, "Count bytes instead of columns.").letter('b'),
        CommandParameter::new("spaces", ParameterKind::Flag, "Break at blanks.").letter('s'),
        CommandParameter::new("width", ParameterKind::Text, "Use N columns instead of 80.")
            .letter('w')
            .with_value_name("N"),
    ],
    details: &["-N is the same as -w N."],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Break at blanks",
        script: "echo 'one two three' | fold -s -w 8",
        output: "one two \nthree\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { rewrite: Some(rewrite), ..text_command(&DESCRIPTOR, run) };

/// Replaces words such as `-20` by `-w20`.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let old = |word: &Bytes| word.strip_prefix(b"-").is_some_and(|rest| parse_count(rest).is_some());
    let options = words.iter().take_while(|word| **word != "--").count();
    if !words[..options].iter().any(old) {
        return None;
    }
    let replace = |(index, word): (usize, &Bytes)| match index < options && old(word) {
        true => Bytes::from([b"-w", &word[1..]].concat()),
        false => word.clone(),
    };
    Some(words.iter().enumerate().map(replace).collect())
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let mut width = 80;
        for (name, value) in arguments.in_order() {
            let (ArgumentValue::Text(text), "width") = (value, name) else { continue };
            width = match parse_count(text) {
                Some(0) | None => {
                    let shown = run.quote(text);
                    let range =
                        if parse_count(text).is_some() { ": Numerical result out of range" } else { "" };
                    return run.fail(format_args!("invalid number of columns: {shown}{range}"));
                }
                Some(width) => width,
            };
        }
        run.each_input(&arguments.operands, |run, input| fold(run, input, width, arguments))
    })
}

fn fold(
    run: &mut TextRun<'_, '_>,
    input: &mut TextInput,
    width: u64,
    arguments: &CommandArguments,
) -> Result<(), Stop> {
    let (bytes, spaces) = (arguments.flag("bytes"), arguments.flag("spaces"));
    let (mut line, mut part) = (Vec::new(), Vec::new());
    while input.read_line(run, b'\n', &mut line)? {
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        part.clear();
        let mut column = 0;
        for &byte in content {
            let mut next = advance(column, byte, bytes);
            while next > width && !part.is_empty() {
                let blank = part.iter().rposition(|byte| matches!(byte, b' ' | b'\t')).filter(|_| spaces);
                let rest = blank.map_or_else(Vec::new, |at| part.split_off(at + 1));
                part.push(b'\n');
                run.write(&part)?;
                column = rest.iter().fold(0, |column, byte| advance(column, *byte, bytes));
                part = rest;
                next = advance(column, byte, bytes);
                if blank.is_none() {
                    break;
                }
            }
            part.push(byte);
            column = next;
        }
        if content.len() < line.len() {
            part.push(b'\n');
        }
        run.write(&part)?;
    }
    Ok(())
}

/// The column after a byte.
fn advance(column: u64, byte: u8, bytes: bool) -> u64 {
    match byte {
        _ if bytes => column + 1,
        b'\x08' => column.saturating_sub(1),
        b'\r' => 0,
        b'\t' => column + 8 - column % 8,
        _ => column + 1,
    }
}
