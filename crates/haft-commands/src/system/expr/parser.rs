//! Parses and evaluates the words of `expr`.

use std::cmp::Ordering;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{GnuRegex, GnuRegexOptions, GnuSyntax};

use super::value::ExprValue;
use crate::status::USAGE_ERROR;
use crate::text::name::quoted_value;

/// The exit status for a number that is too large.
const TOO_LARGE: i32 = 3;

/// An error in an expression.
#[derive(Debug)]
pub(super) struct ExprError {
    pub(super) message: String,
    pub(super) status: i32,
}

impl ExprError {
    fn invalid(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: USAGE_ERROR }
    }

    fn too_large() -> Self {
        Self { message: "numbers have at most 38 digits".to_owned(), status: TOO_LARGE }
    }
}

type ExprResult = Result<ExprValue, ExprError>;

/// A cursor over the words. Operands that do not count are parsed but not evaluated.
pub(super) struct ExprParser<'a> {
    words: &'a [Bytes],
    at: usize,
    depth: usize,
    encoding: Encoding,
}

/// The binary operators of each level, from the lowest precedence.
const LEVELS: [&[&str]; 6] =
    [&["|"], &["&"], &["<", "<=", "=", "==", "!=", ">=", ">"], &["+", "-"], &["*", "/", "%"], &[":"]];

impl<'a> ExprParser<'a> {
    pub(super) fn new(words: &'a [Bytes], encoding: Encoding) -> Self {
        Self { words, at: 0, depth: 0, encoding }
    }

    pub(super) fn evaluate(mut self) -> ExprResult {
        let value = self.binary(0, true)?;
        match self.words.get(self.at) {
            None => Ok(value),
            Some(word) => {
                let shown = self.quoted(word);
                Err(ExprError::invalid(format!("syntax error: unexpected argument {shown}")))
            }
        }
    }

    fn quoted(&self, word: &Bytes) -> String {
        quoted_value(word, self.encoding)
    }

    /// Consumes the next word if it is `expected`.
    fn takes(&mut self, expected: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|word| *word == expected);
        self.at += usize::from(found);
        found
    }

    /// Returns the next word.
    fn next(&mut self) -> Result<&'a Bytes, ExprError> {
        let Some(word) = self.words.get(self.at) else {
            let before = self.quoted(&self.words[self.at - 1]);
            return Err(ExprError::invalid(format!("syntax error: missing argument after {before}")));
        };
        self.at += 1;
        Ok(word)
    }

    /// Operands and operators of a level and of those above.
    fn binary(&mut self, level: usize, counts: bool) -> ExprResult {
        let Some(operators) = LEVELS.get(level) else { return self.function(counts) };
        let mut left = self.binary(level + 1, counts)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            let right_counts = counts
                && match *operator {
                    "|" => left.is_null(),
                    "&" => !left.is_null(),
                    _ => true,
                };
            let right = self.binary(level + 1, right_counts)?;
            left = match *operator {
                "|" if !left.is_null() => left,
                "|" if right.is_null() => ExprValue::Integer(0),
                "|" => right,
                "&" if left.is_null() || right.is_null() => ExprValue::Integer(0),
                "&" => left,
                _ if !counts => left,
                ":" => self.matched(left, right)?,
                "+" | "-" | "*" | "/" | "%" => calculate(operator, &left, &right)?,
                _ => compare(operator, left, right)?,
            };
        }
        Ok(left)
    }

    /// `match`, `substr`, `index`, `length` and what they apply to.
    fn function(&mut self, counts: bool) -> ExprResult {
        if self.takes("+") {
            return Ok(ExprValue::Text(self.next()?.to_vec()));
        }
        if self.takes("length") {
            let text = self.function(counts)?.into_text();
            return Ok(count(self.encoding.count(&text)));
        }
        if self.takes("match") {
            let (text, regex) = (self.function(counts)?, self.function(counts)?);
            return if counts { self.matched(text, regex) } else { Ok(text) };
        }
        if self.takes("index") {
            let text = self.function(counts)?.into_text();
            let wanted = self.function(counts)?.into_text();
            let (text, wanted) = (self.characters(&text), self.characters(&wanted));
            let found = text.iter().position(|character| wanted.contains(character));
            return Ok(count(found.map_or(0, |index| index + 1)));
        }
        if self.takes("substr") {
            let text = self.function(counts)?.into_text();
            let (position, length) = (self.function(counts)?, self.function(counts)?);
            return Ok(ExprValue::Text(self.substring(&text, &position, &length)));
        }
        self.primary(counts)
    }

    fn primary(&mut self, counts: bool) -> ExprResult {
        if self.takes("(") {
            self.depth += 1;
            if self.depth > super::MAX_DEPTH {
                return Err(ExprError::invalid("expression is too deeply nested"));
            }
            let value = self.binary(0, counts)?;
            self.depth -= 1;
            if self.takes(")") {
                return Ok(value);
            }
            return Err(ExprError::invalid(match self.words.get(self.at) {
                Some(word) => format!("syntax error: expecting ')' instead of {}", self.quoted(word)),
                None => {
                    let before = self.quoted(&self.words[self.at - 1]);
                    format!("syntax error: expecting ')' after {before}")
                }
            }));
        }
        let word = self.next()?;
        match *word == ")" {
            true => Err(ExprError::invalid("syntax error: unexpected ')'")),
            false => Ok(ExprValue::Text(word.to_vec())),
        }
    }

    /// Matches at the start of a text.
    fn matched(&self, text: ExprValue, regex: ExprValue) -> ExprResult {
        let (text, pattern) = (text.into_text(), regex.into_text());
        let options = GnuRegexOptions::new(GnuSyntax::GrepBasic, self.encoding);
        let regex =
            GnuRegex::new(&pattern, options).map_err(|error| ExprError::invalid(error.to_string()))?;
        let captures = regex
            .captures(&text, 0)
            .map_err(|_| ExprError::invalid("error in regular expression matcher"))?
            .filter(|captures| captures[0].as_ref().is_some_and(|range| range.start == 0));
        Ok(match captures {
            None if regex.groups() > 0 => ExprValue::Text(Vec::new()),
            None => ExprValue::Integer(0),
            Some(captures) => match captures.get(1) {
                Some(group) => {
                    ExprValue::Text(group.clone().map_or_else(Vec::new, |group| text[group].to_vec()))
                }
                None => {
                    let end = captures[0].as_ref().map_or(0, |range| range.end);
                    count(self.encoding.count(&text[..end]))
                }
            },
        })
    }

    fn characters<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        self.encoding.characters(text).collect()
    }

    fn substring(&self, text: &[u8], position: &ExprValue, length: &ExprValue) -> Vec<u8> {
        let number = |value: &ExprValue| value.integer().map_or(0, |number| number.unwrap_or(i128::MAX));
        let (position, length) = (number(position), number(length));
        if position < 1 || length < 1 {
            return Vec::new();
        }
        let skipped = usize::try_from(position - 1).unwrap_or(usize::MAX);
        let taken = usize::try_from(length).unwrap_or(usize::MAX);
        self.characters(text).into_iter().skip(skipped).take(taken).collect::<Vec<_>>().concat()
    }
}

fn count(number: usize) -> ExprValue {
    ExprValue::Integer(number as i128)
}

fn calculate(operator: &str, left: &ExprValue, right: &ExprValue) -> ExprResult {
    let number = |value: &ExprValue| match value.integer() {
        None => Err(ExprError::invalid("non-integer argument")),
        Some(Err(())) => Err(ExprError::too_large()),
        Some(Ok(number)) => Ok(number),
    };
    let (left, right) = (number(left)?, number(right)?);
    if right == 0 && matches!(operator, "/" | "%") {
        return Err(ExprError::invalid("division by zero"));
    }
    let result = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.map(ExprValue::Integer).ok_or_else(ExprError::too_large)
}

fn compare(operator: &str, left: ExprValue, right: ExprValue) -> ExprResult {
    let order = match (left.integer(), right.integer()) {
        (Some(Ok(left)), Some(Ok(right))) => left.cmp(&right),
        (Some(_), Some(_)) => return Err(ExprError::too_large()),
        _ => left.into_text().cmp(&right.into_text()),
    };
    Ok(ExprValue::Integer(i128::from(match operator {
        "<" => order == Ordering::Less,
        "<=" => order != Ordering::Greater,
        "=" | "==" => order == Ordering::Equal,
        "!=" => order != Ordering::Equal,
        ">=" => order != Ordering::Less,
        _ => order == Ordering::Greater,
    })))
}
