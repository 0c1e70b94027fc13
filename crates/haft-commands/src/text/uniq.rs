//! `uniq`: leaves out repeated lines.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

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
        CommandParameter::short_flag("all-repeated", 'D', "Write all lines that are repeated."),
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

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

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
        if arguments.flag("count") && arguments.flag("all-repeated") {
            return run.usage("printing all duplicated lines and repeat counts is meaningless");
        }
        let end = if arguments.flag("zero-terminated") { 0 } else { b'\n' };
        run.each_input(operands, |run, input| {
            let mut group: Vec<Vec<u8>> = Vec::new();
            let (mut count, mut line) = (0u64, Vec::new());
            while input.read_line(run, end, &mut line)? {
                let content = line.strip_suffix(&[end]).unwrap_or(&line);
                if group.first().is_some_and(|first| key.equal(first, content)) {
                    count += 1;
                } else {
                    write_group(run, arguments, &group, count, end)?;
                    group.clear();
                    count = 1;
                }
                // Only `-D` writes the others.
                if group.is_empty() || arguments.flag("all-repeated") {
                    group.push(content.to_vec());
                }
            }
            write_group(run, arguments, &group, count, end)
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

/// Writes equal lines as the options want them.
fn write_group(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    group: &[Vec<u8>],
    count: u64,
    end: u8,
) -> Result<(), Stop> {
    let all = arguments.flag("all-repeated");
    let wanted = match (count, arguments.flag("unique")) {
        (0, _) => 0,
        (1, _) => usize::from(!arguments.flag("repeated") && !all),
        // With both `-D` and `-u`, GNU's `uniq` leaves out the last one.
        (_, true) => group.len() - 1,
        (_, false) => group.len(),
    };
    for line in &group[..wanted] {
        if arguments.flag("count") {
            run.write(format!("{count:7} ").as_bytes())?;
        }
        run.write(&[line.as_slice(), &[end]].concat())?;
    }
    Ok(())
}
