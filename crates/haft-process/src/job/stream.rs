//! One output of a job, read as it comes.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::pipe::fcntl_setpipe_size;

use crate::capture::Output;

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
    pub(super) kind: StreamKind,
    source: Option<OwnedFd>,
    output: Output,
    widened: bool,
}

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There were bytes, now in the buffer.
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

    /// Reads once, into the output and into `buffer`.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> Progress {
        buffer.clear();
        let Some(source) = &self.source else { return Progress::End };
        match rustix::io::read(source, spare_capacity(buffer)) {
            Ok(0) => self.end(),
            Ok(count) => {
                if count >= PIPE_BYTES && !self.widened {
                    self.widened = true;
                    let _ = fcntl_setpipe_size(source, READ_BYTES);
                }
                self.output.append(buffer);
                Progress::Bytes
            }
            Err(Errno::INTR | Errno::AGAIN) => Progress::Nothing,
            // A terminal whose other side is closed answers EIO.
            Err(_) => self.end(),
        }
    }

    /// Stops reading.
    pub(super) fn end(&mut self) -> Progress {
        self.source = None;
        self.output.finish();
        Progress::End
    }
}
