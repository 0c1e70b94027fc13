//! Integer arguments.

use crate::encoding::Encoding;

/// Why a text is not exactly the number that was parsed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The text is not a number, or text follows the number.
    Invalid,
    /// The text begins with `0` and is not an octal number.
    InvalidOctal,
    /// The text begins with `0x` and is not a hexadecimal number.
    InvalidHex,
    /// The number is too large; the result is the nearest number.
    OutOfRange,
}

impl NumberError {
    /// Returns the message of bash.
    #[must_use]
    pub fn message(self, text: &[u8]) -> Vec<u8> {
        let (before, after) = match self {
            Self::Invalid => ("", "invalid number"),
            Self::InvalidOctal => ("", "invalid octal number"),
            Self::InvalidHex => ("", "invalid hex number"),
            Self::OutOfRange => ("warning: ", "Numerical result out of range"),
        };
        [before.as_bytes(), text, b": ", after.as_bytes()].concat()
    }
}

/// Parses an integer as `strtoimax` does: leading blanks, a sign, the prefixes `0x` and `0`. Text after the number is an error, but the
/// number is returned too.
#[must_use]
pub fn parse_integer(text: &[u8]) -> (i128, Option<NumberError>) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let trimmed = &text[start..];
    let (negative, digits) = match trimmed {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (radix, body) = match digits {
        [b'0', b'x' | b'X', next, ..] if next.is_ascii_hexdigit() => (16, &digits[2..]),
        [b'0', ..] => (8, digits),
        _ => (10, digits),
    };
    let count = body.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let magnitude = body[..count]
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(radix))
        .fold(0i128, |value, digit| {
            value.saturating_mul(i128::from(radix)).saturating_add(i128::from(digit))
        });
    let value = if negative { magnitude.saturating_neg() } else { magnitude };
    let complete = count == body.len() && (count > 0 || text.is_empty());
    (value, (!complete).then(|| problem(digits)))
}

fn problem(digits: &[u8]) -> NumberError {
    match digits {
        [b'0', b'x' | b'X', ..] => NumberError::InvalidHex,
        [b'0', next, ..] if next.is_ascii_digit() => NumberError::InvalidOctal,
        _ => NumberError::Invalid,
    }
}

/// Returns the code of the character after a leading quote.
pub(super) fn quoted_character(text: &[u8], encoding: Encoding) -> Option<u32> {
    let ([b'\'', rest @ ..] | [b'"', rest @ ..]) = text else { return None };
    let length = encoding.character_length(rest);
    let letter = std::str::from_utf8(&rest[..length]).ok().and_then(|text| text.chars().next());
    Some(letter.map_or_else(|| rest.first().copied().map_or(0, u32::from), u32::from))
}
