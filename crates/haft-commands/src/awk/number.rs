//! Numbers from text.

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Digits that fit into a double exactly.
const MAX_EXACT_DIGITS: usize = 15;

/// Parses the number at the start of a text, after blanks. Returns it with the length of text it takes, 0 if there is none.
pub(super) fn prefix(text: &[u8]) -> (f64, usize) {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (value, length) = unblanked(&text[blanks..]);
    (value, if length == 0 { 0 } else { blanks + length })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn unblanked(text: &[u8]) -> (f64, usize) {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let is_negative = text.first() == Some(&b'-');
    let (mut digits, mut mantissa, mut places) = (0, 0u64, 0);
    let mut at = sign;
    let mut has_point = false;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => {
                if digits <= MAX_EXACT_DIGITS {
                    mantissa = mantissa * 10 + u64::from(byte - b'0');
                }
                digits += 1;
                places += usize::from(has_point);
            }
            b'.' if !has_point => has_point = true,
            _ => break,
        }
        at += 1;
    }
    if digits == 0 {
        return special(text, sign, is_negative);
    }
    let exponent = exponent_length(&text[at..]);
    if exponent == 0 && digits <= MAX_EXACT_DIGITS {
        #[expect(clippy::cast_precision_loss, reason = "the digits fit")]
        let value = mantissa as f64 / POWERS[places];
        return (if is_negative { -value } else { value }, at);
    }
    let end = at + exponent;
    let value = str::from_utf8(&text[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (value, end)
}

/// The length of `e10` and similar.
fn exponent_length(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    let digits = text[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { 0 } else { 1 + sign + digits }
}

/// `+inf`, `-nan`: words that need a sign, and nothing after them.
fn special(text: &[u8], sign: usize, is_negative: bool) -> (f64, usize) {
    let rest = &text[sign..];
    let word = |name: &[u8]| {
        rest.len() >= 3
            && rest[..3].eq_ignore_ascii_case(name)
            && !rest.get(3).is_some_and(u8::is_ascii_alphanumeric)
    };
    let value = match sign == 1 {
        true if word(b"inf") => f64::INFINITY,
        true if word(b"nan") => f64::NAN,
        _ => return (0.0, 0),
    };
    (if is_negative { -value } else { value }, 4)
}

/// The number that a whole text is, with blanks around it.
pub(super) fn whole(text: &[u8]) -> Option<f64> {
    // Most texts that are not numbers are words.
    match text.first()? {
        byte if byte.is_ascii_digit() || is_blank(*byte) || b"+-.".contains(byte) => {}
        _ => return None,
    }
    let (value, length) = prefix(text);
    let is_whole = length > 0 && text[length..].iter().all(|byte| is_blank(*byte));
    is_whole.then_some(value)
}

/// The value of a text as a number: that of its start.
pub(super) fn value(text: &[u8]) -> f64 {
    prefix(text).0
}
