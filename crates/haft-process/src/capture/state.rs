use std::sync::{Arc, Weak};

use super::follow::OutputWaker;
use super::recording::Recorder;
use super::spill::SpillFile;
use super::tail::Tail;

/// The contents of an output. One lock protects all fields, and is never held during file access.
///
/// The stream is kept in two ranges: the prefix `0..prefix_end`, which is in `head` or in the spill file, and the tail
/// `total - tail.len()..total`. They may overlap. Bytes between them are lost.
#[derive(Debug)]
pub(super) struct OutputState {
    pub(super) total: u64,
    pub(super) newlines: u64,
    pub(super) ends_with_newline: bool,
    pub(super) head: Vec<u8>,
    pub(super) tail: Tail,
    pub(super) prefix_end: u64,
    /// Newlines within the prefix.
    pub(super) prefix_newlines: u64,
    /// Offsets in the prefix whose line numbers are known, in order, starting at byte 0.
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) spill: Option<Arc<SpillFile>>,
    pub(super) spill_failure: Option<Arc<str>>,
    pub(super) finished: bool,
    /// Whether the stream is text that was decoded from invalid UTF-8.
    pub(super) lossy: bool,
    /// Number of threads that wait for growth.
    pub(super) waiting: usize,
    pub(super) wakers: Vec<Weak<OutputWaker>>,
    /// Set if the output is that of a terminal.
    pub(super) recorder: Option<Recorder>,
}

/// The number of newlines before an offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checkpoint {
    pub(super) offset: u64,
    pub(super) newlines: u64,
}

/// Minimum distance between checkpoints. Bounds the bytes that the search for a line reads.
pub(super) const CHECKPOINT_DISTANCE: u64 = 256 * 1024;

impl OutputState {
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
            wakers: Vec::new(),
            recorder: None,
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

    /// Appends bytes that contain `newlines` newlines. The spill file contains everything up to `spilled`.
    pub(super) fn grow(&mut self, bytes: &[u8], newlines: u64, head_capacity: usize, spilled: u64) {
        let (to_head, to_tail) = bytes.split_at(bytes.len().min(head_capacity - self.head.len()));
        self.head.extend_from_slice(to_head);
        self.tail.push(to_tail);
        self.count(bytes, newlines, spilled);
    }

    /// Appends the first `filled` bytes of a buffer, when the head is full. May exchange the buffer; see [`Tail::exchange`].
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

    /// Skips bytes that are not kept. `newlines` is the number of newlines up to the end of them.
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
        if let Some(recorder) = &mut self.recorder {
            recorder.grow(self.total);
        }
    }

    /// Extends the prefix. If it grows, it ends within the new bytes, because head and file accept everything until they are
    /// full.
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

/// Counts newlines in many parallel 8-bit counters, which the compiler turns into vector instructions. Each counter is added
/// up before it can overflow. This takes half the time of counting bit masks.
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
