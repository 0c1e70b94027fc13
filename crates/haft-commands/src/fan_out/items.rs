//! Reads items from the input of a fan-out.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, CancelToken};

const READ_CHUNK_BYTES: usize = 64 * 1024;

/// Splits a file into items.
#[derive(Debug)]
pub(super) struct ItemReader {
    file: Option<Arc<OpenFile>>,
    separator: u8,
    buffer: Vec<u8>,
    /// Items that were given, and are not read.
    given: VecDeque<Bytes>,
    /// The number of bytes of `buffer` that were returned as items.
    consumed: usize,
    at_end: bool,
}

impl ItemReader {
    pub(super) fn new(file: Option<Arc<OpenFile>>, separator: u8) -> Self {
        Self { file, separator, buffer: Vec::new(), given: VecDeque::new(), consumed: 0, at_end: false }
    }

    /// Returns these items, and reads nothing.
    pub(super) fn of_items(items: Vec<Bytes>) -> Self {
        Self { given: items.into(), ..Self::new(None, b'\n') }
    }

    /// The descriptor to poll before [`fill`](Self::fill); `None` if reading never blocks.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref()?.descriptor()
    }

    /// Reads one chunk. Returns whether the input has ended.
    pub(super) fn fill(&mut self, cancel: &CancelToken) -> io::Result<bool> {
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        let Some(file) = &self.file else {
            self.at_end = true;
            return Ok(true);
        };
        let before = self.buffer.len();
        self.buffer.resize(before + READ_CHUNK_BYTES, 0);
        let result = file.read(&mut self.buffer[before..], None, cancel);
        self.buffer.truncate(before + result.as_ref().map_or(0, |length| *length));
        self.at_end = matches!(result, Ok(0) | Err(_));
        if self.at_end {
            // Closing the file tells the writer that nothing more is read.
            self.file = None;
        }
        result.map(|_| self.at_end)
    }

    /// The next complete item. At the end of the input, an item without a separator is complete.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        if let Some(item) = self.given.pop_front() {
            return Some(item);
        }
        let rest = &self.buffer[self.consumed..];
        match memchr::memchr(self.separator, rest) {
            Some(length) => {
                let item = Bytes::from(&rest[..length]);
                self.consumed += length + 1;
                Some(item)
            }
            None if self.at_end && !rest.is_empty() => {
                let item = Bytes::from(rest);
                self.consumed = self.buffer.len();
                Some(item)
            }
            None => None,
        }
    }
}
