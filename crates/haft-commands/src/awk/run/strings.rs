//! The builtin functions on texts.

use std::rc::Rc;

use haft_kernel::Bytes;
use haft_text::regex::gnu::GnuRegex;

use super::{AwkRun, Evaluated};
use crate::awk::number;
use crate::awk::record::{FieldSplitter, split};
use crate::awk::tree::{AwkExpression, AwkPlace, VariableSlot};
use crate::awk::value::AwkValue;

impl AwkRun<'_, '_, '_> {
    /// A regular expression: a constant, or the text of an expression.
    pub(super) fn regex_of(&mut self, expression: &AwkExpression) -> Evaluated<Rc<GnuRegex>> {
        match expression {
            AwkExpression::Regex(regex) => self.constant(regex),
            other => {
                let pattern = self.text(other)?;
                self.regex(&pattern)
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "lengths are small")]
    fn count_value(count: usize) -> AwkValue {
        AwkValue::Number(count as f64)
    }

    pub(super) fn length(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let count = match arguments.first() {
            None => self.encoding.count(self.record.text()),
            Some(AwkExpression::Place(AwkPlace::Variable(variable))) if self.is_array(*variable) => {
                self.array(*variable)?.borrow().len()
            }
            Some(text) => {
                let text = self.text(text)?;
                self.encoding.count(&text)
            }
        };
        Ok(Self::count_value(count))
    }

    fn is_array(&self, variable: VariableSlot) -> bool {
        match variable {
            VariableSlot::Global(index) => self.program.global_arrays[index],
            VariableSlot::Local(_) => self.array(variable).is_ok(),
        }
    }

    pub(super) fn index(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let (mut text, mut wanted) = (self.text(&arguments[0])?, self.text(&arguments[1])?);
        if self.ignores_case() {
            [&mut text, &mut wanted].into_iter().for_each(|it| *it = self.encoding.to_lowercase(it).into());
        }
        let found = memchr::memmem::find(&text, &wanted);
        Ok(Self::count_value(found.map_or(0, |at| self.encoding.count(&text[..at]) + 1)))
    }

    pub(super) fn substr(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let text = self.text(&arguments[0])?;
        // A start below 1 does not shorten the length, and fractions are cut off, as in `gawk` 5.2.
        let start = self.number(&arguments[1])?.max(1.0);
        let length = match arguments.get(2) {
            Some(length) => self.number(length)?,
            None => f64::INFINITY,
        };
        if length.is_nan() || length < 1.0 {
            return Ok(AwkValue::text(Bytes::new()));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the casts saturate")]
        let (skipped, taken) = (start as usize - 1, length as usize);
        if text.is_ascii() {
            let begin = skipped.min(text.len());
            let end = begin.saturating_add(taken).min(text.len());
            return Ok(AwkValue::text(&text[begin..end]));
        }
        let characters = self.encoding.characters(&text);
        Ok(AwkValue::text(characters.skip(skipped).take(taken).collect::<Vec<_>>().concat()))
    }

    /// `split(text, array [, separator [, separators]])`.
    pub(super) fn split_function(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let text = self.text(&arguments[0])?;
        let splitter = match arguments.get(2) {
            None => self.record.splitter.clone(),
            Some(AwkExpression::Regex(regex)) => FieldSplitter::Regex(self.constant(regex)?),
            Some(separator) => {
                let separator = self.text(separator)?;
                self.splitter(&separator, false)?
            }
        };
        let fields = split(&text, &splitter);
        let piece = |(start, end): (usize, usize)| AwkValue::Input(Bytes::from(&text[start..end]));
        if let Some(AwkExpression::Place(AwkPlace::Variable(variable))) = arguments.get(3) {
            let separators = fields.iter().take(fields.len().saturating_sub(1));
            self.array(*variable)?.borrow_mut().fill(separators.map(|field| piece(field.separator)));
        }
        if let AwkExpression::Place(AwkPlace::Variable(variable)) = &arguments[1] {
            self.array(*variable)?.borrow_mut().fill(fields.iter().map(|field| piece(field.range)));
        }
        Ok(Self::count_value(fields.len()))
    }

    /// `match(text, regex [, array])`.
    pub(super) fn match_function(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let text = self.text(&arguments[0])?;
        let regex = self.regex_of(&arguments[1])?;
        let Ok(captures) = regex.captures(&text, 0) else {
            return self.fatal("regular expression needs too many steps");
        };
        let encoding = self.encoding;
        let place = |start: usize, end: usize| {
            (encoding.count(&text[..start]) + 1, encoding.count(&text[start..end]))
        };
        if let Some(AwkExpression::Place(AwkPlace::Variable(variable))) = arguments.get(2) {
            let array = self.array(*variable)?;
            let mut array = array.borrow_mut();
            array.clear();
            for (index, group) in captures.iter().flatten().enumerate() {
                let Some(range) = group else { continue };
                let (start, length) = place(range.start, range.end);
                array.set(Bytes::from(index.to_string()), AwkValue::Input(text[range.clone()].into()));
                for (name, value) in [("start", start), ("length", length)] {
                    let key = [index.to_string().as_bytes(), &self.special.subsep, name.as_bytes()].concat();
                    array.set(key.into(), Self::count_value(value));
                }
            }
        }
        let found = captures.and_then(|captures| captures.into_iter().next().flatten());
        let (start, length) = found.map_or((0, None), |range| {
            let (start, length) = place(range.start, range.end);
            (start, Some(length))
        });
        self.special.rstart = Self::count_value(start).to_number();
        self.special.rlength = length.map_or(-1.0, |length| Self::count_value(length).to_number());
        Ok(Self::count_value(start))
    }

    /// A number in decimal, hexadecimal or octal.
    pub(super) fn strtonum(&mut self, argument: &AwkExpression) -> Evaluated<AwkValue> {
        let value = self.evaluate(argument)?;
        let (AwkValue::Text(text) | AwkValue::Input(text)) = &value else {
            return Ok(AwkValue::Number(value.to_number()));
        };
        let trimmed = text.trim_ascii_start();
        let is_negative = trimmed.first() == Some(&b'-');
        let unsigned = trimmed.strip_prefix(b"-").or(trimmed.strip_prefix(b"+")).unwrap_or(trimmed);
        let (digits, radix) = match unsigned {
            [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
            [b'0', digits @ ..]
                if digits.first().is_some_and(u8::is_ascii_digit)
                    && !digits.iter().any(|byte| b".eE89".contains(byte)) =>
            {
                (digits, 8)
            }
            _ => return Ok(AwkValue::Number(number::value(text))),
        };
        let value = digits
            .iter()
            .map_while(|digit| char::from(*digit).to_digit(radix))
            .fold(0.0, |value, digit| value * f64::from(radix) + f64::from(digit));
        Ok(AwkValue::Number(if is_negative { -value } else { value }))
    }
}
