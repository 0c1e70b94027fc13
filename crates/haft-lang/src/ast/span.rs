//! Positions in the source.

use std::fmt;
use std::ops::Range;

/// A range of byte offsets into the source.
///
/// All spans compare equal, so trees compare by meaning. Use [`Span::range`] to compare positions.
#[derive(Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from `start` to `end`, exclusive.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Whether the span is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the span as a range.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the bytes of `source` in this span; empty if the span is out of bounds.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.range()).unwrap_or_default()
    }

    /// Returns the span from the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Span {}

impl fmt::Debug for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}..{}", self.start, self.end)
    }
}

/// The line starts of a source text, to convert offsets to lines and columns.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `source`.
    #[must_use]
    pub fn new(source: &[u8]) -> Self {
        // Most scripts have longer lines on average.
        let mut starts = Vec::with_capacity(source.len() / 16 + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', source).map(|at| offset(at + 1)));
        Self { starts }
    }

    /// Returns the line of `offset`, starting at 1.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        self.position(offset).0
    }

    /// Returns the line and the column of `offset`, both starting at 1. Columns count bytes.
    #[must_use]
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        (u32::try_from(line).unwrap_or(u32::MAX), offset - start + 1)
    }

    /// Returns the offset where `line` begins. Lines start at 1.
    #[must_use]
    pub fn start_of(&self, line: u32) -> Option<u32> {
        self.starts.get((line as usize).checked_sub(1)?).copied()
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
