//! Reading one output of a job without blocking.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::fcntl_setpipe_size;

use crate::capture::Output;
use crate::job::OutputCallback;

/// Bytes that are read at once, and the size of a pipe after a read has filled the default size.
const READ_BYTES: usize = 256 * 1024;
/// Default size of a pipe.
const DEFAULT_PIPE_BYTES: usize = 64 * 1024;

/// The stream that captured bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Standard output and standard error, in the order in which they were written.
    Merged,
}

/// Reads a pipe or terminal into an [`Output`].
#[derive(Debug)]
pub(super) struct OutputReader {
    kind: StreamKind,
    source: Option<OwnedFd>,
    output: Output,
    /// Whether the pipe was enlarged.
    enlarged: bool,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadProgress {
    /// Bytes were read.
    Bytes,
    /// No bytes are available.
    Nothing,
    /// The write end was closed by all processes.
    End,
}

impl OutputReader {
    pub(super) fn new(kind: StreamKind, source: OwnedFd, output: Output) -> OutputReader {
        OutputReader { kind, source: Some(source), output, enlarged: false }
    }

    /// Returns the descriptor to poll, until the stream has ended.
    pub(super) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(|source| source.as_fd())
    }

    /// Reads once, appends the bytes to the output and passes them to the callback. `buffer` is only reused memory: the
    /// output may keep it and return another one.
    pub(super) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        callback: Option<&mut OutputCallback>,
    ) -> ReadProgress {
        let Some(source) = &self.source else { return ReadProgress::End };
        if buffer.len() != READ_BYTES {
            // Zeroed memory from the allocator has no pages until it is written.
            *buffer = vec![0; READ_BYTES];
        }
        self.output.set_read_in_progress(true);
        let read = rustix::io::read(source, &mut buffer[..]);
        if !matches!(read, Ok(1..)) {
            self.output.set_read_in_progress(false);
        }
        let count = match read {
            Ok(0) => return self.end(),
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return ReadProgress::Nothing,
            // The master of a terminal returns EIO after the slave was closed.
            Err(_) => return self.end(),
        };
        if count >= DEFAULT_PIPE_BYTES && !self.enlarged {
            self.enlarged = true;
            let _ = fcntl_setpipe_size(source, READ_BYTES);
        }
        if let Some(callback) = callback {
            callback.call(self.kind, &buffer[..count]);
        }
        self.output.append_buffer(buffer, count);
        self.output.set_read_in_progress(false);
        ReadProgress::Bytes
    }

    /// Stops reading and finishes the output.
    pub(super) fn end(&mut self) -> ReadProgress {
        self.source = None;
        self.output.finish();
        ReadProgress::End
    }
}
