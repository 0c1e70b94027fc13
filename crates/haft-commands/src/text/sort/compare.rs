//! The orders of `sort`: numbers, sizes, months and versions.

use std::cmp::Ordering;

/// Whether a byte separates fields.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// The text without leading blanks.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    &text[blanks..]
}

/// A decimal number: its sign, the digits before the point without leading zeros, and the digits after it without trailing zeros.
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The text after the number.
    rest: &'a [u8],
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|digit| **digit == b'0').count()..]
}

fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    &digits[..digits.len() - digits.iter().rev().take_while(|digit| **digit == b'0').count()]
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a [u8]) -> Self {
        let text = skip_blanks(text);
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (whole, mut rest) = split_digits(text);
        let mut fraction: &[u8] = b"";
        if let Some(after) = rest.strip_prefix(b".") {
            (fraction, rest) = split_digits(after);
        }
        let (whole, fraction) = (without_leading_zeros(whole), without_trailing_zeros(fraction));
        let is_zero = whole.is_empty() && fraction.is_empty();
        Self { negative: negative && !is_zero, whole, fraction, rest }
    }

    fn magnitude(&self) -> (usize, &[u8], &[u8]) {
        (self.whole.len(), self.whole, self.fraction)
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude().cmp(&other.magnitude()),
            (true, true) => other.magnitude().cmp(&self.magnitude()),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    /// The power of a suffix such as `K`, with the sign of the number. Zero has none.
    fn unit(&self) -> i32 {
        if self.whole.is_empty() && self.fraction.is_empty() {
            return 0;
        }
        let power = match self.rest.first() {
            Some(b'k' | b'K') => 1,
            Some(b'M') => 2,
            Some(b'G') => 3,
            Some(b'T') => 4,
            Some(b'P') => 5,
            Some(b'E') => 6,
            Some(b'Z') => 7,
            Some(b'Y') => 8,
            _ => 0,
        };
        if self.negative { -power } else { power }
    }
}

/// The order of `-n`.
pub(super) fn numeric(first: &[u8], second: &[u8]) -> Ordering {
    Decimal::parse(first).compare(&Decimal::parse(second))
}

/// The whole part of a number, as one that orders most numbers.
pub(super) fn numeric_prefix(text: &[u8]) -> u64 {
    const ZERO: u64 = 1 << 63;
    const MAX_DIGITS: usize = 18;
    let number = Decimal::parse(text);
    let magnitude = match number.whole.len() > MAX_DIGITS {
        true => 10u64.pow(MAX_DIGITS as u32),
        false => number.whole.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')),
    };
    if number.negative { ZERO - magnitude } else { ZERO + magnitude }
}

/// The order of `-h`: by suffix first.
pub(super) fn human(first: &[u8], second: &[u8]) -> Ordering {
    let (first, second) = (Decimal::parse(first), Decimal::parse(second));
    first.unit().cmp(&second.unit()).then_with(|| first.compare(&second))
}

/// The number of a month, or 0.
pub(super) fn month(text: &[u8]) -> usize {
    const MONTHS: &[u8] = b"JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    let text = skip_blanks(text);
    let Some(name) = text.get(..3) else { return 0 };
    MONTHS.chunks(3).position(|month| month.eq_ignore_ascii_case(name)).map_or(0, |index| index + 1)
}

/// The order of `-V`.
pub(crate) fn version(first: &[u8], second: &[u8]) -> Ordering {
    let special = |text: &[u8]| match text {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    let (first_rank, second_rank) = (special(first), special(second));
    if first_rank != second_rank || first_rank < 3 {
        return first_rank.cmp(&second_rank);
    }
    let stems = [first, second].map(|text| &text[..stem_length(text)]);
    version_parts(stems[0], stems[1]).then_with(|| version_parts(first, second))
}

/// The length of a file name without suffixes such as `.tar.gz`.
fn stem_length(name: &[u8]) -> usize {
    let (mut position, mut stem) = (0, 0);
    loop {
        while let [b'.', b'a'..=b'z' | b'A'..=b'Z' | b'~', after @ ..] = &name[position..] {
            position += 2;
            position +=
                after.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'~').count();
        }
        if position == name.len() {
            return stem;
        }
        position += 1;
        stem = position;
    }
}

/// Compares text and numbers in turn. `~` sorts before the end, letters before other characters.
fn version_parts(mut first: &[u8], mut second: &[u8]) -> Ordering {
    let starts_with_text = |text: &[u8]| text.first().is_some_and(|byte| !byte.is_ascii_digit());
    while !first.is_empty() || !second.is_empty() {
        while starts_with_text(first) || starts_with_text(second) {
            let order = version_rank(first).cmp(&version_rank(second));
            if order != Ordering::Equal {
                return order;
            }
            (first, second) = (first.get(1..).unwrap_or(b""), second.get(1..).unwrap_or(b""));
        }
        let (first_number, second_number);
        (first_number, first) = split_digits(first);
        (second_number, second) = split_digits(second);
        let numbers = [first_number, second_number].map(without_leading_zeros);
        let order = numbers[0].len().cmp(&numbers[1].len()).then_with(|| numbers[0].cmp(numbers[1]));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn version_rank(text: &[u8]) -> i32 {
    match text.first() {
        None => -1,
        Some(b'~') => -2,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}
