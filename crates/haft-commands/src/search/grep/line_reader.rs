//! Reads the lines of a file and notices binary data.

use haft_text::regex::gnu::GnuRegex;

use super::printer::GrepLine;
use crate::text::streams::{Stop, TextInput, TextRun};

/// How much GNU's `grep` reads at once. It decides from what it has read whether a file is binary.
const READ_BYTES: usize = 96 * 1024;

/// The lines of a file.
pub(super) struct LineReader {
    input: TextInput,
    end: u8,
    /// The bytes that have been read but not returned.
    unread: usize,
    /// The bytes that have been returned.
    pub(super) consumed: u64,
    /// Whether to look for NUL bytes.
    seeks_nul: bool,
    has_started: bool,
    /// Whether a NUL byte was found. It ends a line from then on.
    pub(super) has_nul: bool,
}

impl LineReader {
    pub(super) fn new(input: TextInput, end: u8, seeks_nul: bool) -> Self {
        let input = input.with_read_size(READ_BYTES);
        Self { input, end, unread: 0, consumed: 0, seeks_nul, has_started: false, has_nul: false }
    }

    /// Skips complete lines that do not match. Returns whether the next line is known to match. Lines are counted if `counts`.
    pub(super) fn skip_to_match(
        &mut self,
        run: &mut TextRun<'_, '_>,
        regex: &GnuRegex,
        line: &mut GrepLine,
        counts: bool,
    ) -> Result<bool, Stop> {
        loop {
            self.fill(run)?;
            let available = self.input.fill(run)?;
            let last = memchr::memrchr(b'\n', available).filter(|_| !self.has_nul);
            let Some(last) = last else { return Ok(false) };
            let found = regex.find_line(&available[..last], 0);
            let skipped = match found {
                Some(at) => memchr::memrchr(b'\n', &available[..at]).map_or(0, |newline| newline + 1),
                None => last + 1,
            };
            if counts {
                line.number += memchr::memchr_iter(b'\n', &available[..skipped]).count() as u64;
            }
            line.offset += skipped as u64;
            self.consume(skipped);
            if found.is_some() || self.unread > 0 {
                return Ok(found.is_some());
            }
        }
    }

    /// Reads the next line without its end. Returns whether there is one.
    pub(super) fn next(&mut self, run: &mut TextRun<'_, '_>, line: &mut Vec<u8>) -> Result<bool, Stop> {
        line.clear();
        let mut is_line = false;
        loop {
            self.fill(run)?;
            let available = self.input.fill(run)?;
            if available.is_empty() {
                return Ok(is_line);
            }
            is_line = true;
            let found = match self.has_nul {
                true => memchr::memchr2(self.end, 0, available),
                false => memchr::memchr(self.end, available),
            };
            let count = found.unwrap_or(available.len());
            line.extend_from_slice(&available[..count]);
            let taken = count + usize::from(found.is_some());
            self.consume(taken);
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.unread -= count;
        self.consumed += count as u64;
    }

    /// Reads if everything has been returned, and looks for binary data. A file with a hole has NUL bytes there.
    fn fill(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        if self.unread > 0 {
            return Ok(());
        }
        self.unread = self.input.fill(run)?.len();
        if self.seeks_nul && !self.has_nul {
            let is_first = !std::mem::replace(&mut self.has_started, true);
            self.has_nul =
                memchr::memchr(0, self.input.fill(run)?).is_some() || is_first && self.input.has_hole();
        }
        Ok(())
    }

    /// Whether reading has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.input.has_failed()
    }

    /// Leaves what follows the first `end` bytes to the next reader of the file.
    pub(super) fn give_back(&mut self, end: u64) {
        let returned = usize::try_from(self.consumed - end).unwrap_or(0);
        self.input.give_back_more(returned);
    }
}
