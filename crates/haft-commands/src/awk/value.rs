//! The values of a program.

use std::borrow::Cow;

use haft_kernel::Bytes;

use super::{format, number};

/// A value.
#[derive(Clone, Debug, Default)]
pub(super) enum AwkValue {
    /// The value of a variable that was never set: both empty and 0.
    #[default]
    Unset,
    Number(f64),
    Text(Bytes),
    /// Text from input. It is a number if it looks like one.
    Input(Bytes),
}

impl AwkValue {
    pub(super) fn text(text: impl Into<Bytes>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn truth(condition: bool) -> Self {
        Self::Number(f64::from(u8::from(condition)))
    }

    pub(super) fn to_number(&self) -> f64 {
        match self {
            Self::Unset => 0.0,
            Self::Number(number) => *number,
            Self::Text(text) | Self::Input(text) => number::value(text),
        }
    }

    /// The number that the value is, if it is one and not a text.
    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Unset => Some(0.0),
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
            Self::Input(text) => number::whole(text),
        }
    }

    /// The value as text. Numbers that are not integers have the format of `CONVFMT`.
    pub(super) fn to_text(&self, convfmt: &[u8]) -> Bytes {
        match self {
            Self::Unset => Bytes::new(),
            Self::Number(number) => number_text(*number, convfmt).into(),
            Self::Text(text) | Self::Input(text) => text.clone(),
        }
    }

    /// The bytes of the value, without a copy where possible.
    pub(super) fn bytes(&self, convfmt: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Unset => Cow::Borrowed(b""),
            Self::Number(number) => Cow::Owned(number_text(*number, convfmt)),
            Self::Text(text) | Self::Input(text) => Cow::Borrowed(text),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Unset => false,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Input(text) => number::whole(text).map_or(!text.is_empty(), |number| number != 0.0),
        }
    }
}

/// Integers up to this are written without `format!`.
const MAX_FAST_INTEGER: f64 = 1e15;

/// A number as text.
pub(super) fn number_text(number: f64, format: &[u8]) -> Vec<u8> {
    if number.fract() == 0.0 && number.abs() < MAX_FAST_INTEGER {
        #[expect(clippy::cast_possible_truncation, reason = "the number is a small integer")]
        return (number as i64).to_string().into_bytes();
    }
    if !number.is_finite() {
        return format::not_finite(number).into_bytes();
    }
    if number.fract() == 0.0 {
        return format!("{number:.0}").into_bytes();
    }
    if format == b"%.6g" {
        return format::general(number, 6, false).into_bytes();
    }
    let mut output = Vec::new();
    let _ = format::sprintf(
        format,
        &[AwkValue::Number(number)],
        b"%.6g",
        haft_text::encoding::Encoding::Bytes,
        &mut output,
    );
    output
}
