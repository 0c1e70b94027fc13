use std::collections::VecDeque;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::slice::{Matches, Omission, OutputSlice, SlicePiece};
use super::snapshot::OutputSnapshot;
use super::{Error, ErrorKind};

/// A search for lines that match a regular expression.
///
/// Each line is matched without its line ending (`\n` or `\r\n`). Lines of more than a mebibyte are searched in parts that
/// overlap by 64 KiB. All kept bytes are searched and all matches counted, independent of the budget. Of a matching line that
/// exceeds a quarter of the budget, the part around its first match is returned.
#[derive(Clone, Debug)]
pub struct LineSearch {
    regex: Regex,
    before: u64,
    after: u64,
    limit: u64,
}

/// Bytes that are read at once.
const SEARCH_BLOCK_BYTES: u64 = 256 * 1024;
/// Longer lines are searched in parts.
const MAX_PART_BYTES: usize = 1024 * 1024;
/// Overlap of consecutive parts.
const PART_OVERLAP_BYTES: usize = 64 * 1024;

impl LineSearch {
    /// Makes a search for a pattern in the syntax of the `regex` crate, without context and without a limit.
    ///
    /// # Errors
    /// Fails if the pattern is invalid or its compiled form is too large.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let regex = RegexBuilder::new(pattern).build().map_err(ErrorKind::Pattern)?;
        Ok(Self { regex, before: 0, after: 0, limit: u64::MAX })
    }

    /// Sets the number of context lines before and after each match.
    #[must_use]
    pub fn context(self, before: u64, after: u64) -> Self {
        Self { before, after, ..self }
    }

    /// Sets the maximum number of matching lines to return.
    #[must_use]
    pub fn limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    pub(super) fn slice(&self, snapshot: &OutputSnapshot, budget: usize) -> Result<OutputSlice, Error> {
        let mut selection = LineSelection::new(self, budget as u64);
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

    /// Passes every line of a kept range to the selection.
    fn scan(
        &self,
        snapshot: &OutputSnapshot,
        range: Range<u64>,
        selection: &mut LineSelection<'_>,
    ) -> Result<(), Error> {
        let mut line =
            ScannedLine { number: snapshot.newlines_before(range.start)? + 1, start: range.start, hit: None };
        let mut buffer = Vec::new();
        let mut position = range.start;
        while position < range.end {
            let fresh = buffer.len();
            let end = range.end.min(position + SEARCH_BLOCK_BYTES);
            snapshot.read_into(position..end, &mut buffer)?;
            let base = position - fresh as u64;
            let mut start = 0;
            for newline in memchr::memchr_iter(b'\n', &buffer[fresh..]) {
                let line_end = fresh + newline + 1;
                self.search_part(&mut line, &buffer[start..line_end], base + start as u64);
                line.finish(base + line_end as u64, selection);
                start = line_end;
            }
            if buffer.len() - start > MAX_PART_BYTES {
                self.search_part(&mut line, &buffer[start..], base + start as u64);
                start = buffer.len() - PART_OVERLAP_BYTES;
            }
            buffer.drain(..start);
            position = end;
        }
        if !buffer.is_empty() {
            self.search_part(&mut line, &buffer, range.end - buffer.len() as u64);
            line.finish(range.end, selection);
        }
        Ok(())
    }

    /// Finds the first match in a part of a line.
    fn search_part(&self, line: &mut ScannedLine, part: &[u8], start: u64) {
        if line.hit.is_none() {
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            line.hit = self.regex.find(part).map(|found| start + found.start() as u64);
        }
    }
}

/// The current line of a scan.
struct ScannedLine {
    number: u64,
    start: u64,
    /// The offset of its first match so far.
    hit: Option<u64>,
}

impl ScannedLine {
    /// Ends this line and starts the next one.
    fn finish(&mut self, end: u64, selection: &mut LineSelection<'_>) {
        selection.line(self.number, self.start..end, self.hit);
        *self = Self { number: self.number + 1, start: end, hit: None };
    }
}

/// The selected lines. Stores only ranges, so that a search needs little memory.
struct LineSelection<'a> {
    search: &'a LineSearch,
    /// The remaining budget.
    budget: u64,
    /// Maximum bytes of one line.
    max_line_bytes: u64,
    groups: Vec<LineGroup>,
    /// Omitted parts of selected lines.
    cuts: Vec<Range<u64>>,
    /// The preceding lines that may become context, as far as the budget allows.
    recent: VecDeque<(u64, Range<u64>)>,
    context_due: u64,
    total: u64,
    shown: u64,
    full: bool,
}

/// Consecutive selected lines.
struct LineGroup {
    range: Range<u64>,
    first_line: u64,
    next_line: u64,
    matches: Vec<u64>,
}

impl<'a> LineSelection<'a> {
    fn new(search: &'a LineSearch, budget: u64) -> Self {
        Self {
            search,
            budget,
            max_line_bytes: (budget / 4).max(1),
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

    /// Keeps a line as possible context of the next match, as far as the budget allows.
    fn remember(&mut self, number: u64, range: Range<u64>) {
        self.recent.push_back((number, range.clone()));
        let too_long = |recent: &VecDeque<(u64, Range<u64>)>| {
            recent.front().is_some_and(|(_, first)| range.end - first.start > self.budget && recent.len() > 1)
        };
        while self.recent.len() as u64 > self.search.before || too_long(&self.recent) {
            self.recent.pop_front();
        }
    }

    /// Selects a line, or the part around `focus` of a long line. Returns false if the budget is exhausted.
    fn take(&mut self, number: u64, line: Range<u64>, focus: u64) -> bool {
        let maximum = self.max_line_bytes;
        let mut range = line.clone();
        if line.end - line.start > maximum {
            range.start = line.start.max(focus.saturating_sub(maximum / 4)).min(line.end - maximum);
            range.end = range.start + maximum;
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
            _ => self.groups.push(LineGroup {
                range,
                first_line: number,
                next_line: number + 1,
                matches: Vec::new(),
            }),
        }
        true
    }
}
