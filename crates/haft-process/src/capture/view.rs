use std::ops::Range;

use super::slice::{OutputSlice, SlicePiece};
use super::snapshot::{LineStart, OutputSnapshot};
use super::text::{first_boundary, last_boundary};
use super::{Error, LineSearch};

/// Selects a part of an output.
///
/// A part that exceeds the budget is cut at the end of a line if possible, else between two characters. A range beyond the
/// end of the stream is not an error and selects the bytes that exist.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OutputView {
    /// The whole stream, or its beginning and end if it exceeds the budget.
    HeadAndTail,
    /// A range of byte offsets.
    Bytes(Range<u64>),
    /// A range of lines, numbered from 1.
    Lines {
        /// The first line.
        first: u64,
        /// The last line, included.
        last: u64,
    },
    /// The first bytes.
    HeadBytes(u64),
    /// The first lines.
    HeadLines(u64),
    /// The last bytes.
    TailBytes(u64),
    /// The last lines.
    TailLines(u64),
    /// The lines that match a pattern.
    Matches(LineSearch),
}

/// The side of a range to keep if it exceeds the budget.
#[derive(Clone, Copy)]
enum Keep {
    Start,
    End,
    Both,
}

impl OutputView {
    /// Default budget in bytes for output that an agent reads.
    pub const DEFAULT_BUDGET: usize = 32 * 1024;

    pub(super) fn slice(&self, snapshot: &OutputSnapshot, budget: usize) -> Result<OutputSlice, Error> {
        let (range, keep) = match self {
            Self::Matches(search) => return search.slice(snapshot, budget),
            Self::HeadAndTail => (0..snapshot.total, Keep::Both),
            Self::Bytes(range) => (range.clone(), Keep::Start),
            Self::Lines { first, last } => (lines(snapshot, *first, *last)?, Keep::Start),
            Self::HeadBytes(count) => (0..*count, Keep::Start),
            Self::HeadLines(count) => (lines(snapshot, 1, *count)?, Keep::Start),
            Self::TailBytes(count) => (snapshot.total.saturating_sub(*count)..snapshot.total, Keep::End),
            Self::TailLines(count) => {
                let first = snapshot.lines.saturating_sub(*count) + 1;
                (lines(snapshot, first, snapshot.lines)?, Keep::End)
            }
        };
        let range = range.start.min(snapshot.total)..range.end.min(snapshot.total);
        let pieces = fit(snapshot, &range, keep, budget)?;
        OutputSlice::new(snapshot, range, pieces)
    }
}

/// Returns the bytes of a range of lines. If the start or end is lost, uses the outermost offset that it may have had.
fn lines(snapshot: &OutputSnapshot, first: u64, last: u64) -> Result<Range<u64>, Error> {
    if first.max(1) > last {
        return Ok(0..0);
    }
    let lost = snapshot.lost().unwrap_or(0..0);
    let start = match snapshot.line_start(first)? {
        LineStart::At(offset) => offset,
        LineStart::Lost => lost.start,
    };
    let end = match snapshot.line_start(last.saturating_add(1))? {
        LineStart::At(offset) => offset,
        LineStart::Lost => lost.end,
    };
    Ok(start..end)
}

/// Returns the kept bytes of a range, cut to the budget.
fn fit(
    snapshot: &OutputSnapshot,
    range: &Range<u64>,
    keep: Keep,
    budget: usize,
) -> Result<Vec<SlicePiece>, Error> {
    let retained = snapshot.retained_within(range);
    let budget = budget as u64;
    if total_length(&retained) <= budget {
        return retained.into_iter().map(|range| SlicePiece::read(snapshot, range)).collect();
    }
    match keep {
        Keep::Start => from_start(snapshot, &retained, budget),
        Keep::End => from_end(snapshot, &retained, budget),
        Keep::Both => {
            let (first, rest) = retained.split_at(1);
            let share = (budget / 2).max(budget.saturating_sub(total_length(rest)));
            let mut pieces = from_start(snapshot, first, if rest.is_empty() { budget / 2 } else { share })?;
            let spent: u64 = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
            let last = &retained[retained.len() - 1..];
            pieces.extend(from_end(snapshot, last, budget - spent)?);
            Ok(pieces)
        }
    }
}

/// Returns the first bytes of the ranges.
fn from_start(
    snapshot: &OutputSnapshot,
    ranges: &[Range<u64>],
    mut budget: u64,
) -> Result<Vec<SlicePiece>, Error> {
    let mut pieces = Vec::new();
    for range in ranges {
        let taken = range.start..range.end.min(range.start + budget);
        budget -= taken.end - taken.start;
        if taken.is_empty() {
            break;
        }
        let mut piece = SlicePiece::read(snapshot, taken.clone())?;
        if taken.end < range.end {
            piece.bytes.truncate(cut_at_end(&piece.bytes));
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

/// Returns the last bytes of the ranges.
fn from_end(
    snapshot: &OutputSnapshot,
    ranges: &[Range<u64>],
    mut budget: u64,
) -> Result<Vec<SlicePiece>, Error> {
    let mut pieces = Vec::new();
    for range in ranges.iter().rev() {
        let mut taken = range.start.max(range.end.saturating_sub(budget))..range.end;
        budget -= taken.end - taken.start;
        if taken.is_empty() {
            break;
        }
        if taken.start > range.start {
            let bytes = snapshot.read(taken.start - 1..taken.end)?;
            taken.start += cut_at_start(&bytes) as u64 - 1;
        }
        pieces.push(SlicePiece::read(snapshot, taken)?);
    }
    pieces.reverse();
    Ok(pieces)
}

/// Returns where to cut the end of bytes: after the last newline, unless that drops more than half of them.
fn cut_at_end(bytes: &[u8]) -> usize {
    let line_end = memchr::memrchr(b'\n', bytes).map_or(0, |index| index + 1);
    if line_end > bytes.len() / 2 { line_end } else { last_boundary(bytes) }
}

/// Returns where to cut the start of bytes, after at least one byte: after the first newline, unless that drops more than half
/// of them.
fn cut_at_start(bytes: &[u8]) -> usize {
    let line_start = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |index| index + 1);
    if line_start <= bytes.len().div_ceil(2) { line_start } else { 1 + first_boundary(&bytes[1..]) }
}

fn total_length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}
