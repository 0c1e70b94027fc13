use std::ops::Range;

use super::slice::{OutputSlice, SlicePiece};
use super::snapshot::{LineStart, Snapshot};
use super::text::{first_boundary, last_boundary};
use super::{Error, LineSearch};

/// Which part of an output to show.
///
/// Where the budget allows less than that, the part is cut at the end of a line when one is near, else between two
/// characters. Ranges beyond the end of the stream are no error: they show what there is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OutputView {
    /// As much of the beginning and of the end as the budget allows: everything, if it fits.
    HeadAndTail,
    /// A range of bytes, counted from 0.
    Bytes(Range<u64>),
    /// The lines from the first to the last, both included, counted from 1.
    Lines {
        /// The first line shown.
        first: u64,
        /// The last line shown.
        last: u64,
    },
    /// So many bytes from the beginning.
    HeadBytes(u64),
    /// So many lines from the beginning.
    HeadLines(u64),
    /// So many bytes at the end.
    TailBytes(u64),
    /// So many lines at the end.
    TailLines(u64),
    /// The lines that match a pattern.
    Matches(LineSearch),
}

/// Which side of a range to keep when the budget does not allow it all.
#[derive(Clone, Copy)]
enum Keep {
    Start,
    End,
    Both,
}

impl OutputView {
    /// What an agent is shown of an output when nothing else is asked for, in bytes.
    pub const DEFAULT_BUDGET: usize = 32 * 1024;

    pub(super) fn slice(&self, snapshot: &Snapshot, budget: usize) -> Result<OutputSlice, Error> {
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

/// The bytes of a range of lines. A border that is lost counts as far out as it may have been.
fn lines(snapshot: &Snapshot, first: u64, last: u64) -> Result<Range<u64>, Error> {
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

/// What is kept of a range, cut to the budget.
fn fit(snapshot: &Snapshot, range: &Range<u64>, keep: Keep, budget: usize) -> Result<Vec<SlicePiece>, Error> {
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

/// The first bytes of the ranges.
fn from_start(snapshot: &Snapshot, ranges: &[Range<u64>], mut budget: u64) -> Result<Vec<SlicePiece>, Error> {
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

/// The last bytes of the ranges.
fn from_end(snapshot: &Snapshot, ranges: &[Range<u64>], mut budget: u64) -> Result<Vec<SlicePiece>, Error> {
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

/// Where to end bytes that go on: after the last line, unless that gives up more than half of them.
fn cut_at_end(bytes: &[u8]) -> usize {
    let line_end = memchr::memrchr(b'\n', bytes).map_or(0, |index| index + 1);
    if line_end > bytes.len() / 2 { line_end } else { last_boundary(bytes) }
}

/// Where to begin, after at least one of the bytes: at the first line, unless that gives up more than half of them.
fn cut_at_start(bytes: &[u8]) -> usize {
    let line_start = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |index| index + 1);
    if line_start <= bytes.len().div_ceil(2) { line_start } else { 1 + first_boundary(&bytes[1..]) }
}

fn total_length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}
