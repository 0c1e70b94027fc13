//! The tokens of `date --date`.

use super::words::{DateUnit, meaning};

/// A token of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateToken {
    Number(DateNumber),
    Month(i64),
    Day(i64),
    /// The hours to add: 0 or 12.
    Meridian(i64),
    Ago,
    /// `tomorrow` and similar words.
    DayShift(i64),
    Ordinal(i64),
    Unit(DateUnit),
    /// Minutes east of Greenwich.
    Zone(i64),
    /// The `T` between date and time.
    Separator,
    /// `:`, `/`, `-`, `,` or `@`.
    Symbol(u8),
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateNumber {
    pub(super) value: i64,
    pub(super) digits: usize,
    pub(super) is_signed: bool,
    pub(super) is_negative: bool,
    /// Nanoseconds, if there is a decimal point.
    pub(super) fraction: Option<u32>,
    /// Whether a blank precedes it.
    pub(super) is_apart: bool,
}

/// Splits a time into tokens. `None` if it has an unknown word or character.
pub(super) fn tokens(text: &str) -> Option<Vec<DateToken>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut is_apart = true;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_whitespace() {
            rest = &rest[1..];
            is_apart = true;
            continue;
        }
        let length = if first == '(' {
            comment(rest)?
        } else if first.is_ascii_alphabetic() {
            let length = rest.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'.').count();
            found.push(meaning(&rest[..length])?);
            length
        } else if let Some((number, length)) = number(rest, is_apart) {
            found.push(DateToken::Number(number));
            length
        } else if ":/-,@".contains(first) {
            found.push(DateToken::Symbol(first as u8));
            1
        } else {
            return None;
        };
        rest = &rest[length..];
        is_apart = false;
    }
    Some(found)
}

/// The length of a comment in parentheses.
fn comment(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Parses the number at the start of a text, and returns its length.
fn number(text: &str, is_apart: bool) -> Option<(DateNumber, usize)> {
    let unsigned = text.trim_start_matches(['+', '-']);
    let sign = text.len() - unsigned.len();
    // A sign directly after something separates the parts of a date.
    let is_signed = sign > 0;
    if sign > 1 {
        return None;
    }
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let is_negative = text.starts_with('-');
    let value: i64 = unsigned[..digits].parse().ok()?;
    let mut length = sign + digits;
    let mut fraction = None;
    if let Some(decimals) = unsigned[digits..].strip_prefix(['.', ',']) {
        let count = decimals.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 {
            let kept: String = decimals[..count].chars().chain("000000000".chars()).take(9).collect();
            fraction = kept.parse().ok();
            length += 1 + count;
        }
    }
    let value = if is_negative { -value } else { value };
    Some((DateNumber { value, digits, is_signed, is_negative, fraction, is_apart }, length))
}
