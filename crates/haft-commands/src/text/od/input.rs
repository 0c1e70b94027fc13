//! The files of `od`, read as one.

use haft_kernel::Bytes;

use super::super::streams::{Stop, TextInput, TextRun};

/// Files that are read one after the other.
pub(super) struct JoinedInput {
    /// The files that are not open yet, the next one last.
    names: Vec<Bytes>,
    current: Option<TextInput>,
}

impl JoinedInput {
    pub(super) fn new(mut names: Vec<Bytes>) -> Self {
        if names.is_empty() {
            names.push(Bytes::from("-"));
        }
        names.reverse();
        Self { names, current: None }
    }

    /// Opens the next file that can be opened. Returns whether there is one.
    pub(super) fn open_next(&mut self, run: &mut TextRun<'_, '_>) -> Result<bool, Stop> {
        self.current = None;
        while let Some(name) = self.names.pop() {
            self.current = run.open(&name)?;
            if self.current.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Skips bytes. Returns whether a file is open. An error ends the skipping.
    pub(super) fn skip(&mut self, run: &mut TextRun<'_, '_>, mut count: u64) -> Result<bool, Stop> {
        while count > 0 {
            let Some(input) = &mut self.current else { break };
            let metadata = input.file().and_then(|file| file.metadata().ok());
            if metadata.is_some_and(|metadata| metadata.is_dir()) {
                return Ok(true);
            }
            input.set_read_size(usize::try_from(count).unwrap_or(usize::MAX).min(1 << 16));
            let length = input.fill(run)?.len();
            input.consume(length);
            count -= length as u64;
            if input.has_failed() {
                return Ok(true);
            }
            if length == 0 {
                self.open_next(run)?;
            }
        }
        if count > 0 {
            return run.fail("cannot skip past end of combined input");
        }
        Ok(self.current.is_some())
    }

    /// Reads a block of this size, or less at the end. If the rest of the input belongs to the next reader, no byte more is read.
    pub(super) fn read(
        &mut self,
        run: &mut TextRun<'_, '_>,
        wanted: usize,
        is_limited: bool,
        block: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        block.clear();
        while block.len() < wanted {
            let Some(input) = &mut self.current else { return Ok(()) };
            let left = wanted - block.len();
            input.set_read_size(if is_limited { left } else { 1 << 16 });
            let available = input.fill(run)?;
            let length = available.len().min(left);
            block.extend_from_slice(&available[..length]);
            input.consume(length);
            if length == 0 {
                self.open_next(run)?;
            }
        }
        Ok(())
    }
}
