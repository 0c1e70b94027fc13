//! `cut`: writes parts of each line.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::ranges::{ListKind, Ranges, parse_ranges};
use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "cut",
    summary: "Write parts of each line.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        list("bytes", 'b', "Write these bytes."),
        list("characters", 'c', "Write these characters, which are bytes."),
        CommandParameter::new(
            "delimiter",
            ParameterKind::Text,
            "Fields are separated by TEXT instead of a tab.",
        )
        .letter('d'),
        list("fields", 'f', "Write these fields, and lines without a delimiter."),
        CommandParameter::short_flag("n", 'n', "Has no effect."),
        CommandParameter::new("complement", ParameterKind::Flag, "Write everything else."),
        CommandParameter::new("only-delimited", ParameterKind::Flag, "Leave out lines without a delimiter.")
            .letter('s'),
        CommandParameter::new("output-delimiter", ParameterKind::Text, "Separate the parts with TEXT."),
        CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.")
            .letter('z'),
    ],
    details: &[
        "LIST is one or more of N, N-M, N- and -M, separated by commas. Parts are written in their order in the line.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "The first and third field",
        script: "echo a:b:c | cut -d : -f 1,3",
        output: "a:c\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    // A delimiter that ends lines makes fields of lines.
    steps_aside: Some(|_, arguments, _| {
        arguments.text("delimiter").is_some_and(|delimiter| matches!(&**delimiter, b"\n" | b""))
    }),
    ..text_command(&DESCRIPTOR, run)
};

const fn list(name: &'static str, letter: char, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).letter(letter).with_value_name("LIST")
}

/// The parts of each line that are written.
struct Selection<'a> {
    ranges: Ranges,
    /// The delimiter of fields. `None` if bytes are selected.
    delimiter: Option<u8>,
    output_delimiter: Option<&'a [u8]>,
    only_delimited: bool,
    end: u8,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let selection = selection(run, arguments)?;
        if selection.delimiter == Some(selection.end) {
            return run.fail("a delimiter that ends lines is not supported");
        }
        run.each_input(&arguments.operands, |run, input| {
            let mut line = Vec::new();
            let mut text = Vec::new();
            while let Some(found) = input.next_line(run, selection.end, &mut line)? {
                let content = found.strip_suffix(&[selection.end]).unwrap_or(found);
                text.clear();
                let is_written = match selection.delimiter {
                    None => selection.push_bytes(content, &mut text),
                    Some(delimiter) => selection.push_fields(content, delimiter, &mut text),
                };
                if is_written {
                    text.push(selection.end);
                    run.write(&text)?;
                }
            }
            Ok(())
        })
    })
}

fn selection<'a>(run: &mut TextRun<'_, '_>, arguments: &'a CommandArguments) -> Result<Selection<'a>, Stop> {
    let mut list: Option<(ListKind, &Bytes)> = None;
    let mut delimiter = None;
    for (name, value) in arguments.in_order() {
        let ArgumentValue::Text(text) = value else { continue };
        let kind = match name {
            "bytes" | "characters" => ListKind::Bytes,
            "fields" => ListKind::Fields,
            "delimiter" => {
                delimiter = match text.as_ref() {
                    [] => Some(0),
                    [byte] => Some(*byte),
                    _ => return run.usage("the delimiter must be a single character"),
                };
                continue;
            }
            _ => continue,
        };
        if list.replace((kind, text)).is_some() {
            return run.usage("only one list may be specified");
        }
    }
    let Some((kind, list)) = list else {
        return run.usage("you must specify a list of bytes, characters, or fields");
    };
    let only_delimited = arguments.flag("only-delimited");
    if kind == ListKind::Bytes && delimiter.is_some() {
        return run.usage("an input delimiter may be specified only when operating on fields");
    }
    if kind == ListKind::Bytes && only_delimited {
        return run.usage("suppressing non-delimited lines makes sense\n\tonly when operating on fields");
    }
    let ranges = match parse_ranges(list, kind) {
        Ok(ranges) => ranges,
        Err(problem) => {
            let message = problem.message(run);
            return run.usage(message);
        }
    };
    Ok(Selection {
        ranges: if arguments.flag("complement") { ranges.complement() } else { ranges },
        delimiter: (kind == ListKind::Fields).then(|| delimiter.unwrap_or(b'\t')),
        output_delimiter: arguments.text("output-delimiter").map(|text| &**text),
        only_delimited,
        end: if arguments.flag("zero-terminated") { 0 } else { b'\n' },
    })
}

impl Selection<'_> {
    fn push_bytes(&self, line: &[u8], text: &mut Vec<u8>) -> bool {
        let mut first = true;
        for range in self.ranges.within(line.len()) {
            if !first {
                text.extend_from_slice(self.output_delimiter.unwrap_or_default());
            }
            first = false;
            text.extend_from_slice(&line[range]);
        }
        true
    }

    /// Appends the fields. Returns whether the line is written at all.
    fn push_fields(&self, line: &[u8], delimiter: u8, text: &mut Vec<u8>) -> bool {
        let mut delimiters = memchr::memchr_iter(delimiter, line).peekable();
        if delimiters.peek().is_none() {
            text.extend_from_slice(line);
            return !self.only_delimited;
        }
        let own = [delimiter];
        let separator = self.output_delimiter.unwrap_or(&own);
        let (mut first, mut start, last) = (true, 0, self.ranges.end());
        for (number, end) in (1..=last).zip(delimiters.chain(std::iter::once(line.len()))) {
            if self.ranges.contains(number) {
                if !first {
                    text.extend_from_slice(separator);
                }
                first = false;
                text.extend_from_slice(&line[start..end]);
            }
            start = end + 1;
        }
        true
    }
}
