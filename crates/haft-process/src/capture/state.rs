use std::sync::{Arc, Weak};

use super::follow::Bell;
use super::spill::SpillFile;
use super::tail::Tail;

/// What an output holds at a moment; every field changes together, under one lock that is never held during file access.
///
/// The stream is retained in two ranges: the prefix `0..prefix_end`, which is in `head` or, beyond it, in the spill
/// file, and the tail `total - tail.len()..total`. They may overlap; a gap between them is what is lost.
#[derive(Debug)]
pub(super) struct State {
    pub(super) total: u64,
    pub(super) newlines: u64,
    pub(super) ends_with_newline: bool,
    pub(super) head: Vec<u8>,
    pub(super) tail: Tail,
    pub(super) prefix_end: u64,
    /// Newlines within the prefix.
    pub(super) prefix_newlines: u64,
    /// Places in the prefix whose line is known, in order, the first at byte 0.
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) spill: Option<Arc<SpillFile>>,
    pub(super) spill_failure: Option<Arc<str>>,
    pub(super) finished: bool,
    /// The stream is itself text, decoded from bytes that were not all UTF-8.
    pub(super) lossy: bool,
    /// Threads waiting for growth: while there are none, growing wakes nobody.
    pub(super) waiting: usize,
    pub(super) bells: Vec<Weak<Bell>>,
}

/// So many newlines come before this byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checkpoint {
    pub(super) offset: u64,
    pub(super) newlines: u64,
}

/// The distance between checkpoints: what a search for a line reads at most in vain.
pub(super) const CHECKPOINT_DISTANCE: u64 = 256 * 1024;

impl State {
    pub(super) fn new(tail_capacity: usize) -> Self {
        Self {
            total: 0,
            newlines: 0,
            ends_with_newline: false,
            head: Vec::new(),
            tail: Tail::new(tail_capacity),
            prefix_end: 0,
            prefix_newlines: 0,
            checkpoints: vec![Checkpoint::default()],
            spill: None,
            spill_failure: None,
            finished: false,
            lossy: false,
            waiting: 0,
            bells: Vec::new(),
        }
    }

    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.total > 0 && !self.ends_with_newline)
    }

    pub(super) fn tail_start(&self) -> u64 {
        self.total - self.tail.len() as u64
    }

    pub(super) fn is_complete(&self) -> bool {
        self.prefix_end >= self.tail_start()
    }

    /// Takes the next bytes of the stream, with so many newlines, of which the file holds everything up to `spilled`.
    pub(super) fn grow(&mut self, bytes: &[u8], newlines: u64, head_capacity: usize, spilled: u64) {
        let (to_head, to_tail) = bytes.split_at(bytes.len().min(head_capacity - self.head.len()));
        self.head.extend_from_slice(to_head);
        self.tail.push(to_tail);
        self.count(bytes, newlines, spilled);
    }

    /// The same for the first `filled` bytes of a buffer, once the head is full; see [`Tail::exchange`].
    pub(super) fn grow_by_exchange(
        &mut self,
        buffer: &mut Vec<u8>,
        filled: usize,
        newlines: u64,
        spilled: u64,
    ) {
        self.count(&buffer[..filled], newlines, spilled);
        self.tail.exchange(buffer, filled);
    }

    /// Leaves out bytes that are not kept, after which there were so many newlines.
    pub(super) fn skip(&mut self, bytes: u64, newlines: u64) {
        if bytes > 0 {
            self.total += bytes;
            self.newlines = newlines;
            self.ends_with_newline = false;
        }
    }

    fn count(&mut self, bytes: &[u8], newlines: u64, spilled: u64) {
        if bytes.is_empty() {
            return;
        }
        self.extend_prefix(bytes, newlines, spilled.max(self.head.len() as u64));
        self.total += bytes.len() as u64;
        self.newlines += newlines;
        self.ends_with_newline = bytes.last() == Some(&b'\n');
    }

    /// A prefix that grows at all reaches into the new bytes: head and file both take everything until they are full.
    fn extend_prefix(&mut self, bytes: &[u8], newlines: u64, prefix_end: u64) {
        if prefix_end <= self.prefix_end {
            return;
        }
        let last = self.checkpoints.last().copied().unwrap_or_default();
        if self.total - last.offset >= CHECKPOINT_DISTANCE {
            self.checkpoints.push(Checkpoint { offset: self.total, newlines: self.newlines });
        }
        let taken =
            usize::try_from(prefix_end - self.total).map_or(bytes.len(), |taken| taken.min(bytes.len()));
        let within = if taken == bytes.len() { newlines } else { count_newlines(&bytes[..taken]) };
        self.prefix_end = prefix_end;
        self.prefix_newlines = self.newlines + within;
    }
}

/// Counts in many narrow counters side by side, which compilers turn into vector instructions of the most basic kind;
/// each counter is emptied before it can overflow. This costs half as much as counting bit masks does.
pub(super) fn count_newlines(bytes: &[u8]) -> u64 {
    const COUNTERS: usize = 64;
    let mut newlines = 0;
    for run in bytes.chunks(COUNTERS * usize::from(u8::MAX)) {
        let (rows, rest) = run.as_chunks::<COUNTERS>();
        let mut counters = [0_u8; COUNTERS];
        for row in rows {
            for (counter, byte) in counters.iter_mut().zip(row) {
                *counter += u8::from(*byte == b'\n');
            }
        }
        newlines += counters.iter().map(|counter| u64::from(*counter)).sum::<u64>();
        newlines += rest.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    newlines
}
