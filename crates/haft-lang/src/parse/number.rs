//! Integer constants of arithmetic expressions.

/// Parses a constant: decimal, octal, hexadecimal or `base#digits`. The value wraps around on overflow, as in
/// bash.
pub(super) fn constant(text: &[u8]) -> Option<i64> {
    if let Some(hash) = text.iter().position(|byte| *byte == b'#') {
        let base = digits(&text[..hash], 10)?;
        let base = u32::try_from(base).ok().filter(|base| (2..=64).contains(base))?;
        return if hash + 1 == text.len() { None } else { digits(&text[hash + 1..], base) };
    }
    match text {
        [b'0', b'x' | b'X', rest @ ..] => digits(rest, 16),
        [b'0', rest @ ..] => digits(rest, 8),
        _ => digits(text, 10),
    }
}

fn digits(text: &[u8], base: u32) -> Option<i64> {
    text.iter().try_fold(0i64, |value, byte| {
        let digit = digit_value(*byte, base)?;
        let valid = digit < base;
        valid.then(|| value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit)))
    })
}

/// The value of a digit of an integer constant. Up to base 36, uppercase and lowercase letters mean the same.
pub fn digit_value(byte: u8, base: u32) -> Option<u32> {
    Some(u32::from(match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        b'@' => 62,
        b'_' => 63,
        _ => return None,
    }))
}
