//! `seq`: writes numbers.

mod format;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use format::{FormatProblem, NumberFormat};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "seq",
    summary: "Write the numbers from FIRST to LAST.",
    style: ArgumentStyle::GnuMixed(&["[FIRST", "[STEP]]", "LAST"]),
    parameters: &[
        CommandParameter::new("format", ParameterKind::Text, "Write the numbers as printf does with FORMAT.")
            .letter('f')
            .with_value_name("FORMAT"),
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
    details: &[
        "Numbers are decimal, with at most 18 digits. FIRST and STEP are 1 if they are missing.",
        "FORMAT has one of %e, %f and %g, and shows all digits of the numbers.",
    ],
    statuses: &[("0", "success"), ("1", "an operand is not valid")],
    examples: &[
        Example {
            summary: "Every third number",
            script: "seq -s ' ' 1 3 10",
            output: "1 4 7 10\n",
            status: 0,
        },
        Example {
            summary: "Names with numbers",
            script: "seq -f 'file%03g' 2",
            output: "file001\nfile002\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    rewrite: Some(rewrite),
    steps_aside: Some(steps_aside),
    ..text_command(&DESCRIPTOR, run)
};

/// Other numbers than plain decimals, and formats that round, need the program's arithmetic.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let numbers: Vec<_> = arguments.operands.iter().map(|operand| Decimal::parse(operand)).collect();
    let special = |number: &Result<Decimal, DecimalError>| matches!(number, Err(error) if *error != DecimalError::Invalid);
    let format = arguments.text("format").map(|text| NumberFormat::parse(text));
    numbers.iter().any(special)
        || match format {
            Some(Err(FormatProblem::NotSupported)) => true,
            None | Some(Err(_)) => false,
            Some(Ok(format)) => match Sequence::new(&numbers.into_iter().flatten().collect::<Vec<_>>()) {
                Some(sequence) => !sequence.fits(&format),
                None => false,
            },
        }
}

/// A negative number is an operand: it and all words after it follow `--`.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let negative = |word: &Bytes| matches!(word.as_ref(), [b'-', b'0'..=b'9' | b'.', ..]);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_ref() {
            b"--" => return None,
            b"-s" | b"--separator" | b"-f" | b"--format" => at += 2,
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
        let format = match arguments.text("format") {
            None => None,
            Some(text) => Some(parse_format(run, text)?),
        };
        if format.is_some() && arguments.flag("equal-width") {
            return run.usage("format string may not be specified when printing equal width strings");
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
        let Some(sequence) = Sequence::new(&numbers) else { return Ok(()) };
        if format.as_ref().is_some_and(|format| !sequence.fits(format)) {
            return run.fail("-f: the format must show all digits of the numbers");
        }
        let newline = Bytes::from("\n");
        let separator = arguments.text("separator").unwrap_or(&newline);
        match format {
            Some(format) => {
                let host = format::FormatHost { encoding: run.context.session().encoding() };
                sequence.write(run, separator, |value| format.show(value, sequence.places as usize, host))
            }
            None => {
                let (places, width) = (sequence.places as usize, sequence.width(arguments));
                sequence.write(run, separator, |value| shown(value, places, width).into_bytes())
            }
        }
    })
}

fn parse_format(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<NumberFormat, Stop> {
    let problem = match NumberFormat::parse(text) {
        Ok(format) => return Ok(format),
        Err(problem) => problem,
    };
    let shown = run.quote(text);
    let message = match problem {
        FormatProblem::NoDirective => format!("format {shown} has no % directive"),
        FormatProblem::Incomplete => format!("format {shown} ends in %"),
        FormatProblem::TooMany => format!("format {shown} has too many % directives"),
        FormatProblem::Unknown(letter) => {
            format!("format {shown} has unknown %{} directive", char::from(letter))
        }
        FormatProblem::NotSupported => "-f: only %e, %f and %g are supported".to_owned(),
    };
    run.fail(message)
}

/// Why an operand is not a number that is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecimalError {
    Invalid,
    /// Infinite, not a number, hexadecimal or with an exponent.
    NotPlain,
    TooLong,
}

impl Decimal {
    fn parse(text: &[u8]) -> Result<Self, DecimalError> {
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
            return Err(if is_special(unsigned, &digits) {
                DecimalError::NotPlain
            } else {
                DecimalError::Invalid
            });
        }
        if digits.len() > MAX_DIGITS {
            return Err(DecimalError::TooLong);
        }
        let value = digits.iter().fold(0i128, |value, digit| value * 10 + i128::from(digit - b'0'));
        Ok(Self {
            digits: if negative { -value } else { value },
            places: fraction.len() as u32,
            width: point.max(1) + usize::from(negative),
        })
    }
}

/// Whether text that is not a plain decimal number may be another number.
fn is_special(unsigned: &[u8], digits: &[u8]) -> bool {
    let begins =
        |start: &&[u8]| unsigned.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    let has_exponent =
        digits.first().is_some_and(u8::is_ascii_digit) && digits.iter().any(|byte| b"eEpP".contains(byte));
    has_exponent || [b"inf".as_slice(), b"nan", b"0x"].iter().any(begins)
}

/// Parses an operand.
fn number(run: &mut TextRun<'_, '_>, text: &Bytes) -> Result<Decimal, Stop> {
    match Decimal::parse(text) {
        Ok(number) => Ok(number),
        Err(DecimalError::Invalid) => {
            let shown = run.quote(text);
            run.usage(format_args!("invalid floating point argument: {shown}"))
        }
        Err(DecimalError::NotPlain) => {
            run.fail(format_args!("{text}: only plain decimal numbers are supported"))
        }
        Err(DecimalError::TooLong) => {
            run.fail(format_args!("{text}: at most {MAX_DIGITS} digits are supported"))
        }
    }
}

/// The numbers to write, multiplied by a power of ten.
struct Sequence {
    first: Decimal,
    step: Decimal,
    last: Decimal,
    /// The places after the point of each number.
    places: u32,
}

impl Sequence {
    fn new(numbers: &[Decimal]) -> Option<Self> {
        let one = Decimal { digits: 1, places: 0, width: 1 };
        let (first, step, last) = match *numbers {
            [first, step, last] => (first, step, last),
            [first, last] => (first, one, last),
            [last] => (one, one, last),
            _ => return None,
        };
        Some(Self { first, step, last, places: first.places.max(step.places) })
    }

    /// The width of all numbers with `-w`, or 0.
    fn width(&self, arguments: &CommandArguments) -> usize {
        let point = if self.places > 0 { self.places as usize + 1 } else { 0 };
        match arguments.flag("equal-width") {
            true => self.first.width.max(self.last.width) + point,
            false => 0,
        }
    }

    /// Whether a format shows all digits of all numbers.
    fn fits(&self, format: &NumberFormat) -> bool {
        let whole = [self.first, self.step, self.last].iter().map(|number| number.width).max().unwrap_or(0);
        format.is_exact(whole + 1, self.places as usize)
    }

    fn write(
        &self,
        run: &mut TextRun<'_, '_>,
        separator: &[u8],
        shown: impl Fn(i128) -> Vec<u8>,
    ) -> Result<(), Stop> {
        // The last number may have more places than are written.
        let scale = self.places.max(self.last.places);
        let scaled = |number: Decimal| number.digits * 10i128.pow(scale - number.places);
        let (mut value, step, end) = (scaled(self.first), scaled(self.step), scaled(self.last));
        let mut is_first = true;
        while if step > 0 { value <= end } else { value >= end } {
            if !is_first {
                run.write(separator)?;
            }
            is_first = false;
            run.write(&shown(value / 10i128.pow(scale - self.places)))?;
            value += step;
        }
        if is_first { Ok(()) } else { run.write(b"\n") }
    }
}

/// A scaled number as text, with leading zeros up to the width.
fn shown(value: i128, places: usize, width: usize) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", value.unsigned_abs(), places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let number = if places == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") };
    format!("{sign}{number:0>0$}", width.saturating_sub(sign.len()))
}
