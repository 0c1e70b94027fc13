//! Feeding a process while its output is read.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

const CHUNK: usize = 64 * 1024;

/// What is on its way to a process. Bytes the process never reads are no problem, nor is its end.
#[derive(Debug)]
pub(super) struct Feeder {
    /// The writing end; `None` once it was closed.
    target: Option<OwnedFd>,
    pending: VecDeque<Piece>,
    /// A file to read more from.
    source: Option<Arc<OwnedFd>>,
    /// Whether somebody may still write more.
    open: bool,
    /// Whether the process is on a terminal, which is not closed at the end of the input.
    terminal: bool,
}

/// Bytes and how many of them are written.
#[derive(Debug)]
struct Piece {
    bytes: Arc<[u8]>,
    written: usize,
}

impl Feeder {
    pub(super) fn new(target: OwnedFd, terminal: bool) -> Feeder {
        Feeder { target: Some(target), pending: VecDeque::new(), source: None, open: true, terminal }
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: Arc<[u8]>) {
        if self.target.is_some() && !bytes.is_empty() {
            self.pending.push_back(Piece { bytes, written: 0 });
        }
    }

    /// Reads more from a file whenever everything is written.
    pub(super) fn forward(&mut self, source: Arc<OwnedFd>) {
        self.source = Some(source);
    }

    /// Ends the input after what is pending.
    pub(super) fn finish(&mut self) {
        self.open = false;
        if !self.terminal && self.pending.is_empty() {
            self.close();
        }
    }

    /// Gives up: nobody reads any more.
    pub(super) fn close(&mut self) {
        self.target = None;
        self.source = None;
        self.pending.clear();
    }

    /// The descriptor to wait for until it can be written, if there is something to write.
    pub(super) fn writable(&self) -> Option<BorrowedFd<'_>> {
        self.target.as_ref().filter(|_| !self.pending.is_empty()).map(|target| target.as_fd())
    }

    /// The descriptor to wait for until it can be read, if there is nothing to write.
    pub(super) fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.source
            .as_ref()
            .filter(|_| self.pending.is_empty() && self.target.is_some())
            .map(|source| source.as_fd())
    }

    /// Whether no input will ever come, and the process, on a terminal, has no other way to know than to be told when
    /// it asks.
    pub(super) fn is_exhausted(&self) -> bool {
        self.terminal && !self.open && self.pending.is_empty()
    }

    /// Writes as much as the process takes now.
    pub(super) fn write(&mut self) {
        while let (Some(target), Some(piece)) = (&self.target, self.pending.front_mut()) {
            match rustix::io::write(target, &piece.bytes[piece.written..]) {
                Ok(count) => piece.written += count,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return,
                // The process has closed its end, or is gone: it has all it wants.
                Err(_) => return self.close(),
            }
            if piece.written == piece.bytes.len() {
                self.pending.pop_front();
            }
        }
        if self.pending.is_empty() && !self.open && !self.terminal && self.source.is_none() {
            self.target = None;
        }
    }

    /// Reads from the source once.
    pub(super) fn read(&mut self) {
        let Some(source) = &self.source else { return };
        let mut buffer = vec![0; CHUNK];
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
