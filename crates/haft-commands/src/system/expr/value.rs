//! The values of `expr`.

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum ExprValue {
    Integer(i128),
    Text(Vec<u8>),
}

impl ExprValue {
    /// Whether the value is empty or zero.
    pub(super) fn is_null(&self) -> bool {
        match self {
            Self::Integer(number) => *number == 0,
            Self::Text(text) => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                text.is_empty() || !digits.is_empty() && digits.iter().all(|digit| *digit == b'0')
            }
        }
    }

    pub(super) fn into_text(self) -> Vec<u8> {
        match self {
            Self::Integer(number) => number.to_string().into_bytes(),
            Self::Text(text) => text,
        }
    }

    /// The number that the value is. `None` if it is not one, and an error if it is too large.
    pub(super) fn integer(&self) -> Option<Result<i128, ()>> {
        let text = match self {
            Self::Integer(number) => return Some(Ok(*number)),
            Self::Text(text) => text,
        };
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(()))
    }
}
