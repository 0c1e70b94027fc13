//! Reading from a descriptor no further than one must: for `read` and `mapfile`.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Context;
use crate::flow::Unwind;
use crate::io::OpenFile;

/// How much is read at once where what is too much can be given back.
const CHUNK: usize = 4096;

/// Bytes of an open file, one by one. What was read ahead is given back at the end.
pub(super) struct Input {
    file: Arc<OpenFile>,
    buffer: Vec<u8>,
    at: usize,
    /// Whether one may read ahead.
    ahead: bool,
    /// How many bytes wait in a pipe, which can be read without asking whether there are any.
    waiting: u64,
    deadline: Option<Instant>,
}

/// The next byte, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Byte(u8),
    End,
    TimedOut,
    Failed(i32),
}

impl Input {
    /// Reads from a file until a time; `whole` says that everything is wanted.
    pub(super) fn new(file: Arc<OpenFile>, timeout: Option<Duration>, whole: bool) -> Self {
        let ahead = whole || file.is_seekable();
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { file, buffer: Vec::new(), at: 0, ahead, waiting: 0, deadline }
    }

    pub(super) fn next(&mut self, context: &mut Context<'_>) -> Result<Next, Unwind> {
        if let Some(&byte) = self.buffer.get(self.at) {
            self.at += 1;
            return Ok(Next::Byte(byte));
        }
        self.fill(context)
    }

    fn fill(&mut self, context: &mut Context<'_>) -> Result<Next, Unwind> {
        let size = if self.ahead { CHUNK } else { 1 };
        self.buffer.resize(size, 0);
        loop {
            let result = self.read(context);
            match result {
                Ok(0) => {
                    self.buffer.clear();
                    self.at = 0;
                    return Ok(Next::End);
                }
                Ok(length) => {
                    self.buffer.truncate(length);
                    self.at = 1;
                    return Ok(Next::Byte(self.buffer[0]));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    context.check()?;
                    if context.session.has_pending_signals() {
                        context.session.run_signal_traps()?;
                    }
                }
                Err(error) => {
                    self.buffer.clear();
                    self.at = 0;
                    return Ok(match error.kind() {
                        io::ErrorKind::TimedOut => Next::TimedOut,
                        _ => Next::Failed(error.raw_os_error().unwrap_or(5)),
                    });
                }
            }
        }
    }

    fn read(&mut self, context: &mut Context<'_>) -> io::Result<usize> {
        if !self.ahead
            && self.waiting > 0
            && let Some(descriptor) = self.file.descriptor()
        {
            self.waiting -= 1;
            return Ok(rustix::io::read(descriptor, &mut self.buffer[..])?);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let length = self.file.read(&mut self.buffer, left, &context.session.cancel)?;
        if !self.ahead
            && let Some(descriptor) = self.file.descriptor()
        {
            self.waiting = rustix::io::ioctl_fionread(descriptor.as_fd()).unwrap_or(0);
        }
        Ok(length)
    }

    /// Gives back what was read ahead.
    pub(super) fn finish(self) {
        let rest = self.buffer.len() - self.at;
        if rest > 0 && self.file.is_seekable() {
            let _ = self.file.unread(rest);
        }
    }
}
