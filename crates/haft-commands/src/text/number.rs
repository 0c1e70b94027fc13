//! Numbers in the arguments of text commands.

/// Parses a count with one of GNU's suffixes: `b` is 512, `kB` 1000, `K` and `KiB` 1024, and so on. A larger count than fits is
/// the largest.
pub(crate) fn parse_size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, suffix) = text.split_at(digits);
    let factor = match suffix {
        b"" => 1,
        b"b" => 512,
        _ => power(suffix)?,
    };
    let number = match number {
        b"" => return None,
        digits => parse_digits(digits),
    };
    Some(number.saturating_mul(factor))
}

/// Parses decimal digits. A larger number than fits is the largest.
pub(crate) fn parse_digits(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

/// Parses decimal digits only.
pub(crate) fn parse_count(text: &[u8]) -> Option<u64> {
    (!text.is_empty() && text.iter().all(u8::is_ascii_digit)).then(|| parse_digits(text))
}

/// The factor of a suffix such as `K`, `kB` or `MiB`.
fn power(suffix: &[u8]) -> Option<u64> {
    let (letter, rest) = suffix.split_first()?;
    let exponent = match letter {
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' | b'Y' => u32::MAX,
        _ => return None,
    };
    let base: u64 = match rest {
        b"" | b"iB" => 1024,
        b"B" => 1000,
        _ => return None,
    };
    Some(base.checked_pow(exponent).unwrap_or(u64::MAX))
}

/// Why an integer is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerError {
    Invalid,
    TooLarge,
}

/// Parses an integer as `strtoimax` does: blanks and a sign may precede it, and nothing may follow.
pub(crate) fn parse_integer(text: &[u8]) -> Result<i64, IntegerError> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let text = &text[blanks..];
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(IntegerError::Invalid);
    }
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(IntegerError::TooLarge)
}
