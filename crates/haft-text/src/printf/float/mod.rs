//! Floating-point numbers with 64 bits of mantissa.

mod big;
mod decimal;
mod hexadecimal;

use self::big::Big;
use self::decimal::Decimal;
use super::directive::PrintfFlags;
use super::number::NumberError;
use super::pad::{self, Digits};

/// A floating-point number of the x87: 64 bits of mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extended {
    negative: bool,
    value: FloatValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FloatValue {
    /// `mantissa × 2^exponent`; the highest bit of the mantissa is set unless it is 0.
    Finite {
        mantissa: u64,
        exponent: i32,
    },
    Infinite,
    NotANumber,
}

/// The powers of two of the lowest and the highest bit that a number can have.
const BIT_EXPONENTS: std::ops::RangeInclusive<i64> = -16445..=16383;

/// How many decimal digits are parsed exactly. Of further digits it only matters whether one is not zero.
const MAX_EXACT_DIGITS: usize = 20_000;

/// A number whose decimal exponent is beyond this is infinite or zero.
const MAX_DECIMAL_EXPONENT: i64 = 6000;

impl Extended {
    pub(super) fn from_integer(value: u64) -> Self {
        Self::rounded(false, &Big::from_u64(value), 0, false).0
    }

    const ZERO: FloatValue = FloatValue::Finite { mantissa: 0, exponent: 0 };

    /// Rounds `number × 2^exponent` to the nearest number, and tells whether that is out of range. `sticky` says that the exact value is a
    /// little larger.
    fn rounded(negative: bool, number: &Big, exponent: i64, sticky: bool) -> (Self, bool) {
        let bits = number.bits();
        if bits == 0 {
            return (Self { negative, value: Self::ZERO }, false);
        }
        // Subnormal numbers have fewer bits, because no bit lies below the lowest exponent.
        let below = usize::try_from(BIT_EXPONENTS.start() - exponent).unwrap_or(0);
        let excess = bits.saturating_sub(64).max(below);
        let mut mantissa = number.window(excess);
        let mut exponent = exponent + excess as i64;
        if excess > 0
            && number.bit(excess - 1)
            && (sticky || number.any_below(excess - 1) || mantissa & 1 == 1)
        {
            match mantissa.checked_add(1) {
                Some(next) => mantissa = next,
                None => (mantissa, exponent) = (1 << 63, exponent + 1),
            }
        }
        if mantissa == 0 {
            return (Self { negative, value: Self::ZERO }, true);
        }
        let shift = mantissa.leading_zeros();
        mantissa <<= shift;
        exponent -= i64::from(shift);
        let value = match exponent + 63 {
            top if top > *BIT_EXPONENTS.end() => {
                return (Self { negative, value: FloatValue::Infinite }, true);
            }
            top if top < *BIT_EXPONENTS.start() => return (Self { negative, value: Self::ZERO }, true),
            _ => FloatValue::Finite { mantissa, exponent: i32::try_from(exponent).unwrap_or(0) },
        };
        (Self { negative, value }, false)
    }
}

/// Parses a number as `strtold` does. Text after the number is an error, but the number is returned too.
pub(super) fn parse(text: &[u8]) -> (Extended, Option<NumberError>) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let trimmed = &text[start..];
    let (negative, body) = match trimmed {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (number, used, range) = if let Some((value, used)) = word(body) {
        (Extended { negative, value }, used, false)
    } else if let Some(hexadecimal) = hexadecimal::parse(body, negative) {
        hexadecimal
    } else {
        parse_decimal(body, negative)
    };
    let number = if used == 0 { Extended { negative: false, value: Extended::ZERO } } else { number };
    let problem = match (used == body.len() && (used > 0 || text.is_empty()), range) {
        (false, _) => Some(NumberError::Invalid),
        (true, true) => Some(NumberError::OutOfRange),
        (true, false) => None,
    };
    (number, problem)
}

fn word(body: &[u8]) -> Option<(FloatValue, usize)> {
    let begins = |name: &[u8]| body.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if begins(b"infinity") {
        Some((FloatValue::Infinite, 8))
    } else if begins(b"inf") {
        Some((FloatValue::Infinite, 3))
    } else if begins(b"nan") {
        Some((FloatValue::NotANumber, 3))
    } else {
        None
    }
}

/// Parses digits with an optional point. Returns the digits, how many of them follow the point, and the bytes used.
fn mantissa(body: &[u8], radix: u32) -> (Vec<u32>, i64, usize) {
    let (mut digits, mut fraction, mut point) = (Vec::new(), 0, false);
    let mut used = 0;
    for (index, &byte) in body.iter().enumerate() {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let Some(digit) = char::from(byte).to_digit(radix) else { break };
        digits.push(digit);
        fraction += i64::from(point);
        used = index + 1;
    }
    if point && used > 0 && body.get(used) == Some(&b'.') {
        used += 1;
    }
    (digits, fraction, used)
}

/// Parses an exponent after a letter. Returns its value and the bytes used; both are 0 if there are no digits.
fn exponent(rest: &[u8], letter: u8) -> (i64, usize) {
    let (Some(first), after) = (rest.first(), rest.get(1..).unwrap_or_default()) else { return (0, 0) };
    if !first.eq_ignore_ascii_case(&letter) {
        return (0, 0);
    }
    let (negative, digits, sign) = match after {
        [b'-', digits @ ..] => (true, digits, 1),
        [b'+', digits @ ..] => (false, digits, 1),
        digits => (false, digits, 0),
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return (0, 0);
    }
    let value = digits[..count].iter().fold(0i64, |value, digit| {
        value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 40)
    });
    (if negative { -value } else { value }, 1 + sign + count)
}

fn parse_decimal(body: &[u8], negative: bool) -> (Extended, usize, bool) {
    let (digits, fraction, mut used) = mantissa(body, 10);
    let zero = Extended { negative, value: Extended::ZERO };
    if used == 0 {
        return (zero, 0, false);
    }
    let (power, more) = exponent(&body[used..], b'e');
    used += more;
    let mut number = Big::default();
    for digit in digits.iter().take(MAX_EXACT_DIGITS) {
        number.multiply_add(10, *digit);
    }
    let dropped = digits.len().saturating_sub(MAX_EXACT_DIGITS);
    let sticky = digits.iter().skip(MAX_EXACT_DIGITS).any(|digit| *digit != 0);
    let power = power - fraction + dropped as i64;
    if number.is_zero() {
        return (zero, used, false);
    }
    let size = number.bits() as i64 * 3 / 10 + power;
    if size > MAX_DECIMAL_EXPONENT {
        return (Extended { negative, value: FloatValue::Infinite }, used, true);
    }
    if size < -MAX_DECIMAL_EXPONENT {
        return (zero, used, true);
    }
    let (result, range) = scale(negative, number, power, sticky);
    (result, used, range)
}

/// Returns `number × 10^power`, rounded, and tells whether it is out of range.
fn scale(negative: bool, mut number: Big, power: i64, sticky: bool) -> (Extended, bool) {
    let tens = usize::try_from(power.unsigned_abs()).unwrap_or(0);
    if power >= 0 {
        number.multiply_power(10, tens);
        return Extended::rounded(negative, &number, 0, sticky);
    }
    let mut divisor = Big::from_u64(1);
    divisor.multiply_power(10, tens);
    let shift = (divisor.bits() + 66).saturating_sub(number.bits());
    number.shift_left(shift);
    let (quotient, remainder) = number.divide(&divisor);
    Extended::rounded(negative, &quotient, -(shift as i64), sticky || remainder)
}

/// Formats a number by a conversion.
pub(super) fn format(
    number: &Extended,
    conversion: u8,
    precision: Option<usize>,
    flags: PrintfFlags,
) -> Digits {
    let prefix = pad::sign(number.negative, flags);
    let upper = conversion.is_ascii_uppercase();
    let (mantissa, exponent) = match number.value {
        FloatValue::Finite { mantissa, exponent } => (mantissa, exponent),
        FloatValue::Infinite => return word_digits(prefix, "inf", upper),
        FloatValue::NotANumber => return word_digits(prefix, "nan", upper),
    };
    if conversion.eq_ignore_ascii_case(&b'a') {
        return hexadecimal::format(prefix, mantissa, exponent, precision, flags.alternate, upper);
    }
    let decimal = Decimal::new(mantissa, exponent);
    let precision = precision.unwrap_or(6);
    let digits = match conversion.to_ascii_lowercase() {
        b'f' => fixed(decimal, precision, flags.alternate),
        b'e' => scientific(decimal, precision, flags.alternate),
        _ => general(decimal, precision, flags.alternate),
    };
    let digits = if upper { digits.to_ascii_uppercase() } else { digits };
    Digits { prefix, digits, allows_zeros: true }
}

fn word_digits(prefix: Vec<u8>, word: &str, upper: bool) -> Digits {
    let word = if upper { word.to_ascii_uppercase() } else { word.to_owned() };
    Digits { prefix, digits: word.into_bytes(), allows_zeros: false }
}

fn fixed(mut decimal: Decimal, precision: usize, alternate: bool) -> Vec<u8> {
    let places = precision as i64;
    decimal.round(decimal.point.saturating_add(places));
    let mut text: Vec<u8> = (-decimal.point.max(1)..0).map(|place| decimal.digit(place)).collect();
    if precision > 0 || alternate {
        text.push(b'.');
    }
    text.extend((0..places).map(|place| decimal.digit(place)));
    text
}

fn scientific(mut decimal: Decimal, precision: usize, alternate: bool) -> Vec<u8> {
    decimal.round(precision as i64 + 1);
    let exponent = decimal.exponent();
    let mut text = vec![decimal.digit(-decimal.point)];
    if precision > 0 || alternate {
        text.push(b'.');
    }
    text.extend((1..=precision as i64).map(|place| decimal.digit(place - decimal.point)));
    let sign = if exponent < 0 { '-' } else { '+' };
    text.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
    text
}

fn general(mut decimal: Decimal, precision: usize, alternate: bool) -> Vec<u8> {
    let significant = precision.max(1);
    decimal.round(significant as i64);
    let exponent = decimal.exponent();
    let last = significant as i64 - 1;
    // Trailing zeros are not shown.
    let shown = if alternate { significant as i64 } else { (decimal.digits.len() as i64).max(1) };
    if exponent < -4 || exponent > last {
        return scientific(decimal, usize::try_from(shown - 1).unwrap_or(0), alternate);
    }
    let places = if alternate { last - exponent } else { shown - 1 - exponent };
    fixed(decimal, usize::try_from(places).unwrap_or(0), alternate)
}
