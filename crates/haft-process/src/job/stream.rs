//! One output of a job, read as it comes.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::fcntl_setpipe_size;

use crate::capture::Output;
use crate::job::OutputCallback;

/// One read takes at most so much; a pipe that fills the smaller one is widened to it.
pub(super) const READ_BYTES: usize = 256 * 1024;
const PIPE_BYTES: usize = 64 * 1024;

/// Which of a job's outputs some bytes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Both in true order.
    Merged,
}

/// A descriptor that is read into an output.
#[derive(Debug)]
pub(super) struct Stream {
    kind: StreamKind,
    source: Option<OwnedFd>,
    output: Output,
    widened: bool,
}

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There were bytes.
    Bytes,
    /// Nothing is there now.
    Nothing,
    /// Nobody holds the other end any more.
    End,
}

impl Stream {
    pub(super) fn new(kind: StreamKind, source: OwnedFd, output: Output) -> Stream {
        Stream { kind, source: Some(source), output, widened: false }
    }

    /// The descriptor to wait for, while it is open.
    pub(super) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(|source| source.as_fd())
    }

    /// Reads once, into the output, and shows the bytes to whoever wants to see them live. The buffer is a place to read
    /// into and nothing else; the output may keep it and give back another.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, callback: Option<&mut OutputCallback>) -> Progress {
        let Some(source) = &self.source else { return Progress::End };
        if buffer.len() != READ_BYTES {
            // Asked for as zeros, so that no page of it is touched before something is read into it.
            *buffer = vec![0; READ_BYTES];
        }
        self.output.set_under_way(true);
        let read = rustix::io::read(source, &mut buffer[..]);
        if !matches!(read, Ok(1..)) {
            self.output.set_under_way(false);
        }
        let count = match read {
            Ok(0) => return self.end(),
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return Progress::Nothing,
            // A terminal whose other side is closed answers EIO.
            Err(_) => return self.end(),
        };
        if count >= PIPE_BYTES && !self.widened {
            self.widened = true;
            let _ = fcntl_setpipe_size(source, READ_BYTES);
        }
        if let Some(callback) = callback {
            callback.show(self.kind, &buffer[..count]);
        }
        self.output.append_buffer(buffer, count);
        self.output.set_under_way(false);
        Progress::Bytes
    }

    /// Stops reading.
    pub(super) fn end(&mut self) -> Progress {
        self.source = None;
        self.output.finish();
        Progress::End
    }
}
