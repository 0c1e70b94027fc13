//! `seq`: writes numbers.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "seq",
    summary: "Write the numbers from FIRST to LAST.",
    style: ArgumentStyle::GnuMixed(&["[FIRST", "[STEP]]", "LAST"]),
    parameters: &[
        CommandParameter::new(
            "separator",
            ParameterKind::Text,
            "Separate the numbers with TEXT instead of newlines.",
        )
        .letter('s'),
        CommandParameter::new(
            "equal-width",
            ParameterKind::Flag,
            "Add leading zeros, so that all have the same width.",
        )
        .letter('w'),
    ],
    details: &["Numbers are decimal, with at most 18 digits. FIRST and STEP are 1 if they are missing."],
    statuses: &[("0", "success"), ("1", "an operand is not valid")],
    examples: &[Example {
        summary: "Every third number",
        script: "seq -s ' ' 1 3 10",
        output: "1 4 7 10\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { rewrite: Some(rewrite), ..text_command(&DESCRIPTOR, run) };

/// A negative number is an operand: it and all words after it follow `--`.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let negative = |word: &Bytes| matches!(word.as_ref(), [b'-', b'0'..=b'9' | b'.', ..]);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_ref() {
            b"--" => return None,
            b"-s" | b"--separator" => at += 2,
            _ if negative(word) || !word.starts_with(b"-") => {
                let (options, operands) = words.split_at(at);
                return Some([options, &[Bytes::from("--")], operands].concat());
            }
            _ => at += 1,
        }
    }
    None
}

/// A decimal number: `digits / 10^places`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    places: u32,
    /// The number of characters before the point, with the sign.
    width: usize,
}

/// The most digits of a number.
const MAX_DIGITS: usize = 18;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let operands = &arguments.operands;
        match operands.len() {
            0 => return run.usage("missing operand"),
            1..=3 => {}
            _ => return run.extra_operand(&operands[3]),
        }
        let mut numbers = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let number = number(run, operand)?;
            if index == 1 && operands.len() == 3 && number.digits == 0 {
                let shown = run.quote(operand);
                return run.usage(format_args!("invalid Zero increment value: {shown}"));
            }
            numbers.push(number);
        }
        let one = Decimal { digits: 1, places: 0, width: 1 };
        let (first, step, last) = match numbers[..] {
            [first, step, last] => (first, step, last),
            [first, last] => (first, one, last),
            _ => (one, one, numbers[0]),
        };
        write_all(run, arguments, first, step, last)
    })
}

/// Parses an operand.
fn number(run: &mut TextRun<'_, '_>, text: &Bytes) -> Result<Decimal, Stop> {
    let trimmed = text.trim_ascii_start();
    let (negative, unsigned) = match trimmed {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let point = memchr::memchr(b'.', unsigned).unwrap_or(unsigned.len());
    let fraction = unsigned.get(point + 1..).unwrap_or_default();
    let digits = [&unsigned[..point], fraction].concat();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        let special = [b"inf".as_slice(), b"nan", b"0x"].iter().any(|start| {
            unsigned.len() >= start.len() && unsigned[..start.len()].eq_ignore_ascii_case(start)
        });
        let has_exponent = digits.first().is_some_and(u8::is_ascii_digit)
            && digits.iter().any(|byte| b"eEpP".contains(byte));
        if special || has_exponent {
            return run.fail(format_args!("{text}: only plain decimal numbers are supported"));
        }
        let shown = run.quote(text);
        return run.usage(format_args!("invalid floating point argument: {shown}"));
    }
    if digits.len() > MAX_DIGITS {
        return run.fail(format_args!("{text}: at most {MAX_DIGITS} digits are supported"));
    }
    let value = digits.iter().fold(0i128, |value, digit| value * 10 + i128::from(digit - b'0'));
    Ok(Decimal {
        digits: if negative { -value } else { value },
        places: fraction.len() as u32,
        width: point.max(1) + usize::from(negative),
    })
}

fn write_all(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    first: Decimal,
    step: Decimal,
    last: Decimal,
) -> Result<(), Stop> {
    let places = first.places.max(step.places);
    // The last number may have more places than are written.
    let scale = places.max(last.places);
    let scaled = |number: Decimal| number.digits * 10i128.pow(scale - number.places);
    let (mut value, step, end) = (scaled(first), scaled(step), scaled(last));
    let point = if places > 0 { places as usize + 1 } else { 0 };
    let width = match arguments.flag("equal-width") {
        true => first.width.max(last.width) + point,
        false => 0,
    };
    let newline = Bytes::from("\n");
    let separator = arguments.text("separator").unwrap_or(&newline);
    let mut is_first = true;
    while if step > 0 { value <= end } else { value >= end } {
        if !is_first {
            run.write(separator)?;
        }
        is_first = false;
        run.write(shown(value / 10i128.pow(scale - places), places as usize, width).as_bytes())?;
        value += step;
    }
    if is_first { Ok(()) } else { run.write(b"\n") }
}

/// A scaled number as text, with leading zeros up to the width.
fn shown(value: i128, places: usize, width: usize) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", value.unsigned_abs(), places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let number = if places == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") };
    format!("{sign}{number:0>0$}", width.saturating_sub(sign.len()))
}
