//! Reading from a descriptor no further than one must: for `read` and `mapfile`.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Context;
use crate::flow::Unwind;
use crate::io::OpenFile;

/// How much is read at once where everything is wanted, and where what is too much can be given back.
const CHUNK: usize = 64 * 1024;
const LINE: usize = 512;

/// Bytes of an open file. What was read ahead is given back at the end.
pub(super) struct Input {
    file: Arc<OpenFile>,
    buffer: Vec<u8>,
    at: usize,
    /// How much may be read at once.
    size: usize,
    /// Whether the position can be moved back, which only what is always ready allows.
    seekable: bool,
    /// How many bytes wait in a pipe, which can be read without asking whether there are any.
    waiting: u64,
    deadline: Option<Instant>,
}

/// Why there are no more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    OfFile,
    OfTime,
    Failed(i32),
}

impl Input {
    /// Reads from a file until a time; `whole` says that everything is wanted.
    pub(super) fn new(file: Arc<OpenFile>, timeout: Option<Duration>, whole: bool) -> Self {
        let seekable = file.is_seekable();
        let size = match (whole, seekable) {
            (true, _) => CHUNK,
            (false, true) => LINE,
            (false, false) => 1,
        };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { file, buffer: Vec::new(), at: 0, size, seekable, waiting: 0, deadline }
    }

    /// The bytes that are there, at least one; [`Input::consume`] takes them.
    pub(super) fn peek(&mut self, context: &mut Context<'_>) -> Result<Result<&[u8], End>, Unwind> {
        if self.at >= self.buffer.len()
            && let Some(end) = self.fill(context)?
        {
            return Ok(Err(end));
        }
        Ok(Ok(&self.buffer[self.at..]))
    }

    /// Takes so many of the bytes that are there.
    pub(super) fn consume(&mut self, count: usize) {
        self.at += count;
    }

    /// The next byte.
    pub(super) fn next(&mut self, context: &mut Context<'_>) -> Result<Result<u8, End>, Unwind> {
        let byte = match self.peek(context)? {
            Ok(bytes) => bytes[0],
            Err(end) => return Ok(Err(end)),
        };
        self.consume(1);
        Ok(Ok(byte))
    }

    fn fill(&mut self, context: &mut Context<'_>) -> Result<Option<End>, Unwind> {
        // What can always be read never waits, and would never be stopped.
        context.check()?;
        self.buffer.resize(self.size, 0);
        self.at = 0;
        let end = loop {
            match self.read(context) {
                Ok(0) => break End::OfFile,
                Ok(length) => {
                    self.buffer.truncate(length);
                    return Ok(None);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {
                        context.check()?;
                        if context.session.has_pending_signals() {
                            context.session.run_signal_traps()?;
                        }
                    }
                    io::ErrorKind::TimedOut => break End::OfTime,
                    _ if context.session.regain_terminal(&error) => {}
                    _ => break End::Failed(error.raw_os_error().unwrap_or(5)),
                },
            }
        };
        self.buffer.clear();
        Ok(Some(end))
    }

    fn read(&mut self, context: &mut Context<'_>) -> io::Result<usize> {
        let Some(descriptor) = self.file.descriptor() else {
            return self.file.read(&mut self.buffer, None, context.session.limits.cancel());
        };
        if self.seekable || self.waiting > 0 {
            self.waiting = self.waiting.saturating_sub(1);
            return Ok(rustix::io::read(descriptor, &mut self.buffer[..])?);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let length = self.file.read(&mut self.buffer, left, context.session.limits.cancel())?;
        if self.size == 1 {
            self.waiting = rustix::io::ioctl_fionread(descriptor.as_fd()).unwrap_or(0);
        }
        Ok(length)
    }

    /// Gives back what was read ahead.
    pub(super) fn finish(self) {
        let rest = self.buffer.len().saturating_sub(self.at);
        if rest > 0 && self.seekable {
            let _ = self.file.unread(rest);
        }
    }
}
