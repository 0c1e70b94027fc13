//! `nl`: numbers lines.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};
use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};

use super::number::{IntegerError, parse_integer};
use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind, option};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "nl",
    summary: "Number the lines of files.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        option("body-numbering", 'b', "STYLE", "Which lines of a body are numbered (default t)."),
        option("section-delimiter", 'd', "CC", "Sections start with lines of CC (default \\:)."),
        option("footer-numbering", 'f', "STYLE", "Which lines of a footer are numbered (default n)."),
        option("header-numbering", 'h', "STYLE", "Which lines of a header are numbered (default n)."),
        option("line-increment", 'i', "N", "Add N to the number after each line (default 1)."),
        option("join-blank-lines", 'l', "N", "Count N empty lines as one (default 1)."),
        option("number-format", 'n', "FORMAT", "Write numbers as ln, rn or rz (default rn)."),
        CommandParameter::new("no-renumber", ParameterKind::Flag, "Do not start again in each section.")
            .letter('p'),
        option("number-separator", 's', "TEXT", "Write TEXT after each number (default a tab)."),
        option("starting-line-number", 'v', "N", "The first number (default 1)."),
        option("number-width", 'w', "N", "The width of numbers (default 6)."),
    ],
    details: &[
        "STYLE is a (all lines), t (lines that are not empty), n (none) or pREGEX (lines that match).",
        "FORMAT is ln (left), rn (right) or rz (right, with zeros).",
        "A line with CC three times starts a header, twice a body, once a footer.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Number all lines",
        script: "printf '%s\\n' a '' b | nl -b a -w 2 -s ': '",
        output: " 1: a\n 2: \n 3: b\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..text_command(&DESCRIPTOR, run) };

/// The program knows more about regular expressions.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let is_regex =
        |value: &ArgumentValue| matches!(value, ArgumentValue::Text(text) if text.starts_with(b"p"));
    arguments.in_order().any(|(name, value)| name.ends_with("-numbering") && is_regex(value))
}

/// Which lines of a section are numbered.
enum NumberedLines {
    All,
    NotEmpty,
    None,
    Matching(Box<GnuRegex>),
}

#[derive(Clone, Copy)]
enum NumberFormat {
    Left,
    Right,
    Zeros,
}

/// The options.
struct NumberOptions {
    /// The styles of header, body and footer.
    styles: [NumberedLines; 3],
    delimiter: Vec<u8>,
    increment: i64,
    joined: i64,
    format: NumberFormat,
    renumber: bool,
    separator: Bytes,
    first: i64,
    width: usize,
}

/// The state that goes on from one file to the next.
struct NumberPosition {
    /// `None` after the largest number.
    number: Option<i64>,
    empty_lines: i64,
    section: usize,
}

/// The index of the body among the sections.
const BODY: usize = 1;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let options = options(run, arguments)?;
        let mut position = NumberPosition { number: Some(options.first), empty_lines: 0, section: BODY };
        run.each_input(&arguments.operands, |run, input| number_lines(run, input, &options, &mut position))
    })
}

fn options(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<NumberOptions, Stop> {
    let mut options = NumberOptions {
        styles: [NumberedLines::None, NumberedLines::NotEmpty, NumberedLines::None],
        delimiter: b"\\:".to_vec(),
        increment: 1,
        joined: 1,
        format: NumberFormat::Right,
        renumber: !arguments.flag("no-renumber"),
        separator: Bytes::from("\t"),
        first: 1,
        width: 6,
    };
    let mut is_valid = true;
    for (name, value) in arguments.in_order() {
        let ArgumentValue::Text(value) = value else { continue };
        match name {
            "header-numbering" => is_valid &= set_style(run, value, &mut options.styles[0], "header")?,
            "body-numbering" => is_valid &= set_style(run, value, &mut options.styles[BODY], "body")?,
            "footer-numbering" => is_valid &= set_style(run, value, &mut options.styles[2], "footer")?,
            "section-delimiter" => match value.len() {
                1 if !options.delimiter.is_empty() => options.delimiter[0] = value[0],
                2 if options.delimiter.len() >= 2 => options.delimiter[..2].copy_from_slice(value),
                _ => options.delimiter = value.to_vec(),
            },
            "line-increment" => {
                options.increment = integer(run, value, i64::MIN..=i64::MAX, "line number increment")?;
            }
            "join-blank-lines" => {
                options.joined = integer(run, value, 1..=i64::MAX, "line number of blank lines")?;
            }
            "number-format" => is_valid &= set_format(run, value, &mut options.format),
            "number-separator" => options.separator = value.clone(),
            "starting-line-number" => {
                options.first = integer(run, value, i64::MIN..=i64::MAX, "starting line number")?;
            }
            "number-width" => {
                let width = integer(run, value, 1..=i64::from(i32::MAX), "line number field width")?;
                options.width = usize::try_from(width).unwrap_or(usize::MAX);
            }
            _ => {}
        }
    }
    if is_valid {
        return Ok(options);
    }
    run.context.print_error(b"Try 'nl --help' for more information.\n");
    run.context.flush();
    Err(Stop::Exit(1))
}

/// Sets the style of a section. Returns `false` after a message if it is invalid.
fn set_style(
    run: &mut TextRun<'_, '_>,
    value: &[u8],
    style: &mut NumberedLines,
    section: &str,
) -> Result<bool, Stop> {
    *style = match value.first() {
        Some(b'a') => NumberedLines::All,
        Some(b't') => NumberedLines::NotEmpty,
        Some(b'n') => NumberedLines::None,
        Some(b'p') => {
            let options = GnuRegexOptions::new(GnuSyntax::GrepBasic, run.context.session().encoding());
            match GnuRegex::new(&value[1..], options) {
                Ok(regex) => NumberedLines::Matching(Box::new(regex)),
                Err(error) => return run.fail(error),
            }
        }
        _ => {
            let shown = run.quote(value);
            run.complain(format_args!("invalid {section} numbering style: {shown}"));
            return Ok(false);
        }
    };
    Ok(true)
}

fn set_format(run: &mut TextRun<'_, '_>, value: &[u8], format: &mut NumberFormat) -> bool {
    *format = match value {
        b"ln" => NumberFormat::Left,
        b"rn" => NumberFormat::Right,
        b"rz" => NumberFormat::Zeros,
        _ => {
            let shown = run.quote(value);
            run.complain(format_args!("invalid line numbering format: {shown}"));
            return false;
        }
    };
    true
}

/// Parses a number in a range.
fn integer(
    run: &mut TextRun<'_, '_>,
    value: &[u8],
    range: std::ops::RangeInclusive<i64>,
    what: &str,
) -> Result<i64, Stop> {
    let shown = run.quote(value);
    let is_large = |number: i64| number > i64::from(i32::MAX / 2) || number < i64::from(i32::MIN / 2);
    let reason = match parse_integer(value) {
        Ok(number) if range.contains(&number) => return Ok(number),
        Ok(number) if is_large(number) => ": Value too large for defined data type",
        Ok(_) => ": Numerical result out of range",
        Err(IntegerError::TooLarge) => ": Value too large for defined data type",
        Err(IntegerError::Invalid) => "",
    };
    run.fail(format_args!("invalid {what}: {shown}{reason}"))
}

fn number_lines(
    run: &mut TextRun<'_, '_>,
    input: &mut TextInput,
    options: &NumberOptions,
    position: &mut NumberPosition,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    while input.read_line(run, b'\n', &mut line)? {
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(section) = options.section(content) {
            position.section = section;
            if options.renumber {
                position.number = Some(options.first);
            }
            run.write(b"\n")?;
            continue;
        }
        if options.is_numbered(run, content, position)? {
            let Some(number) = position.number else { return run.fail("line number overflow") };
            run.write(options.shown(number).as_bytes())?;
            run.write(&options.separator)?;
            position.number = number.checked_add(options.increment);
        } else {
            run.write(&vec![b' '; options.width + options.separator.len()])?;
        }
        run.write(content)?;
        run.write(b"\n")?;
    }
    Ok(())
}

impl NumberOptions {
    /// The section that a line starts, if any.
    fn section(&self, line: &[u8]) -> Option<usize> {
        if self.delimiter.len() < 2 || !line.starts_with(&self.delimiter[..2]) {
            return None;
        }
        (0..3).find(|section| *line == self.delimiter.repeat(3 - section))
    }

    fn is_numbered(
        &self,
        run: &mut TextRun<'_, '_>,
        line: &[u8],
        position: &mut NumberPosition,
    ) -> Result<bool, Stop> {
        Ok(match &self.styles[position.section] {
            NumberedLines::Matching(regex) => match regex.is_match(line) {
                Ok(is_match) => is_match,
                Err(_) => return run.fail("error in regular expression search"),
            },
            NumberedLines::None => false,
            NumberedLines::NotEmpty => !line.is_empty(),
            NumberedLines::All if self.joined == 1 => true,
            NumberedLines::All => {
                position.empty_lines += i64::from(line.is_empty());
                let is_numbered = !line.is_empty() || position.empty_lines == self.joined;
                if is_numbered {
                    position.empty_lines = 0;
                }
                is_numbered
            }
        })
    }

    fn shown(&self, number: i64) -> String {
        let width = self.width;
        match self.format {
            NumberFormat::Left => format!("{number:<width$}"),
            NumberFormat::Right => format!("{number:width$}"),
            NumberFormat::Zeros => format!("{number:0width$}"),
        }
    }
}
