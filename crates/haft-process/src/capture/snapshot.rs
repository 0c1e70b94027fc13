use std::ops::Range;
use std::sync::Arc;

use super::spill::SpillFile;
use super::state::{Checkpoint, OutputState, count_newlines};
use super::{Error, ErrorKind};

/// The state of an output at one moment. It is read without a lock: memory is copied, and the file is only appended to.
#[derive(Debug)]
pub(super) struct OutputSnapshot {
    pub(super) total: u64,
    pub(super) newlines: u64,
    pub(super) lines: u64,
    pub(super) finished: bool,
    pub(super) lossy: bool,
    prefix: Prefix,
    prefix_end: u64,
    prefix_newlines: u64,
    checkpoints: Vec<Checkpoint>,
    tail: Vec<u8>,
    tail_start: u64,
    tail_newlines: u64,
}

#[derive(Debug)]
enum Prefix {
    Memory(Vec<u8>),
    File(Arc<SpillFile>),
}

/// The start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStart {
    At(u64),
    /// In the lost bytes.
    Lost,
}

/// Bytes that a scan reads at once.
const SCAN_BLOCK_BYTES: u64 = 64 * 1024;

/// Returns the ranges that are kept.
pub(super) fn retained(prefix_end: u64, tail_start: u64, total: u64) -> Vec<Range<u64>> {
    let ranges = if prefix_end >= tail_start { [0..total, 0..0] } else { [0..prefix_end, tail_start..total] };
    ranges.into_iter().filter(|range| !range.is_empty()).collect()
}

impl OutputSnapshot {
    pub(super) fn new(state: &OutputState) -> Self {
        let prefix = match &state.spill {
            Some(file) if state.prefix_end > state.head.len() as u64 => Prefix::File(Arc::clone(file)),
            _ => Prefix::Memory(state.head.clone()),
        };
        let mut tail = Vec::with_capacity(state.tail.len());
        state.tail.copy(0, state.tail.len(), &mut tail);
        Self {
            total: state.total,
            newlines: state.newlines,
            lines: state.lines(),
            finished: state.finished,
            lossy: state.lossy,
            prefix,
            prefix_end: state.prefix_end,
            prefix_newlines: state.prefix_newlines,
            checkpoints: state.checkpoints.clone(),
            tail_newlines: count_newlines(&tail),
            tail,
            tail_start: state.tail_start(),
        }
    }

    pub(super) fn retained(&self) -> Vec<Range<u64>> {
        retained(self.prefix_end, self.tail_start, self.total)
    }

    /// Returns the lost bytes between prefix and tail.
    pub(super) fn lost(&self) -> Option<Range<u64>> {
        (self.prefix_end < self.tail_start).then_some(self.prefix_end..self.tail_start)
    }

    /// Returns the kept parts of a range, in order.
    pub(super) fn retained_within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let within = self.retained().into_iter();
        let within = within.map(|kept| kept.start.max(range.start)..kept.end.min(range.end));
        within.filter(|kept| !kept.is_empty()).collect()
    }

    /// Returns the bytes of a range that is kept completely.
    pub(super) fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.read_into(range, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends the bytes of a range that is kept completely.
    pub(super) fn read_into(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let tail_start =
            if range.start >= self.tail_start { range.start } else { range.end.min(self.prefix_end) };
        let from_prefix = range.start..tail_start.max(range.start);
        let from_tail = from_prefix.end.max(self.tail_start)..range.end.max(from_prefix.end);
        if !from_prefix.is_empty() {
            self.read_prefix(from_prefix, bytes)?;
        }
        if !from_tail.is_empty() {
            bytes.extend_from_slice(self.tail_bytes(from_tail));
        }
        Ok(())
    }

    /// Returns the number of newlines before an offset; within lost bytes, the minimum that is possible.
    pub(super) fn newlines_before(&self, offset: u64) -> Result<u64, Error> {
        if offset >= self.tail_start {
            return Ok(self.newlines - count_newlines(self.tail_bytes(offset..self.total)));
        }
        if offset >= self.prefix_end {
            return Ok(self.prefix_newlines);
        }
        let checkpoint = self.checkpoint_before(|checkpoint| checkpoint.offset <= offset);
        let mut newlines = checkpoint.newlines;
        let mut position = checkpoint.offset;
        let mut block = Vec::new();
        while position < offset {
            let end = offset.min(position + SCAN_BLOCK_BYTES);
            block.clear();
            self.read_into(position..end, &mut block)?;
            newlines += count_newlines(&block);
            position = end;
        }
        Ok(newlines)
    }

    /// Returns the start of a line, numbered from 1, or the end of the stream if there is no such line.
    pub(super) fn line_start(&self, line: u64) -> Result<LineStart, Error> {
        let newlines = line.saturating_sub(1);
        if newlines == 0 {
            Ok(LineStart::At(0))
        } else if newlines > self.newlines {
            Ok(LineStart::At(self.total))
        } else if newlines > self.newlines - self.tail_newlines {
            let within_tail = newlines - (self.newlines - self.tail_newlines);
            Ok(LineStart::At(self.tail_start + after_newline(&self.tail, within_tail)))
        } else if newlines <= self.prefix_newlines {
            self.line_start_in_prefix(newlines).map(LineStart::At)
        } else {
            Ok(LineStart::Lost)
        }
    }

    /// Returns the offset after a newline in the prefix.
    fn line_start_in_prefix(&self, newline: u64) -> Result<u64, Error> {
        let checkpoint = self.checkpoint_before(|checkpoint| checkpoint.newlines < newline);
        let mut missing = newline - checkpoint.newlines;
        let mut position = checkpoint.offset;
        let mut block = Vec::new();
        while position < self.prefix_end {
            let end = self.prefix_end.min(position + SCAN_BLOCK_BYTES);
            block.clear();
            self.read_into(position..end, &mut block)?;
            let newlines = count_newlines(&block);
            if newlines >= missing {
                return Ok(position + after_newline(&block, missing));
            }
            missing -= newlines;
            position = end;
        }
        Ok(self.prefix_end)
    }

    /// Returns the last checkpoint that satisfies the condition. The condition must be false for all later ones.
    fn checkpoint_before(&self, condition: impl Fn(&Checkpoint) -> bool) -> Checkpoint {
        let count = self.checkpoints.partition_point(condition);
        self.checkpoints.get(count.saturating_sub(1)).copied().unwrap_or_default()
    }

    fn tail_bytes(&self, range: Range<u64>) -> &[u8] {
        let start = (range.start.saturating_sub(self.tail_start) as usize).min(self.tail.len());
        let end = (range.end.saturating_sub(self.tail_start) as usize).clamp(start, self.tail.len());
        &self.tail[start..end]
    }

    fn read_prefix(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), Error> {
        match &self.prefix {
            Prefix::Memory(head) => {
                let end = (range.end as usize).min(head.len());
                bytes.extend_from_slice(&head[(range.start as usize).min(end)..end]);
            }
            Prefix::File(file) => {
                let length = bytes.len();
                bytes.resize(length + (range.end - range.start) as usize, 0);
                file.read(&mut bytes[length..], range.start).map_err(ErrorKind::Read)?;
            }
        }
        Ok(())
    }
}

/// Returns the index after a newline, numbered from 1, or the length if there are fewer newlines.
fn after_newline(bytes: &[u8], number: u64) -> u64 {
    let mut newlines = memchr::memchr_iter(b'\n', bytes);
    let found = newlines.nth((number.max(1) - 1) as usize);
    found.map_or(bytes.len(), |index| index + 1) as u64
}
