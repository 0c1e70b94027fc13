//! Lists of positions, such as `1,3-5,7-`.

use std::ops::Range;

use super::number::parse_digits;
use super::streams::TextRun;

/// Whether positions count bytes or fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Bytes,
    Fields,
}

/// Positions from 1 on, as inclusive ranges in ascending order that do not overlap.
pub(super) struct Ranges(Vec<(u64, u64)>);

/// An error in a list.
pub(super) enum ListError {
    Zero(ListKind),
    Invalid(ListKind, Vec<u8>),
    TooLarge(ListKind, Vec<u8>),
    TwoDashes(ListKind),
    NoEndpoint,
    Decreasing,
}

impl ListError {
    pub(super) fn message(&self, run: &TextRun<'_, '_>) -> String {
        match self {
            Self::Zero(ListKind::Fields) => "fields are numbered from 1".to_owned(),
            Self::Zero(ListKind::Bytes) => "byte/character positions are numbered from 1".to_owned(),
            Self::Invalid(ListKind::Fields, text) => format!("invalid field value {}", run.quote(text)),
            Self::Invalid(ListKind::Bytes, text) => {
                format!("invalid byte/character position {}", run.quote(text))
            }
            Self::TooLarge(ListKind::Fields, text) => {
                format!("field number {} is too large", run.quote(text))
            }
            Self::TooLarge(ListKind::Bytes, text) => {
                format!("byte/character offset {} is too large", run.quote(text))
            }
            Self::TwoDashes(ListKind::Fields) => "invalid field range".to_owned(),
            Self::TwoDashes(ListKind::Bytes) => "invalid byte or character range".to_owned(),
            Self::NoEndpoint => "invalid range with no endpoint: -".to_owned(),
            Self::Decreasing => "invalid decreasing range".to_owned(),
        }
    }
}

/// Parses a list. Items are separated by commas or blanks.
pub(super) fn parse_ranges(list: &[u8], kind: ListKind) -> Result<Ranges, ListError> {
    let mut ranges = Vec::new();
    let mut rest = list;
    loop {
        let length = rest.iter().position(|byte| matches!(byte, b',' | b' ' | b'\t')).unwrap_or(rest.len());
        ranges.push(parse_range(&rest[..length], rest, kind)?);
        if length == rest.len() {
            break;
        }
        rest = &rest[length + 1..];
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    Ok(Ranges(merged))
}

/// Parses one item. Errors show the rest of the list.
fn parse_range(item: &[u8], rest: &[u8], kind: ListKind) -> Result<(u64, u64), ListError> {
    let Some(dash) = memchr::memchr(b'-', item) else {
        return match position(item, rest, 0, kind)? {
            None | Some(0) => Err(ListError::Zero(kind)),
            Some(only) => Ok((only, only)),
        };
    };
    if let Some(second) = memchr::memchr(b'-', &item[dash + 1..]) {
        // Digits before the second dash are valid.
        position(&item[..dash], rest, 0, kind)?;
        position(&item[dash + 1..dash + 1 + second], rest, dash + 1, kind)?;
        return Err(ListError::TwoDashes(kind));
    }
    let start = position(&item[..dash], rest, 0, kind)?;
    if start == Some(0) {
        return Err(ListError::Zero(kind));
    }
    let end = position(&item[dash + 1..], rest, dash + 1, kind)?;
    match (start, end) {
        (None, None) => Err(ListError::NoEndpoint),
        (None, Some(0)) => Err(ListError::Decreasing),
        (start, None) => Ok((start.unwrap_or(1), u64::MAX)),
        (start, Some(end)) if end < start.unwrap_or(1) => Err(ListError::Decreasing),
        (start, Some(end)) => Ok((start.unwrap_or(1), end)),
    }
}

/// Parses digits at a place in the list. `None` if there are none.
fn position(digits: &[u8], rest: &[u8], at: usize, kind: ListKind) -> Result<Option<u64>, ListError> {
    if let Some(wrong) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
        return Err(ListError::Invalid(kind, rest[at + wrong..].to_vec()));
    }
    match parse_digits(digits) {
        _ if digits.is_empty() => Ok(None),
        u64::MAX => {
            let length = rest[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            Err(ListError::TooLarge(kind, rest[at..at + length].to_vec()))
        }
        number => Ok(Some(number)),
    }
}

impl Ranges {
    pub(super) fn contains(&self, position: u64) -> bool {
        self.0.iter().any(|(start, end)| (*start..=*end).contains(&position))
    }

    /// All other positions.
    /// The last position. 0 if there is none.
    pub(super) fn end(&self) -> u64 {
        self.0.last().map_or(0, |(_, end)| *end)
    }

    pub(super) fn complement(&self) -> Self {
        let mut others = Vec::new();
        let mut next = 1;
        for &(start, end) in &self.0 {
            if start > next {
                others.push((next, start - 1));
            }
            next = end.saturating_add(1);
        }
        if next < u64::MAX {
            others.push((next, u64::MAX));
        }
        Self(others)
    }

    /// The ranges of a text of this length, as indices from 0 on.
    pub(super) fn within(&self, length: usize) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().filter_map(move |&(start, end)| {
            let start = usize::try_from(start - 1).ok().filter(|start| *start < length)?;
            Some(start..usize::try_from(end).unwrap_or(usize::MAX).min(length))
        })
    }
}
