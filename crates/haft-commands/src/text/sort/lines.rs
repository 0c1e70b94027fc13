//! Lines in memory, and their order.

use std::cmp::Ordering;
use std::thread;

use haft_kernel::CancelToken;

use super::super::streams::{Stop, TextRun};
use super::general::General;
use super::key::{SortKey, byte_prefix};

/// How many lines are sorted or merged between two checks for cancellation.
const LINES_PER_CHECK: usize = 1 << 15;

/// The fewest lines that are worth another thread.
const LINES_PER_THREAD: usize = 1 << 15;

/// The most threads that sort.
const MAX_THREADS: usize = 8;

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

    /// A number that is smaller than that of another line only if the line comes first.
    pub(super) fn prefix(&self, line: &[u8]) -> u128 {
        match self.keys.first() {
            Some(key) => u128::from(key.prefix(line, self.separator)),
            None if self.reverse => !line_prefix(line),
            None => line_prefix(line),
        }
    }

    /// Fails if a line has a number that `-g` cannot compare exactly.
    pub(super) fn accept(&self, run: &mut TextRun<'_, '_>, line: &[u8]) -> Result<(), Stop> {
        for key in self.keys.iter().filter(|key| key.options.is_general()) {
            let text = key.of(line, self.separator);
            if General::parse(text).is_none() {
                let shown = run.quote(text);
                return run.fail(format_args!("-g: number is not supported: {shown}"));
            }
        }
        Ok(())
    }
}

/// The first 16 bytes of a line as a number.
fn line_prefix(line: &[u8]) -> u128 {
    let rest = line.get(size_of::<u64>()..).unwrap_or_default();
    u128::from(byte_prefix(line)) << u64::BITS | u128::from(byte_prefix(rest))
}

/// A line of a text, with a number that orders most lines without a look at them.
#[derive(Clone, Copy)]
struct SortLine {
    prefix: u128,
    start: usize,
    length: usize,
}

/// Lines, and the text that they are in.
#[derive(Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    lines: Vec<SortLine>,
}

impl Lines {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| &self.text[line.start..line.start + line.length])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The memory that sorting needs.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + 2 * size_of::<SortLine>() * self.lines.len()
    }

    /// Adds the lines of a text. Returns how many bytes of it are an incomplete line, which is not added.
    pub(super) fn add(
        &mut self,
        run: &mut TextRun<'_, '_>,
        text: &[u8],
        end: u8,
        order: &LineOrder,
    ) -> Result<usize, Stop> {
        let Some(last) = memchr::memrchr(end, text) else { return Ok(text.len()) };
        let (base, mut start) = (self.text.len(), 0);
        self.text.extend_from_slice(&text[..=last]);
        for newline in memchr::memchr_iter(end, &text[..=last]) {
            let line = &text[start..newline];
            order.accept(run, line)?;
            self.lines.push(SortLine { prefix: order.prefix(line), start: base + start, length: line.len() });
            start = newline + 1;
        }
        Ok(text.len() - start)
    }

    /// Sorts the lines, on several threads if there are many.
    pub(super) fn sort(&mut self, run: &TextRun<'_, '_>, order: &LineOrder) -> Result<(), Stop> {
        let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = (self.lines.len() / LINES_PER_THREAD).clamp(1, processors.min(MAX_THREADS));
        let cancel = run.context.cancel_token().clone();
        let sorter = LineSorter { text: &self.text, order, cancel: &cancel };
        let size = self.lines.len().div_ceil(threads).max(1);
        let is_parallel = thread::scope(|scope| {
            let mut parts = self.lines.chunks_mut(size);
            let own = parts.next_back();
            let started: Vec<_> = parts
                .map(|part| thread::Builder::new().spawn_scoped(scope, move || sorter.sort(part)))
                .collect();
            if let Some(own) = own {
                sorter.sort(own);
            }
            started.iter().all(Result::is_ok)
        });
        match is_parallel {
            true => sorter.merge_runs(&mut self.lines, size),
            false => sorter.sort(&mut self.lines),
        }
        run.context.check()?;
        Ok(())
    }

    /// Removes all but the first of equal neighbouring lines.
    pub(super) fn remove_repeated(&mut self, order: &LineOrder) {
        if order.unique {
            let text = &self.text;
            let of = |line: &SortLine| &text[line.start..line.start + line.length];
            self.lines.dedup_by(|next, kept| {
                kept.prefix == next.prefix && order.compare(of(kept), of(next)).is_eq()
            });
        }
    }
}

/// Sorts lines of a text, until it is cancelled.
#[derive(Clone, Copy)]
struct LineSorter<'a> {
    text: &'a [u8],
    order: &'a LineOrder,
    cancel: &'a CancelToken,
}

impl LineSorter<'_> {
    fn compare(&self, first: &SortLine, second: &SortLine) -> Ordering {
        let of = |line: &SortLine| &self.text[line.start..line.start + line.length];
        first.prefix.cmp(&second.prefix).then_with(|| self.order.compare(of(first), of(second)))
    }

    fn sort(&self, lines: &mut [SortLine]) {
        for piece in lines.chunks_mut(LINES_PER_CHECK) {
            if self.cancel.is_cancelled() {
                return;
            }
            piece.sort_by(|first, second| self.compare(first, second));
        }
        self.merge_runs(lines, LINES_PER_CHECK);
    }

    /// Merges neighbouring runs of sorted lines until there is one. All runs but the last have the same size.
    fn merge_runs(&self, lines: &mut [SortLine], mut size: usize) {
        let mut merged: Vec<SortLine> = Vec::new();
        while size < lines.len() && !self.cancel.is_cancelled() {
            merged.clear();
            merged.reserve(lines.len());
            for pair in lines.chunks(size * 2) {
                let (first, second) = pair.split_at(size.min(pair.len()));
                self.merge_pair(first, second, &mut merged);
            }
            lines.copy_from_slice(&merged);
            size *= 2;
        }
    }

    fn merge_pair(&self, mut first: &[SortLine], mut second: &[SortLine], merged: &mut Vec<SortLine>) {
        let mut steps = 0;
        while let ([left, first_rest @ ..], [right, second_rest @ ..]) = (first, second) {
            steps += 1;
            if steps % LINES_PER_CHECK == 0 && self.cancel.is_cancelled() {
                break;
            }
            if self.compare(left, right).is_le() {
                merged.push(*left);
                first = first_rest;
            } else {
                merged.push(*right);
                second = second_rest;
            }
        }
        merged.extend_from_slice(first);
        merged.extend_from_slice(second);
    }
}
