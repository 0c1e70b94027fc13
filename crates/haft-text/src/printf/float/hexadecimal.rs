//! Floating-point numbers in hexadecimal.

use super::big::Big;
use super::{Digits, Extended, exponent, mantissa};

/// Parses `0x1.8p3`. Returns the number, the bytes used, and whether it is out of range.
pub(super) fn parse(body: &[u8], negative: bool) -> Option<(Extended, usize, bool)> {
    let [b'0', b'x' | b'X', rest @ ..] = body else { return None };
    let (digits, fraction, used) = mantissa(rest, 16);
    if used == 0 {
        return None;
    }
    let (power, more) = exponent(&rest[used..], b'p');
    let mut number = Big::default();
    for digit in digits {
        number.multiply_add(16, digit);
    }
    let (result, range) = Extended::rounded(negative, &number, power - 4 * fraction, false);
    Some((result, 2 + used + more, range))
}

/// Formats a number with its first four bits before the point.
pub(super) fn format(
    mut prefix: Vec<u8>,
    mut mantissa: u64,
    exponent: i32,
    precision: Option<usize>,
    alternate: bool,
    upper: bool,
) -> Digits {
    prefix.extend_from_slice(b"0x");
    let mut power = if mantissa == 0 { 0 } else { exponent + 60 };
    if let Some(places @ 0..=14) = precision {
        let dropped = 60 - 4 * u32::try_from(places).unwrap_or(0);
        let half = 1u64 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa -= rest;
        let odd = mantissa >> dropped & 1 == 1;
        if rest > half || (rest == half && odd) {
            match mantissa.checked_add(1 << dropped) {
                Some(next) => mantissa = next,
                None => (mantissa, power) = (1 << 60, power + 4),
            }
        }
    }
    let nibbles = format!("{mantissa:016x}");
    let (lead, fraction) = nibbles.split_at(1);
    let fraction = match precision {
        Some(places) => format!("{:0<places$}", fraction.get(..places).unwrap_or(fraction)),
        None => fraction.trim_end_matches('0').to_owned(),
    };
    let point = if fraction.is_empty() && !alternate { "" } else { "." };
    let text = format!("{lead}{point}{fraction}p{power:+}");
    if upper {
        prefix.make_ascii_uppercase();
    }
    let digits = if upper { text.to_ascii_uppercase() } else { text };
    Digits { prefix, digits: digits.into_bytes(), allows_zeros: true }
}
