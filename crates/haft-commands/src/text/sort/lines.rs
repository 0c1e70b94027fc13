//! Lines in memory, and their order.

use std::cmp::Ordering;
use std::ops::Range;

use super::super::streams::{Stop, TextInput, TextRun};
use super::general::General;
use super::key::SortKey;

/// How many lines are sorted or merged between two checks for cancellation.
const LINES_PER_CHECK: usize = 1 << 15;

/// The order of lines.
pub(super) struct LineOrder {
    pub(super) keys: Vec<SortKey>,
    pub(super) separator: Option<u8>,
    /// Reverses the comparison of whole lines.
    pub(super) reverse: bool,
    pub(super) unique: bool,
    /// Lines with equal keys are equal.
    pub(super) stable: bool,
}

impl LineOrder {
    pub(super) fn compare(&self, first: &[u8], second: &[u8]) -> Ordering {
        for key in &self.keys {
            let order = key.compare(first, second, self.separator);
            if order.is_ne() {
                return order;
            }
        }
        if self.stable && !self.keys.is_empty() {
            return Ordering::Equal;
        }
        if self.reverse { second.cmp(first) } else { first.cmp(second) }
    }

    /// Fails if a line has a number that `-g` cannot compare exactly.
    pub(super) fn accept(&self, run: &mut TextRun<'_, '_>, line: &[u8]) -> Result<(), Stop> {
        for key in self.keys.iter().filter(|key| key.options.is_general()) {
            let text = key.of(line, self.separator);
            if General::parse(text).is_none() {
                let shown = run.quote(text);
                return run.fail(format_args!("-g: number needs more than 64 bits of precision: {shown}"));
            }
        }
        Ok(())
    }
}

/// The text of all inputs, and the ranges of its lines.
#[derive(Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Lines {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| &self.text[range.clone()])
    }

    /// Reads an input. Returns the number of its lines.
    fn read(
        &mut self,
        run: &mut TextRun<'_, '_>,
        input: &mut TextInput,
        end: u8,
        order: &LineOrder,
    ) -> Result<usize, Stop> {
        let before = self.ranges.len();
        let mut line = Vec::new();
        while input.read_line(run, end, &mut line)? {
            let content = line.strip_suffix(&[end]).unwrap_or(&line);
            order.accept(run, content)?;
            let start = self.text.len();
            self.text.extend_from_slice(content);
            self.ranges.push(start..self.text.len());
        }
        if input.has_failed() { Err(Stop::Exit(2)) } else { Ok(self.ranges.len() - before) }
    }

    fn compare(&self, order: &LineOrder, first: &Range<usize>, second: &Range<usize>) -> Ordering {
        order.compare(&self.text[first.clone()], &self.text[second.clone()])
    }

    /// Merges neighbouring runs of sorted lines until there is one.
    fn merge_runs(
        &mut self,
        run: &TextRun<'_, '_>,
        mut runs: Vec<Vec<Range<usize>>>,
        order: &LineOrder,
    ) -> Result<(), Stop> {
        while runs.len() > 1 {
            let mut merged = Vec::new();
            let mut rest = runs.into_iter();
            while let Some(first) = rest.next() {
                merged.push(match rest.next() {
                    Some(second) => self.merge_pair(run, first, second, order)?,
                    None => first,
                });
            }
            runs = merged;
        }
        self.ranges = runs.pop().unwrap_or_default();
        Ok(())
    }

    fn merge_pair(
        &self,
        run: &TextRun<'_, '_>,
        first: Vec<Range<usize>>,
        second: Vec<Range<usize>>,
        order: &LineOrder,
    ) -> Result<Vec<Range<usize>>, Stop> {
        let mut merged = Vec::with_capacity(first.len() + second.len());
        let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
        while let (Some(left), Some(right)) = (first.peek(), second.peek()) {
            if merged.len() % LINES_PER_CHECK == 0 {
                run.context.check()?;
            }
            let from = if self.compare(order, left, right).is_le() { &mut first } else { &mut second };
            merged.extend(from.next());
        }
        merged.extend(first);
        merged.extend(second);
        Ok(merged)
    }

    /// Removes all but the first of equal neighbouring lines.
    fn remove_repeated(&mut self, order: &LineOrder) {
        if order.unique {
            let mut ranges = std::mem::take(&mut self.ranges);
            ranges.dedup_by(|next, kept| self.compare(order, kept, next).is_eq());
            self.ranges = ranges;
        }
    }
}

/// Reads and sorts all inputs.
pub(super) fn sort(
    run: &mut TextRun<'_, '_>,
    inputs: Vec<TextInput>,
    end: u8,
    order: &LineOrder,
) -> Result<Lines, Stop> {
    let mut lines = Lines::default();
    for mut input in inputs {
        lines.read(run, &mut input, end, order)?;
    }
    let mut ranges = std::mem::take(&mut lines.ranges);
    let mut runs = Vec::new();
    for piece in ranges.chunks_mut(LINES_PER_CHECK) {
        run.context.check()?;
        piece.sort_by(|first, second| lines.compare(order, first, second));
        runs.push(piece.to_vec());
    }
    lines.merge_runs(run, runs, order)?;
    lines.remove_repeated(order);
    Ok(lines)
}

/// Reads and merges inputs, each of which is sorted. Of the first lines of all inputs, the smallest is next.
pub(super) fn merge(
    run: &mut TextRun<'_, '_>,
    inputs: Vec<TextInput>,
    end: u8,
    order: &LineOrder,
) -> Result<Lines, Stop> {
    let mut lines = Lines::default();
    let mut counts = Vec::new();
    for mut input in inputs {
        counts.push(lines.read(run, &mut input, end, order)?);
    }
    let mut ranges = std::mem::take(&mut lines.ranges).into_iter();
    let runs = counts.iter().map(|count| ranges.by_ref().take(*count).collect()).collect();
    lines.merge_runs(run, runs, order)?;
    lines.remove_repeated(order);
    Ok(lines)
}
