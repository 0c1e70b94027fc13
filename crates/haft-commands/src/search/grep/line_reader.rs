//! Reads the lines of a file and notices binary data.

use crate::text::streams::{Stop, TextInput, TextRun};

/// How much GNU's `grep` reads at once. It decides from what it has read whether a file is binary.
const READ_BYTES: usize = 96 * 1024;

/// The lines of a file.
pub(super) struct LineReader {
    input: TextInput,
    end: u8,
    /// The bytes that have been read but not returned.
    unread: usize,
    /// Whether to look for NUL bytes.
    seeks_nul: bool,
    /// Whether a NUL byte was found. It ends a line from then on.
    pub(super) has_nul: bool,
}

impl LineReader {
    pub(super) fn new(input: TextInput, end: u8, seeks_nul: bool) -> Self {
        Self { input: input.with_read_size(READ_BYTES), end, unread: 0, seeks_nul, has_nul: false }
    }

    /// Reads the next line without its end. Returns whether there is one.
    pub(super) fn next(&mut self, run: &mut TextRun<'_, '_>, line: &mut Vec<u8>) -> Result<bool, Stop> {
        line.clear();
        let mut is_line = false;
        loop {
            let is_fresh = self.unread == 0;
            let available = self.input.fill(run)?;
            if available.is_empty() {
                return Ok(is_line);
            }
            is_line = true;
            self.unread = available.len();
            if is_fresh && self.seeks_nul && !self.has_nul {
                self.has_nul = memchr::memchr(0, available).is_some();
            }
            let found = match self.has_nul {
                true => memchr::memchr2(self.end, 0, available),
                false => memchr::memchr(self.end, available),
            };
            let count = found.unwrap_or(available.len());
            line.extend_from_slice(&available[..count]);
            let taken = count + usize::from(found.is_some());
            self.input.consume(taken);
            self.unread -= taken;
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    /// Whether reading has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.input.has_failed()
    }

    /// Leaves the rest to the next reader of the file.
    pub(super) fn give_back(&mut self) {
        self.input.give_back();
    }
}
