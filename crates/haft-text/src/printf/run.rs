//! Going through a format.

use super::directive::{self, Count, Directive, Piece};
use super::escape::{self, Place};
use super::float;
use super::number::{NumberError, parse_integer, quoted_character};
use super::pad::{self, Digits, WIDEST};
use super::{Printed, Surroundings, When, strftime};
use crate::Bytes;
use crate::quote;

pub(super) struct Run<'a> {
    arguments: &'a [Bytes],
    next: usize,
    surroundings: &'a mut dyn Surroundings,
    printed: Printed,
}

/// How many blanks are made between two looks whether to stop.
const SOME: usize = 1 << 20;

/// Whether to go on with the format.
#[derive(PartialEq, Eq)]
enum Go {
    On,
    Stop,
}

impl<'a> Run<'a> {
    pub(super) fn new(arguments: &'a [Bytes], surroundings: &'a mut dyn Surroundings) -> Self {
        Self { arguments, next: 0, surroundings, printed: Printed::default() }
    }

    /// The whole format, again and again until the arguments are used up.
    pub(super) fn all(mut self, format: &[u8]) -> Printed {
        loop {
            let before = self.next;
            if self.once(format) == Go::Stop
                || self.next == before
                || self.next >= self.arguments.len()
                || self.surroundings.stopped()
            {
                return self.printed;
            }
        }
    }

    fn once(&mut self, format: &[u8]) -> Go {
        let mut rest = format;
        while !rest.is_empty() {
            let (piece, after) = directive::next(rest);
            rest = after;
            match piece {
                Piece::Text(text) => {
                    self.printed.complaints.extend(escape::complaints(text));
                    escape::expand(text, Place::Format, &mut self.printed.output);
                }
                Piece::Directive(directive) => {
                    if self.directive(&directive) == Go::Stop {
                        return Go::Stop;
                    }
                }
                Piece::Invalid { text, ended } => {
                    let problem = if ended { "missing" } else { "invalid" };
                    let complaint = [b"`", text, b"': ", problem.as_bytes(), b" format character"].concat();
                    self.complain(complaint, 1);
                    return Go::Stop;
                }
            }
        }
        Go::On
    }

    fn complain(&mut self, complaint: Vec<u8>, status: i32) {
        self.printed.complaints.push(complaint);
        self.printed.status = self.printed.status.max(status);
    }

    fn argument(&mut self) -> Option<&'a [u8]> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    fn directive(&mut self, directive: &Directive<'_>) -> Go {
        if directive.conversion == b'%' {
            self.printed.output.push(b'%');
            return Go::On;
        }
        let mut flags = directive.flags;
        let width = self.count(directive.width).unwrap_or(0);
        flags.left |= width < 0;
        let precision = self.count(directive.precision).and_then(|count| usize::try_from(count).ok());
        let field = Field {
            directive: Directive { flags, ..directive.clone() },
            width: usize::try_from(width.unsigned_abs()).unwrap_or(WIDEST),
            precision: precision.map(|count| count.min(WIDEST)),
        };
        match self.surroundings.has_room(field.size()) {
            true => self.field(&field),
            false => Go::Stop,
        }
    }

    fn count(&mut self, count: Option<Count>) -> Option<i64> {
        match count? {
            Count::Number(number) => Some(number),
            Count::Argument => Some(i64::from(i32::try_from(self.integer()).unwrap_or(0))),
        }
    }

    fn field(&mut self, field: &Field<'_>) -> Go {
        match field.directive.conversion {
            b's' => {
                let text = self.argument().unwrap_or_default();
                self.text(field.cut(text), field);
            }
            b'b' => {
                let source = self.argument().unwrap_or_default();
                self.printed.complaints.extend(escape::complaints(source));
                let mut text = Vec::new();
                let goes_on = escape::expand(source, Place::Argument, &mut text);
                self.text(field.cut(&text), field);
                if !goes_on {
                    return Go::Stop;
                }
            }
            b'c' => {
                let text = self.argument().unwrap_or_default();
                let first = text.first().copied().unwrap_or(0);
                self.text(&[first], field);
            }
            b'q' => {
                let text = quote::escaped(self.argument().unwrap_or_default(), self.surroundings.encoding());
                self.text(field.cut(&text), field);
            }
            b'Q' => {
                let text = quote::escaped(
                    field.cut(self.argument().unwrap_or_default()),
                    self.surroundings.encoding(),
                );
                self.text(&text, field);
            }
            b'n' => {
                let name = self.argument().unwrap_or_default();
                self.printed.counts.push((name.into(), self.printed.output.len()));
            }
            b'T' => self.time(field),
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => self.whole(field),
            _ => self.float(field),
        }
        Go::On
    }

    fn text(&mut self, text: &[u8], field: &Field<'_>) {
        if !self.surroundings.has_room(text.len()) {
            return;
        }
        let (left, output) = (field.directive.flags.left, &mut self.printed.output);
        // What is very wide is filled bit by bit, with a look whether to stop.
        let mut blanks = field.width.min(WIDEST).saturating_sub(text.len());
        if left {
            output.extend_from_slice(text);
        }
        while blanks > SOME && !self.surroundings.stopped() {
            output.resize(output.len() + SOME, b' ');
            blanks -= SOME;
        }
        let rest = blanks.min(SOME) + if left { 0 } else { text.len() };
        pad::text(if left { b"" } else { text }, rest, left, output);
    }

    fn time(&mut self, field: &Field<'_>) {
        let when = match self.arguments.get(self.next) {
            None => When::Now,
            Some(_) => match self.integer() {
                -1 => When::Now,
                -2 => When::Start,
                seconds => When::At(i64::try_from(seconds).unwrap_or(0)),
            },
        };
        let time = self.surroundings.local_time(when);
        let format = if field.directive.time.is_empty() { b"%X" } else { field.directive.time };
        let text = strftime::format(format, &time);
        self.text(field.cut(&text), field);
    }

    /// A whole number, as wide as it may be: 64 bits with or without a sign.
    fn integer(&mut self) -> i128 {
        let Some(text) = self.argument() else { return 0 };
        if let Some(code) = quoted_character(text, self.surroundings.encoding()) {
            return code.into();
        }
        let (value, problem) = parse_integer(text);
        if let Some(problem) = problem {
            self.complain(problem.complaint(text), 1);
        }
        value
    }

    fn clamped(&mut self, least: i128, most: i128) -> i128 {
        let text = self.arguments.get(self.next).cloned().unwrap_or_default();
        let value = self.integer();
        if (least..=most).contains(&value) {
            return value;
        }
        self.complain(NumberError::OutOfRange.complaint(&text), 0);
        value.clamp(least, most)
    }

    fn whole(&mut self, field: &Field<'_>) {
        let flags = field.directive.flags;
        let signed = matches!(field.directive.conversion, b'd' | b'i');
        let value = if signed {
            self.clamped(i64::MIN.into(), i64::MAX.into())
        } else {
            let wide = self.clamped(-i128::from(u64::MAX), u64::MAX.into());
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
        let number = Digits { prefix, digits: digits.into_bytes(), fill: field.precision.is_none() };
        pad::number(&number, field.width, flags, &mut self.printed.output);
    }

    fn float(&mut self, field: &Field<'_>) {
        let text = self.argument().unwrap_or(b"0");
        let number = match quoted_character(text, self.surroundings.encoding()) {
            Some(code) => float::Extended::from_integer(code.into()),
            None => {
                let (number, problem) = float::parse(text);
                if let Some(problem) = problem {
                    let status = i32::from(problem != NumberError::OutOfRange);
                    self.complain(problem.complaint(text), status);
                }
                number
            }
        };
        let flags = field.directive.flags;
        let shown = float::show(&number, field.directive.conversion, field.precision, flags);
        pad::number(&shown, field.width, flags, &mut self.printed.output);
    }
}

/// A directive whose width and precision are known.
struct Field<'a> {
    directive: Directive<'a>,
    width: usize,
    precision: Option<usize>,
}

impl Field<'_> {
    /// How much memory it takes besides a text that it shows. A number with a precision is made before it is padded.
    fn size(&self) -> usize {
        let precision = match self.directive.conversion {
            b's' | b'b' | b'c' | b'q' | b'Q' | b'T' => 0,
            _ => self.precision.unwrap_or(0),
        };
        self.width.min(WIDEST).saturating_add(precision.saturating_mul(3))
    }

    /// As much of a text as the precision allows.
    fn cut<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[..self.precision.unwrap_or(text.len()).min(text.len())]
    }
}
