//! The order of `sort -g`: floating-point numbers.

use std::cmp::Ordering;

use super::long_double::{self, Rounded};

/// A number as `strtold` reads it. GNU compares with 64 bits of precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum General {
    NotANumber,
    /// NaN, without and with a sign.
    Nan {
        negative: bool,
    },
    Finite(Number),
    Infinite {
        negative: bool,
    },
}

/// A finite number, 0.DIGITS × 10^exponent, without leading and trailing zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    negative: bool,
    exponent: i64,
    digits: Vec<u8>,
}

/// The most decimal digits that always fit in 64 bits of precision.
const MAX_DIGITS: usize = 18;

/// Numbers up to 10 to this power are finite and not subnormal.
const MAX_EXPONENT: i64 = 4900;

/// Numbers from 10 to this power are infinite.
const INFINITE_EXPONENT: i64 = 4934;

/// Numbers below 10 to this power are 0.
const ZERO_EXPONENT: i64 = -4952;

impl General {
    /// Parses the number at the start of a text. Returns `None` for forms that are not supported: NaN with bits, hexadecimal fractions,
    /// and numbers too small for the full precision.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii_start();
        let text = text.strip_prefix(b"\x0b").map_or(text, |rest| rest.trim_ascii_start());
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let starts =
            |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if starts(b"inf") {
            return Some(Self::Infinite { negative });
        }
        // The text in parentheses sets bits.
        if starts(b"nan(") {
            return None;
        }
        if starts(b"nan") {
            return Some(Self::Nan { negative });
        }
        if let [b'0', b'x' | b'X', rest @ ..] = text
            && rest.iter().find(|byte| **byte != b'.').is_some_and(u8::is_ascii_hexdigit)
        {
            return parse_hexadecimal(rest, negative);
        }
        parse_decimal(text, negative)
    }

    fn rank(&self) -> u8 {
        match self {
            Self::NotANumber => 0,
            Self::Nan { negative: false } => 1,
            Self::Nan { negative: true } => 2,
            Self::Infinite { negative: true } => 3,
            Self::Finite(_) => 4,
            Self::Infinite { negative: false } => 5,
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Finite(first), Self::Finite(second)) => first.compare(second),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Number {
    /// The sign of the number: -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| match self.sign() {
            0 => Ordering::Equal,
            1 => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        })
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let by_exponent = self.exponent.cmp(&other.exponent);
        if self.is_exact() && other.is_exact() {
            return by_exponent.then_with(|| self.digits.cmp(&other.digits));
        }
        // Only neighbours can be rounded to the same number.
        match (self.exponent - other.exponent).abs() {
            0 | 1 => self.rounded().cmp(&other.rounded()),
            _ => by_exponent,
        }
    }

    /// Whether 64 bits hold the number, or tell it from others that they hold.
    fn is_exact(&self) -> bool {
        self.digits.len() <= MAX_DIGITS || is_small_integer(&self.digits, self.exponent)
    }

    fn rounded(&self) -> Rounded {
        let digits = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        long_double::round(&self.digits, self.exponent - digits)
    }
}

fn parse_decimal(text: &[u8], negative: bool) -> Option<General> {
    let count = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, rest) = text.split_at(count(text));
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(rest) => rest.split_at(count(rest)),
        None => (b"".as_slice(), rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Some(General::NotANumber);
    }
    let mut digits = [whole, fraction].concat();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..zeros);
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    let exponent = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()? + exponent(rest);
    let number = Number { negative, exponent, digits };
    if number.digits.is_empty() || exponent.abs() <= MAX_EXPONENT {
        return Some(General::Finite(number));
    }
    match exponent {
        INFINITE_EXPONENT.. => Some(General::Infinite { negative }),
        // 0 as all numbers that are too small.
        ..=ZERO_EXPONENT => Some(General::Finite(Number { negative, exponent: 0, digits: Vec::new() })),
        _ => None,
    }
}

/// Whether 0.DIGITS × 10^exponent is an integer of at most 64 bits.
fn is_small_integer(digits: &[u8], exponent: i64) -> bool {
    let Some(zeros) = usize::try_from(exponent).ok().and_then(|length| length.checked_sub(digits.len()))
    else {
        return false;
    };
    let text = [digits, b"0".repeat(zeros.min(MAX_DIGITS)).as_slice()].concat();
    str::from_utf8(&text).is_ok_and(|text| text.parse::<u64>().is_ok())
}

/// The exponent `e[+-]DIGITS` at the start of a text, or 0.
fn exponent(text: &[u8]) -> i64 {
    let [b'e' | b'E', text @ ..] = text else { return 0 };
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0i64, |number, digit| (number * 10 + i64::from(digit - b'0')).min(1 << 32));
    if negative { -number } else { number }
}

/// Parses the digits of a hexadecimal integer of at most 64 bits.
fn parse_hexadecimal(text: &[u8], negative: bool) -> Option<General> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let number = u64::from_str_radix(std::str::from_utf8(&text[..digits]).ok()?, 16).ok()?;
    match text.get(digits) {
        Some(b'p' | b'P' | b'.') => None,
        _ => parse_decimal(number.to_string().as_bytes(), negative),
    }
}
