//! Formatting of arguments by a format.

use std::borrow::Cow;

use super::directive::{self, Count, Directive, FormatPiece};
use super::escape::{self, EscapeContext};
use super::float;
use super::number::{NumberError, parse_integer, quoted_character};
use super::pad::{self, Digits, MAX_FIELD_WIDTH, MAX_NUMBER_WIDTH};
use super::{Printed, PrintfHost, PrintfTime, strftime};
use crate::Bytes;
use crate::quote;

pub(super) struct Formatter<'a> {
    arguments: &'a [Bytes],
    next: usize,
    host: &'a mut dyn PrintfHost,
    printed: Printed,
}

/// How many blanks are written between two checks for cancellation.
const BLANKS_PER_CHECK: usize = 1 << 20;

/// Whether formatting continues.
#[derive(PartialEq, Eq)]
enum FormatProgress {
    Continue,
    Stop,
}

impl<'a> Formatter<'a> {
    pub(super) fn new(arguments: &'a [Bytes], host: &'a mut dyn PrintfHost) -> Self {
        Self { arguments, next: 0, host, printed: Printed::default() }
    }

    /// Applies the format until all arguments are consumed.
    pub(super) fn format(mut self, format: &[u8]) -> Printed {
        loop {
            let before = self.next;
            if self.format_once(format) == FormatProgress::Stop
                || self.next == before
                || self.next >= self.arguments.len()
                || self.host.is_cancelled()
            {
                return self.printed;
            }
        }
    }

    fn format_once(&mut self, format: &[u8]) -> FormatProgress {
        let mut rest = format;
        while !rest.is_empty() {
            let (piece, after) = directive::next_piece(rest);
            rest = after;
            match piece {
                FormatPiece::Text(text) => {
                    self.printed.errors.extend(escape::missing_digits(text));
                    escape::expand(text, EscapeContext::Format, &mut self.printed.output);
                }
                FormatPiece::Directive(directive) => {
                    if self.directive(&directive) == FormatProgress::Stop {
                        return FormatProgress::Stop;
                    }
                }
                FormatPiece::InvalidTime { text, letter } => {
                    let warning =
                        format!("warning: `{}': invalid time format specification", char::from(letter));
                    self.report(warning.into_bytes(), 0);
                    self.printed.output.extend_from_slice(text);
                }
                FormatPiece::Invalid { text, ended } => {
                    let problem = if ended { "missing" } else { "invalid" };
                    let message = [b"`", text, b"': ", problem.as_bytes(), b" format character"].concat();
                    self.report(message, 1);
                    return FormatProgress::Stop;
                }
            }
        }
        FormatProgress::Continue
    }

    fn report(&mut self, message: Vec<u8>, status: i32) {
        self.printed.errors.push(message);
        self.printed.status = self.printed.status.max(status);
    }

    fn argument(&mut self) -> Option<&'a [u8]> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    fn directive(&mut self, directive: &Directive<'_>) -> FormatProgress {
        if directive.conversion == b'%' {
            self.printed.output.push(b'%');
            return FormatProgress::Continue;
        }
        let mut flags = directive.flags;
        let width = self.count(directive.width).unwrap_or(0);
        flags.left |= width < 0;
        let precision = self.count(directive.precision).and_then(|count| usize::try_from(count).ok());
        let field = PrintfField {
            directive: Directive { flags, ..directive.clone() },
            width: usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX),
            precision,
        };
        if field.width > MAX_FIELD_WIDTH || precision.is_some_and(|precision| precision > MAX_FIELD_WIDTH) {
            self.argument();
            return FormatProgress::Continue;
        }
        if !field.is_text() && field.width.max(precision.unwrap_or(0)) > MAX_NUMBER_WIDTH {
            let text = self.argument().unwrap_or_default();
            self.report([text, b": field too wide"].concat(), 1);
            return FormatProgress::Continue;
        }
        match self.host.reserve(field.size()) {
            true => self.field(&field),
            false => FormatProgress::Stop,
        }
    }

    fn count(&mut self, count: Option<Count>) -> Option<i64> {
        match count? {
            Count::Number(number) => Some(number),
            Count::Argument => Some(i64::from(i32::try_from(self.integer()).unwrap_or(0))),
        }
    }

    fn field(&mut self, field: &PrintfField<'_>) -> FormatProgress {
        match field.directive.conversion {
            b's' => {
                let text = self.argument().unwrap_or_default();
                self.text_field(field.truncate(text), field);
            }
            b'b' => {
                let source = self.argument().unwrap_or_default();
                self.printed.errors.extend(escape::missing_digits(source));
                let mut text = Vec::new();
                let continues = escape::expand(source, EscapeContext::Argument, &mut text);
                self.text_field(field.truncate(&text), field);
                if !continues {
                    return FormatProgress::Stop;
                }
            }
            b'c' => {
                let text = self.argument().unwrap_or_default();
                let first = text.first().copied().unwrap_or(0);
                self.text_field(&[first], field);
            }
            b'q' => {
                let text = quote::escaped(self.argument().unwrap_or_default(), self.host.encoding());
                self.text_field(field.truncate(&text), field);
            }
            b'Q' => {
                let text =
                    quote::escaped(field.truncate(self.argument().unwrap_or_default()), self.host.encoding());
                self.text_field(&text, field);
            }
            b'n' => {
                let name = self.argument().unwrap_or_default();
                self.printed.counts.push((name.into(), self.printed.output.len()));
            }
            b'T' => self.time_field(field),
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => self.integer_field(field),
            _ => self.float_field(field),
        }
        FormatProgress::Continue
    }

    fn text_field(&mut self, text: &[u8], field: &PrintfField<'_>) {
        if !self.host.reserve(text.len()) {
            return;
        }
        let (left, output) = (field.directive.flags.left, &mut self.printed.output);
        // A very wide field is filled in chunks, with checks for cancellation.
        let mut blanks = field.width.saturating_sub(text.len());
        if left {
            output.extend_from_slice(text);
        }
        while blanks > BLANKS_PER_CHECK && !self.host.is_cancelled() {
            output.resize(output.len() + BLANKS_PER_CHECK, b' ');
            blanks -= BLANKS_PER_CHECK;
        }
        let rest = blanks.min(BLANKS_PER_CHECK) + if left { 0 } else { text.len() };
        pad::text(if left { b"" } else { text }, rest, left, output);
    }

    fn time_field(&mut self, field: &PrintfField<'_>) {
        let when = match self.arguments.get(self.next) {
            None => PrintfTime::Now,
            Some(_) => match self.integer() {
                -1 => PrintfTime::Now,
                -2 => PrintfTime::Start,
                seconds => PrintfTime::At(i64::try_from(seconds).unwrap_or(0)),
            },
        };
        let time = self.host.local_time(when);
        let format = if field.directive.time.is_empty() { b"%X" } else { field.directive.time };
        let text = strftime::format(format, &time);
        self.text_field(field.truncate(&text), field);
    }

    /// Reads an argument as an integer, large enough for 64 bits with or without a sign.
    fn integer(&mut self) -> i128 {
        let Some(text) = self.argument() else { return 0 };
        if let Some(code) = quoted_character(text, self.host.encoding()) {
            return code.into();
        }
        let (value, problem) = parse_integer(text);
        if let Some(problem) = problem {
            self.report(problem.message(text), 1);
        }
        value
    }

    fn integer_within(&mut self, least: i128, most: i128) -> i128 {
        let text = self.arguments.get(self.next).cloned().unwrap_or_default();
        let value = self.integer();
        if (least..=most).contains(&value) {
            return value;
        }
        self.report(NumberError::OutOfRange.message(&text), 0);
        // A negative number that is too large for a conversion without sign becomes the largest one, as with `strtoumax`.
        if least == -most { most } else { value.clamp(least, most) }
    }

    fn integer_field(&mut self, field: &PrintfField<'_>) {
        let flags = field.directive.flags;
        let signed = matches!(field.directive.conversion, b'd' | b'i');
        let value = if signed {
            self.integer_within(i64::MIN.into(), i64::MAX.into())
        } else {
            let wide = self.integer_within(-i128::from(u64::MAX), u64::MAX.into());
            wide.rem_euclid(1 << 64)
        };
        let magnitude = value.unsigned_abs();
        let mut digits = match field.directive.conversion {
            b'o' => format!("{magnitude:o}"),
            b'x' => format!("{magnitude:x}"),
            b'X' => format!("{magnitude:X}"),
            _ => magnitude.to_string(),
        };
        if field.precision == Some(0) && magnitude == 0 {
            digits.clear();
        }
        let zeros = field.precision.unwrap_or(1).saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(zeros));
        let mut prefix = if signed { pad::sign(value < 0, flags) } else { Vec::new() };
        if flags.alternate && magnitude != 0 {
            match field.directive.conversion {
                b'x' => prefix.extend_from_slice(b"0x"),
                b'X' => prefix.extend_from_slice(b"0X"),
                b'o' if !digits.starts_with('0') => digits.insert(0, '0'),
                _ => {}
            }
        }
        let number = Digits { prefix, digits: digits.into_bytes(), allows_zeros: field.precision.is_none() };
        pad::number(&number, field.width, flags, &mut self.printed.output);
    }

    fn float_field(&mut self, field: &PrintfField<'_>) {
        let text = self.argument().unwrap_or(b"0");
        let number = match quoted_character(text, self.host.encoding()) {
            Some(code) => float::Extended::from_integer(code.into()),
            None => {
                let (number, problem) = float::parse(&with_point(text, self.host.decimal_point()));
                if let Some(problem) = problem {
                    let status = i32::from(problem != NumberError::OutOfRange);
                    self.report(problem.message(text), status);
                }
                number
            }
        };
        let flags = field.directive.flags;
        let mut digits = float::format(&number, field.directive.conversion, field.precision, flags);
        let point = self.host.decimal_point();
        if point != b"."
            && let Some(at) = digits.digits.iter().position(|byte| *byte == b'.')
        {
            digits.digits.splice(at..=at, point.iter().copied());
        }
        pad::number(&digits, field.width, flags, &mut self.printed.output);
    }
}

/// The text of a number with `.` for the decimal point of the locale. Another `.` is then no part of a number.
fn with_point<'t>(text: &'t [u8], point: &[u8]) -> Cow<'t, [u8]> {
    const NO_NUMBER: u8 = 0;
    if point == b"." {
        return Cow::Borrowed(text);
    }
    let mut result: Vec<u8> = text.iter().map(|byte| if *byte == b'.' { NO_NUMBER } else { *byte }).collect();
    if let Some(at) = result.windows(point.len().max(1)).position(|part| part == point) {
        result.splice(at..at + point.len(), [b'.']);
    }
    Cow::Owned(result)
}

/// A directive with its width and precision resolved.
struct PrintfField<'a> {
    directive: Directive<'a>,
    width: usize,
    precision: Option<usize>,
}

impl PrintfField<'_> {
    /// Returns the memory that the field needs, apart from the text that it shows. A number with a precision is built before it is
    /// padded.
    fn size(&self) -> usize {
        let precision = if self.is_text() { 0 } else { self.precision.unwrap_or(0) };
        self.width.saturating_add(precision.saturating_mul(3))
    }

    /// Whether the field shows a text and not a number.
    fn is_text(&self) -> bool {
        matches!(self.directive.conversion, b's' | b'b' | b'c' | b'q' | b'Q' | b'T')
    }

    /// Truncates a text to the precision.
    fn truncate<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[..self.precision.unwrap_or(text.len()).min(text.len())]
    }
}
