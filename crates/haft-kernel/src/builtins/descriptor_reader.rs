//! Reading from a file descriptor without consuming more than needed, for `read` and `mapfile`.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Context;
use crate::flow::Unwind;
use crate::io::OpenFile;

/// How many bytes are read at once if everything is wanted.
const WHOLE_READ_BYTES: usize = 64 * 1024;

/// How many bytes are read at once if a line is wanted and the rest can be given back by seeking.
const LINE_READ_BYTES: usize = 512;

/// Reads an open file. Bytes that were read ahead are given back at the end.
pub(super) struct DescriptorReader {
    file: Arc<OpenFile>,
    buffer: Vec<u8>,
    at: usize,
    /// How many bytes are read at once.
    size: usize,
    /// Whether the file position can be moved back.
    seekable: bool,
    /// How many bytes are known to be in a pipe, so that they can be read without waiting.
    waiting: u64,
    deadline: Option<Instant>,
}

/// Why no more bytes can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadEnd {
    EndOfFile,
    TimedOut,
    Failed(i32),
}

impl DescriptorReader {
    /// Reads a file until a timeout. `whole` says that the whole file is wanted.
    pub(super) fn new(file: Arc<OpenFile>, timeout: Option<Duration>, whole: bool) -> Self {
        let seekable = file.is_seekable();
        let size = match (whole, seekable) {
            (true, _) => WHOLE_READ_BYTES,
            (false, true) => LINE_READ_BYTES,
            (false, false) => 1,
        };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { file, buffer: Vec::new(), at: 0, size, seekable, waiting: 0, deadline }
    }

    /// Returns the available bytes, at least one. [`DescriptorReader::consume`] removes them.
    pub(super) fn peek(&mut self, context: &mut Context<'_>) -> Result<Result<&[u8], ReadEnd>, Unwind> {
        if self.at >= self.buffer.len()
            && let Some(end) = self.fill(context)?
        {
            return Ok(Err(end));
        }
        Ok(Ok(&self.buffer[self.at..]))
    }

    /// Removes a number of the available bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns the next byte.
    pub(super) fn next(&mut self, context: &mut Context<'_>) -> Result<Result<u8, ReadEnd>, Unwind> {
        let byte = match self.peek(context)? {
            Ok(bytes) => bytes[0],
            Err(end) => return Ok(Err(end)),
        };
        self.consume(1);
        Ok(Ok(byte))
    }

    fn fill(&mut self, context: &mut Context<'_>) -> Result<Option<ReadEnd>, Unwind> {
        // A file that is always ready never waits, so cancellation is checked here.
        context.check()?;
        self.buffer.resize(self.size, 0);
        self.at = 0;
        let end = loop {
            match self.read(context) {
                Ok(0) => break ReadEnd::EndOfFile,
                Ok(length) => {
                    self.buffer.truncate(length);
                    return Ok(None);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => context.check_signals()?,
                    io::ErrorKind::TimedOut => break ReadEnd::TimedOut,
                    _ if context.session().regain_terminal(&error) => {}
                    _ => {
                        break ReadEnd::Failed(
                            error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error()),
                        );
                    }
                },
            }
        };
        self.buffer.clear();
        Ok(Some(end))
    }

    fn read(&mut self, context: &mut Context<'_>) -> io::Result<usize> {
        let Some(descriptor) = self.file.descriptor() else {
            return self.file.read(&mut self.buffer, None, context.cancel_token());
        };
        if self.seekable || self.waiting > 0 {
            self.waiting = self.waiting.saturating_sub(1);
            return Ok(rustix::io::read(descriptor, &mut self.buffer[..])?);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let length = self.file.read(&mut self.buffer, left, context.cancel_token())?;
        if self.size == 1 {
            self.waiting = rustix::io::ioctl_fionread(descriptor.as_fd()).unwrap_or(0);
        }
        Ok(length)
    }

    /// Gives back the bytes that were read ahead.
    pub(super) fn finish(self) {
        let rest = self.buffer.len().saturating_sub(self.at);
        if rest > 0 && self.seekable {
            let _ = self.file.unread(rest);
        }
    }
}
