use std::collections::VecDeque;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::slice::{Matches, Omission, OutputSlice, SlicePiece};
use super::snapshot::Snapshot;
use super::{Error, ErrorKind};

/// A search for the lines that match a regular expression.
///
/// The expression sees one line at a time, without its ending (`\n` or `\r\n`). A line of more than a mebibyte is searched
/// in parts that overlap by 64 KiB. Everything that is kept is searched and counted, whatever the budget allows to show.
/// A matching line too long for a quarter of the budget is shown around its first match.
#[derive(Clone, Debug)]
pub struct LineSearch {
    regex: Regex,
    before: u64,
    after: u64,
    limit: u64,
}

/// What is read at a time.
const BLOCK: u64 = 256 * 1024;
/// A line longer than this is searched in parts.
const LONGEST_PART: usize = 1024 * 1024;
/// What a part has in common with the one before it.
const OVERLAP: usize = 64 * 1024;

impl LineSearch {
    /// A search for a pattern in the syntax of the `regex` crate, without context and without a limit.
    ///
    /// # Errors
    /// When the pattern is not a regular expression, or compiles to too large a one.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let regex = RegexBuilder::new(pattern).build().map_err(ErrorKind::Pattern)?;
        Ok(Self { regex, before: 0, after: 0, limit: u64::MAX })
    }

    /// Shows so many lines before and after each match too.
    #[must_use]
    pub fn context(self, before: u64, after: u64) -> Self {
        Self { before, after, ..self }
    }

    /// Shows at most so many matching lines.
    #[must_use]
    pub fn limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    pub(super) fn slice(&self, snapshot: &Snapshot, budget: usize) -> Result<OutputSlice, Error> {
        let mut selection = Selection::new(self, budget as u64);
        for range in snapshot.retained() {
            selection.forget_context();
            self.scan(snapshot, range, &mut selection)?;
        }
        let mut pieces = Vec::with_capacity(selection.groups.len());
        for group in selection.groups {
            let bytes = snapshot.read(group.range.clone())?;
            pieces.push(SlicePiece {
                bytes,
                start: group.range.start,
                first_line: group.first_line,
                matches: group.matches,
            });
        }
        let mut omissions = Vec::new();
        for cut in selection.cuts.into_iter().chain(snapshot.lost()) {
            omissions.extend(Omission::between(snapshot, cut)?);
        }
        omissions.sort_by_key(|omission| omission.bytes.start);
        let matches = Matches { total: selection.total, shown: selection.shown };
        Ok(OutputSlice::of(snapshot, pieces, omissions, Some(matches)))
    }

    /// Hands every line of a range that is kept as a whole to the selection.
    fn scan(
        &self,
        snapshot: &Snapshot,
        range: Range<u64>,
        selection: &mut Selection<'_>,
    ) -> Result<(), Error> {
        let mut line =
            Line { number: snapshot.newlines_before(range.start)? + 1, start: range.start, hit: None };
        let mut buffer = Vec::new();
        let mut position = range.start;
        while position < range.end {
            let fresh = buffer.len();
            let end = range.end.min(position + BLOCK);
            snapshot.read_into(position..end, &mut buffer)?;
            let base = position - fresh as u64;
            let mut start = 0;
            for newline in memchr::memchr_iter(b'\n', &buffer[fresh..]) {
                let line_end = fresh + newline + 1;
                self.look(&mut line, &buffer[start..line_end], base + start as u64);
                line.finish(base + line_end as u64, selection);
                start = line_end;
            }
            if buffer.len() - start > LONGEST_PART {
                self.look(&mut line, &buffer[start..], base + start as u64);
                start = buffer.len() - OVERLAP;
            }
            buffer.drain(..start);
            position = end;
        }
        if !buffer.is_empty() {
            self.look(&mut line, &buffer, range.end - buffer.len() as u64);
            line.finish(range.end, selection);
        }
        Ok(())
    }

    /// Looks for the first match in a part of a line.
    fn look(&self, line: &mut Line, part: &[u8], start: u64) {
        if line.hit.is_none() {
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            line.hit = self.regex.find(part).map(|found| start + found.start() as u64);
        }
    }
}

/// The line a scan is in.
struct Line {
    number: u64,
    start: u64,
    /// Where its first match is, as far as it was searched.
    hit: Option<u64>,
}

impl Line {
    /// Ends this line and begins the next one.
    fn finish(&mut self, end: u64, selection: &mut Selection<'_>) {
        selection.line(self.number, self.start..end, self.hit);
        *self = Self { number: self.number + 1, start: end, hit: None };
    }
}

/// What is to be shown: ranges only, so that a search holds no more than it reads at a time.
struct Selection<'a> {
    search: &'a LineSearch,
    /// What is left of the budget.
    budget: u64,
    /// Of a line, no more than this is shown.
    longest: u64,
    groups: Vec<Group>,
    /// Parts of shown lines that were too long.
    cuts: Vec<Range<u64>>,
    /// The lines before the current one that may become context, as many as the budget could show.
    recent: VecDeque<(u64, Range<u64>)>,
    context_due: u64,
    total: u64,
    shown: u64,
    full: bool,
}

/// Neighbouring lines that are shown as one piece.
struct Group {
    range: Range<u64>,
    first_line: u64,
    next_line: u64,
    matches: Vec<u64>,
}

impl<'a> Selection<'a> {
    fn new(search: &'a LineSearch, budget: u64) -> Self {
        Self {
            search,
            budget,
            longest: (budget / 4).max(1),
            groups: Vec::new(),
            cuts: Vec::new(),
            recent: VecDeque::new(),
            context_due: 0,
            total: 0,
            shown: 0,
            full: false,
        }
    }

    fn forget_context(&mut self) {
        self.recent.clear();
        self.context_due = 0;
    }

    fn line(&mut self, number: u64, range: Range<u64>, hit: Option<u64>) {
        self.total += u64::from(hit.is_some());
        if self.full {
            return;
        }
        match hit {
            Some(hit) => self.take_match(number, range, hit),
            None if self.context_due > 0 => {
                self.context_due -= 1;
                self.take(number, range.clone(), range.start);
            }
            None => self.remember(number, range),
        }
    }

    fn take_match(&mut self, number: u64, range: Range<u64>, hit: u64) {
        if self.shown == self.search.limit {
            self.full = true;
            return;
        }
        let mut recent = std::mem::take(&mut self.recent);
        for (number, range) in recent.drain(..) {
            self.take(number, range.clone(), range.start);
        }
        self.recent = recent;
        if self.take(number, range, hit) {
            self.shown += 1;
            self.context_due = self.search.after;
            if let Some(group) = self.groups.last_mut() {
                group.matches.push(number);
            }
        }
    }

    /// Keeps a line in case the next one matches. Lines the budget could not show anyway are not kept.
    fn remember(&mut self, number: u64, range: Range<u64>) {
        self.recent.push_back((number, range.clone()));
        let too_long = |recent: &VecDeque<(u64, Range<u64>)>| {
            recent.front().is_some_and(|(_, first)| range.end - first.start > self.budget && recent.len() > 1)
        };
        while self.recent.len() as u64 > self.search.before || too_long(&self.recent) {
            self.recent.pop_front();
        }
    }

    /// Shows a line, or of a long one what is around `focus`; says no once the budget is spent.
    fn take(&mut self, number: u64, line: Range<u64>, focus: u64) -> bool {
        let longest = self.longest;
        let mut range = line.clone();
        if line.end - line.start > longest {
            range.start = line.start.max(focus.saturating_sub(longest / 4)).min(line.end - longest);
            range.end = range.start + longest;
        }
        self.full |= self.budget < range.end - range.start;
        if self.full {
            return false;
        }
        self.budget -= range.end - range.start;
        self.cuts
            .extend([line.start..range.start, range.end..line.end].into_iter().filter(|cut| !cut.is_empty()));
        match self.groups.last_mut() {
            Some(group) if group.range.end == range.start && group.next_line == number => {
                group.range.end = range.end;
                group.next_line = number + 1;
            }
            _ => self.groups.push(Group {
                range,
                first_line: number,
                next_line: number + 1,
                matches: Vec::new(),
            }),
        }
        true
    }
}
