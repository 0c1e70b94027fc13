//! `uniq`: leaves out repeated lines.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::number::parse_count;
use super::streams::{Stop, TextRun, Wording, run_worded};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "uniq",
    summary: "Leave out repeated neighbouring lines.",
    style: ArgumentStyle::GnuMixed(&["[INPUT]"]),
    parameters: &[
        CommandParameter::new("count", ParameterKind::Flag, "Write how often each line occurs.").letter('c'),
        CommandParameter::new(
            "repeated",
            ParameterKind::Flag,
            "Write only lines that are repeated, once each.",
        )
        .letter('d'),
        CommandParameter::short_flag("D", 'D', "Write all lines that are repeated."),
        CommandParameter::new(
            "all-repeated",
            ParameterKind::OptionalText,
            "The same. An empty line comes before each group (`prepend`) or between groups (`separate`), or not (`none`).",
        )
        .with_value_name("WHERE"),
        CommandParameter::new(
            "group",
            ParameterKind::OptionalText,
            "Write all lines, with an empty line between groups (`separate`), or before (`prepend`), after (`append`), or both (`both`).",
        )
        .with_value_name("WHERE"),
        CommandParameter::new("skip-fields", ParameterKind::Text, "Do not compare the first N fields.")
            .letter('f')
            .with_value_name("N"),
        CommandParameter::new("ignore-case", ParameterKind::Flag, "Ignore case.").letter('i'),
        CommandParameter::new("skip-chars", ParameterKind::Text, "Do not compare the first N characters.")
            .letter('s')
            .with_value_name("N"),
        CommandParameter::new("unique", ParameterKind::Flag, "Write only lines that are not repeated.")
            .letter('u'),
        CommandParameter::new("check-chars", ParameterKind::Text, "Compare at most N characters.")
            .letter('w')
            .with_value_name("N"),
        CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.")
            .letter('z'),
    ],
    details: &["Only neighbouring lines are compared, so the input is usually sorted first."],
    statuses: &[("0", "success"), ("1", "the input could not be read")],
    examples: &[Example {
        summary: "Count equal lines",
        script: "printf '%s\\n' a a b | uniq -c",
        output: "      2 a\n      1 b\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..text_command(&DESCRIPTOR, run) };

/// Errors in the values of several options are reported in the order of the options.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    arguments.in_order().any(|(name, value)| match (name, value) {
        ("all-repeated", ArgumentValue::Text(text)) => find_place(text, &REPEATED_PLACES).is_none(),
        ("group", ArgumentValue::Text(text)) => find_place(text, &GROUP_PLACES).is_none(),
        _ => false,
    })
}

/// Where empty lines separate groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiters {
    None,
    Prepend,
    Separate,
    Append,
    Both,
}

/// The places for `--all-repeated` and for `--group`. The first one is the default.
const REPEATED_PLACES: [(&str, Delimiters); 3] =
    [("none", Delimiters::None), ("prepend", Delimiters::Prepend), ("separate", Delimiters::Separate)];
const GROUP_PLACES: [(&str, Delimiters); 4] = [
    ("separate", Delimiters::Separate),
    ("prepend", Delimiters::Prepend),
    ("append", Delimiters::Append),
    ("both", Delimiters::Both),
];

/// Which lines of a group are written, and how.
struct GroupFormat {
    counts: bool,
    is_repeated_only: bool,
    is_unique_only: bool,
    /// `-D`
    shows_repeated: bool,
    /// `--group`
    shows_all: bool,
    delimiters: Delimiters,
    end: u8,
    has_group: bool,
}

impl GroupFormat {
    fn parse(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<Self, Stop> {
        let mut format = Self {
            counts: arguments.flag("count"),
            is_repeated_only: arguments.flag("repeated"),
            is_unique_only: arguments.flag("unique"),
            shows_repeated: false,
            shows_all: false,
            delimiters: Delimiters::None,
            end: if arguments.flag("zero-terminated") { 0 } else { b'\n' },
            has_group: false,
        };
        let mut place = Delimiters::None;
        for (name, value) in arguments.in_order() {
            match (name, value) {
                ("D", _) => (format.shows_repeated, format.delimiters) = (true, Delimiters::None),
                ("all-repeated", ArgumentValue::Text(text)) => {
                    let chosen = parse_place(run, "--all-repeated", text, &REPEATED_PLACES)?;
                    (format.shows_repeated, format.delimiters) = (true, chosen);
                }
                ("group", ArgumentValue::Text(text)) => {
                    place = parse_place(run, "--group", text, &GROUP_PLACES)?;
                    format.shows_all = true;
                }
                _ => {}
            }
        }
        let is_selective = format.shows_repeated || format.is_repeated_only || format.is_unique_only;
        if format.shows_all && (format.counts || is_selective) {
            return run.usage("--group is mutually exclusive with -c/-d/-D/-u");
        }
        if format.shows_all {
            format.delimiters = place;
        }
        Ok(format)
    }
}

/// Finds a place by its name, or by the start of it.
fn find_place(text: &[u8], places: &[(&'static str, Delimiters)]) -> Option<Delimiters> {
    let mut found = places.iter().filter(|(name, _)| name.as_bytes().starts_with(text));
    let (_, place) = found.next()?;
    (text.is_empty() || found.next().is_none()).then_some(*place)
}

/// The same, with an error message.
fn parse_place(
    run: &mut TextRun<'_, '_>,
    option: &str,
    text: &[u8],
    places: &[(&'static str, Delimiters)],
) -> Result<Delimiters, Stop> {
    if let Some(place) = find_place(text, places) {
        return Ok(place);
    }
    let (shown, option) = (run.quote(text), run.quote(option.as_bytes()));
    let valid: Vec<String> =
        places.iter().map(|(name, _)| format!("\n  - {}", run.quote(name.as_bytes()))).collect();
    run.usage(format_args!("invalid argument {shown} for {option}\nValid arguments are:{}", valid.concat()))
}

/// The part of a line that is compared.
struct Key {
    fields: u64,
    skipped: u64,
    compared: u64,
    ignore_case: bool,
}

impl Key {
    fn of<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut rest = line;
        for _ in 0..self.fields {
            let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
            let text = rest[blanks..].iter().take_while(|byte| !is_blank(**byte)).count();
            if blanks + text == 0 {
                break;
            }
            rest = &rest[blanks + text..];
        }
        let limit = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        rest = &rest[limit(self.skipped).min(rest.len())..];
        &rest[..limit(self.compared).min(rest.len())]
    }

    fn equal(&self, first: &[u8], second: &[u8]) -> bool {
        let (first, second) = (self.of(first), self.of(second));
        if self.ignore_case { first.eq_ignore_ascii_case(second) } else { first == second }
    }
}

/// Whether a byte separates fields. A newline does, too, in lines that end with a NUL byte.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::NoReason, |run| {
        let key = key(run, arguments)?;
        let operands = &arguments.operands;
        if let Some(extra) = operands.get(1) {
            return run.extra_operand(extra);
        }
        let mut format = GroupFormat::parse(run, arguments)?;
        if format.counts && format.shows_repeated {
            return run.usage("printing all duplicated lines and repeat counts is meaningless");
        }
        let end = format.end;
        run.each_input(operands, |run, input| {
            let mut group: Vec<Vec<u8>> = Vec::new();
            let (mut count, mut line) = (0u64, Vec::new());
            while input.read_line(run, end, &mut line)? {
                let content = line.strip_suffix(&[end]).unwrap_or(&line);
                if group.first().is_some_and(|first| key.equal(first, content)) {
                    count += 1;
                } else {
                    format.write(run, &group, count)?;
                    group.clear();
                    count = 1;
                }
                if group.is_empty() || format.shows_repeated || format.shows_all {
                    group.push(content.to_vec());
                }
            }
            format.write(run, &group, count)?;
            let ends = matches!(format.delimiters, Delimiters::Append | Delimiters::Both);
            if format.has_group && ends { run.write(&[end]) } else { Ok(()) }
        })
    })
}

/// The key that the options describe.
fn key(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<Key, Stop> {
    let ignore_case = arguments.flag("ignore-case");
    let mut key = Key { fields: 0, skipped: 0, compared: u64::MAX, ignore_case };
    for (name, value) in arguments.in_order() {
        let (place, what) = match name {
            "skip-fields" => (&mut key.fields, "fields to skip"),
            "skip-chars" => (&mut key.skipped, "bytes to skip"),
            "check-chars" => (&mut key.compared, "bytes to compare"),
            _ => continue,
        };
        let ArgumentValue::Text(text) = value else { continue };
        match parse_count(text) {
            Some(number) => *place = number,
            None => return run.fail(format_args!("{text}: invalid number of {what}")),
        }
    }
    Ok(key)
}

impl GroupFormat {
    /// Writes equal lines as the options want them.
    fn write(&mut self, run: &mut TextRun<'_, '_>, group: &[Vec<u8>], count: u64) -> Result<(), Stop> {
        let wanted = match (count, self.is_unique_only) {
            (0, _) => 0,
            (1, _) => usize::from(!self.is_repeated_only && !self.shows_repeated),
            // With both `-D` and `-u`, GNU's `uniq` leaves out the last one.
            (_, true) => group.len() - 1,
            (_, false) => group.len(),
        };
        let is_delimited = self.shows_all || count > 1;
        if count > 0 && is_delimited {
            self.write_delimiter(run)?;
        }
        for line in &group[..wanted] {
            if self.counts {
                run.write(format!("{count:7} ").as_bytes())?;
            }
            run.write(&[line.as_slice(), &[self.end]].concat())?;
        }
        Ok(())
    }

    /// Writes the empty line before a group.
    fn write_delimiter(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let is_first = !std::mem::replace(&mut self.has_group, true);
        match self.delimiters {
            Delimiters::None => Ok(()),
            Delimiters::Separate | Delimiters::Append if is_first => Ok(()),
            _ => run.write(&[self.end]),
        }
    }
}
