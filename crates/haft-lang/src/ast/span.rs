//! Positions in the source.

use std::fmt;
use std::ops::Range;

/// A range of byte offsets into the source.
///
/// Two spans always compare equal, so that trees compare by what they mean; compare [`Span::range`] to compare
/// places.
#[derive(Clone, Copy, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range to slice the source with.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of `source` that the span covers; empty if it lies outside.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.range()).unwrap_or_default()
    }

    /// The span from the start of `self` to the end of `other`.
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

/// Where the lines of a source begin, to turn offsets into lines and columns.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `source`.
    #[must_use]
    pub fn new(source: &[u8]) -> Self {
        // Lines are seldom shorter on the average.
        let mut starts = Vec::with_capacity(source.len() / 16 + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', source).map(|at| offset(at + 1)));
        Self { starts }
    }

    /// The line, counted from 1, that holds `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        self.position(offset).0
    }

    /// The line and the column in bytes, both counted from 1, of `offset`.
    #[must_use]
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        (u32::try_from(line).unwrap_or(u32::MAX), offset - start + 1)
    }

    /// The offset at which `line`, counted from 1, begins.
    #[must_use]
    pub fn start_of(&self, line: u32) -> Option<u32> {
        self.starts.get((line as usize).checked_sub(1)?).copied()
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
