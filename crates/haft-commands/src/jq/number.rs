//! Numbers: decimals as they were written, and doubles as text.

use std::cmp::Ordering;

use super::value::Value;

/// The digits that are kept when a decimal becomes a double.
const DOUBLE_DIGITS: usize = 17;

/// Integers with at most this many digits are exact doubles and print as they were written.
const PLAIN_DIGITS: usize = 15;

/// The largest exponent of a decimal.
const MAX_EXPONENT: i64 = 999_999_999;

/// A number as it was written.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    /// The nearest double.
    pub(super) double: f64,
    text: Box<str>,
    negative: bool,
    /// The digits without leading zeros. Empty for zero.
    digits: Box<[u8]>,
    exponent: i64,
}

impl Decimal {
    /// The number as text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Compares two decimals exactly.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let sign = |decimal: &Self| match (decimal.digits.is_empty(), decimal.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (a, b) = (sign(self), sign(other));
        match a.cmp(&b) {
            Ordering::Equal if a > 0 => self.compare_magnitude(other),
            Ordering::Equal if a < 0 => other.compare_magnitude(self),
            order => order,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let leading = |decimal: &Self| decimal.digits.len() as i64 + decimal.exponent;
        leading(self).cmp(&leading(other)).then_with(|| {
            let length = self.digits.len().max(other.digits.len());
            let digit = |decimal: &Self, index: usize| decimal.digits.get(index).copied().unwrap_or(b'0');
            let pairs = (0..length).map(|index| digit(self, index).cmp(&digit(other, index)));
            pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })
    }
}

/// Parses a number of JSON text. Besides numbers, this takes `nan` and `infinity`. `None` if the text is none of them.
pub(super) fn parse_number(text: &[u8]) -> Option<Value> {
    if let Some(plain) = parse_plain(text) {
        return Some(Value::Number(plain));
    }
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if let Some(special) = parse_special(rest, negative) {
        return Some(special);
    }
    let (digits, exponent) = split_decimal(rest)?;
    Some(decimal_value(negative, &digits, exponent))
}

/// Short integers, the usual case.
fn parse_plain(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let is_plain = match digits {
        [] => false,
        [b'0'] => true,
        [first, ..] => *first != b'0' && digits.len() <= PLAIN_DIGITS,
    };
    if !is_plain || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0')) as f64;
    Some(if negative { -number } else { number })
}

fn parse_special(text: &[u8], negative: bool) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    if matches!(&*lower, b"inf" | b"infinity") {
        return Some(Value::Number(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    let payload = lower.strip_prefix(b"s").unwrap_or(&lower).strip_prefix(b"nan")?;
    payload.iter().all(u8::is_ascii_digit).then_some(Value::Number(f64::NAN))
}

/// The digits of a decimal, and its exponent.
fn split_decimal(text: &[u8]) -> Option<(Vec<u8>, i64)> {
    let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = match mark {
        None => (text, 0),
        Some(mark) => (&text[..mark], parse_exponent(&text[mark + 1..])?),
    };
    let mut digits = Vec::with_capacity(mantissa.len());
    let mut fraction = None;
    for byte in mantissa {
        match byte {
            b'0'..=b'9' => digits.push(*byte),
            b'.' if fraction.is_none() => fraction = Some(digits.len()),
            _ => return None,
        }
    }
    let decimals = fraction.map_or(0, |whole| digits.len() - whole);
    (!digits.is_empty()).then_some((digits, exponent - decimals as i64))
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number =
        digits.iter().fold(0_i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(i64::MAX / 100));
    Some(if negative { -number } else { number })
}

fn decimal_value(negative: bool, written: &[u8], exponent: i64) -> Value {
    let zeros = written.iter().take_while(|digit| **digit == b'0').count();
    let digits: Box<[u8]> = written[zeros..].into();
    let double = to_double(negative, &digits, exponent);
    let adjusted = exponent + digits.len().max(1) as i64 - 1;
    let text =
        (-MAX_EXPONENT..=MAX_EXPONENT).contains(&adjusted).then(|| decimal_text(negative, &digits, exponent));
    match text {
        // Long decimals are compared digit by digit.
        Some(text) if digits.len() > PLAIN_DIGITS || text != format_double(double) => {
            Value::Decimal(std::rc::Rc::new(Decimal {
                double,
                text: text.into(),
                negative,
                digits,
                exponent,
            }))
        }
        _ => Value::Number(double),
    }
}

/// The nearest double of a decimal that is first rounded to 17 digits, half to even.
fn to_double(negative: bool, digits: &[u8], mut exponent: i64) -> f64 {
    let mut kept = digits.to_vec();
    if kept.len() > DOUBLE_DIGITS {
        exponent += (kept.len() - DOUBLE_DIGITS) as i64;
        let dropped = kept.split_off(DOUBLE_DIGITS);
        let is_half = dropped[0] == b'5' && dropped[1..].iter().all(|digit| *digit == b'0');
        let is_odd = kept[DOUBLE_DIGITS - 1] % 2 == 1;
        if dropped[0] >= b'5' && (!is_half || is_odd) {
            round_up(&mut kept, &mut exponent);
        }
    }
    let sign = if negative { "-" } else { "" };
    let text = match kept.is_empty() {
        true => format!("{sign}0"),
        false => format!("{sign}{}e{exponent}", String::from_utf8_lossy(&kept)),
    };
    text.parse().unwrap_or(f64::NAN)
}

fn round_up(digits: &mut Vec<u8>, exponent: &mut i64) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
    digits.pop();
    *exponent += 1;
}

/// A decimal in the scientific notation of the General Decimal Arithmetic: an exponent only where it is needed.
fn decimal_text(negative: bool, digits: &[u8], exponent: i64) -> String {
    let mut text = String::from(if negative { "-" } else { "" });
    let digits = if digits.is_empty() { b"0" } else { digits };
    let shown = String::from_utf8_lossy(digits);
    let count = digits.len() as i64;
    let adjusted = exponent + count - 1;
    if exponent <= 0 && adjusted >= -6 {
        let whole = count + exponent;
        if exponent == 0 {
            text.push_str(&shown);
        } else if let Ok(whole @ 1..) = usize::try_from(whole) {
            text.push_str(&shown[..whole]);
            text.push('.');
            text.push_str(&shown[whole..]);
        } else {
            text.push_str("0.");
            text.extend(std::iter::repeat_n('0', usize::try_from(-whole).unwrap_or(0)));
            text.push_str(&shown);
        }
        return text;
    }
    text.push_str(&shown[..1]);
    if digits.len() > 1 {
        text.push('.');
        text.push_str(&shown[1..]);
    }
    text.push_str(&format!("E{adjusted:+}"));
    text
}

/// A double as `jq` prints it: the shortest digits that read back as the same number. Infinities are the largest numbers.
pub(super) fn format_double(number: f64) -> String {
    let mut text = String::new();
    write_double(&mut text, number);
    text
}

/// Appends a double to text.
pub(super) fn write_double(text: &mut String, number: f64) {
    use std::fmt::Write as _;
    if number.is_nan() {
        text.push_str("null");
        return;
    }
    let number = number.clamp(-f64::MAX, f64::MAX);
    if number.trunc() == number && number.abs() < 1e15 && !(number == 0.0 && number.is_sign_negative()) {
        let _ = write!(text, "{}", number as i64);
        return;
    }
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    if number.is_sign_negative() {
        text.push('-');
    }
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if number == 0.0 {
        text.push('0');
    } else if point <= -4 || point > count + 15 {
        text.push_str(&digits[..1]);
        if digits.len() > 1 {
            text.push('.');
            text.push_str(&digits[1..]);
        }
        let sign = if point < 1 { '-' } else { '+' };
        let _ = write!(text, "e{sign}{:02}", (point - 1).abs());
    } else {
        write_positional(text, &digits, point);
    }
}

fn write_positional(text: &mut String, digits: &str, point: i32) {
    match usize::try_from(point) {
        Ok(whole @ 1..) if whole < digits.len() => {
            text.push_str(&digits[..whole]);
            text.push('.');
            text.push_str(&digits[whole..]);
        }
        Ok(whole @ 1..) => {
            text.push_str(digits);
            text.extend(std::iter::repeat_n('0', whole - digits.len()));
        }
        _ => {
            text.push_str("0.");
            text.extend(std::iter::repeat_n('0', usize::try_from(-point).unwrap_or(0)));
            text.push_str(digits);
        }
    }
}
