//! Writing a job's input without blocking, while its output is read.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

/// Bytes that are read from a forwarded file at once.
const FORWARD_CHUNK_BYTES: usize = 64 * 1024;

/// Writes input to a process. A process may end or close its input at any time; unread input is dropped then.
#[derive(Debug)]
pub(super) struct InputWriter {
    /// The write end; `None` after it was closed.
    target: Option<OwnedFd>,
    pending: VecDeque<PendingInput>,
    /// A file whose contents are forwarded.
    source: Option<Arc<OwnedFd>>,
    /// Whether more input may be added.
    open: bool,
    /// Whether the target is a terminal, which is not closed at the end of the input.
    terminal: bool,
}

#[derive(Debug)]
struct PendingInput {
    bytes: Arc<[u8]>,
    written: usize,
}

impl InputWriter {
    pub(super) fn new(target: OwnedFd, terminal: bool) -> InputWriter {
        InputWriter { target: Some(target), pending: VecDeque::new(), source: None, open: true, terminal }
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: Arc<[u8]>) {
        if self.target.is_some() && !bytes.is_empty() {
            self.pending.push_back(PendingInput { bytes, written: 0 });
        }
    }

    /// Forwards the contents of a file, after the pending bytes.
    pub(super) fn forward(&mut self, source: Arc<OwnedFd>) {
        self.source = Some(source);
    }

    /// Ends the input after the pending bytes.
    pub(super) fn finish(&mut self) {
        self.open = false;
        if !self.terminal && self.pending.is_empty() {
            self.close();
        }
    }

    /// Closes the input and drops pending bytes.
    pub(super) fn close(&mut self) {
        self.target = None;
        self.source = None;
        self.pending.clear();
    }

    /// Returns the descriptor to poll for writing, if bytes are pending.
    pub(super) fn writable(&self) -> Option<BorrowedFd<'_>> {
        self.target.as_ref().filter(|_| !self.pending.is_empty()).map(|target| target.as_fd())
    }

    /// Returns the forwarded file to poll for reading, if no bytes are pending.
    pub(super) fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.source
            .as_ref()
            .filter(|_| self.pending.is_empty() && self.target.is_some())
            .map(|source| source.as_fd())
    }

    /// Whether the target is a terminal and the input has ended. The process learns this only if the end-of-file
    /// character is written while it reads.
    pub(super) fn is_exhausted(&self) -> bool {
        self.terminal && !self.open && self.pending.is_empty()
    }

    /// Writes as many bytes as the target accepts without blocking.
    pub(super) fn write(&mut self) {
        while let (Some(target), Some(pending)) = (&self.target, self.pending.front_mut()) {
            match rustix::io::write(target, &pending.bytes[pending.written..]) {
                Ok(count) => pending.written += count,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return,
                // The process has closed its input or has ended.
                Err(_) => return self.close(),
            }
            if pending.written == pending.bytes.len() {
                self.pending.pop_front();
            }
        }
        if self.pending.is_empty() && !self.open && !self.terminal && self.source.is_none() {
            self.target = None;
        }
    }

    /// Reads once from the forwarded file.
    pub(super) fn read(&mut self) {
        let Some(source) = &self.source else { return };
        let mut buffer = vec![0; FORWARD_CHUNK_BYTES];
        match rustix::io::read(source, &mut buffer) {
            Ok(0) => self.end_source(),
            Ok(count) => self.push(Arc::from(&buffer[..count])),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.end_source(),
        }
    }

    fn end_source(&mut self) {
        self.source = None;
        self.finish();
    }
}
