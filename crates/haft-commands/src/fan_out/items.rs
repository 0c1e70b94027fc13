//! Items from an input.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, CancelToken};

const CHUNK: usize = 64 * 1024;

/// What is read from an input, item by item.
#[derive(Debug)]
pub(super) struct ItemReader {
    file: Option<Arc<OpenFile>>,
    separator: u8,
    buffer: Vec<u8>,
    /// How much of the buffer was taken as items.
    taken: usize,
    ended: bool,
}

impl ItemReader {
    pub(super) fn new(file: Option<Arc<OpenFile>>, separator: u8) -> Self {
        Self { file, separator, buffer: Vec::new(), taken: 0, ended: false }
    }

    /// What can be waited for; `None` if reading does not wait.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref()?.descriptor()
    }

    /// Reads what there is. Yields whether that was the end.
    pub(super) fn fill(&mut self, cancel: &CancelToken) -> io::Result<bool> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let Some(file) = &self.file else {
            self.ended = true;
            return Ok(true);
        };
        let before = self.buffer.len();
        self.buffer.resize(before + CHUNK, 0);
        let result = file.read(&mut self.buffer[before..], None, cancel);
        self.buffer.truncate(before + result.as_ref().map_or(0, |length| *length));
        self.ended = matches!(result, Ok(0) | Err(_));
        if self.ended {
            // Whoever writes learns that nobody reads.
            self.file = None;
        }
        result.map(|_| self.ended)
    }

    /// The next whole item that was read; at the end of the input, what is left is one too.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let rest = &self.buffer[self.taken..];
        match memchr::memchr(self.separator, rest) {
            Some(length) => {
                let item = Bytes::from(&rest[..length]);
                self.taken += length + 1;
                Some(item)
            }
            None if self.ended && !rest.is_empty() => {
                let item = Bytes::from(rest);
                self.taken = self.buffer.len();
                Some(item)
            }
            None => None,
        }
    }
}
