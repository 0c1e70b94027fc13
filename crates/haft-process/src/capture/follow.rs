use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use rustix::event::{EventfdFlags, eventfd};

use super::{Error, ErrorKind, Output};

/// Bytes that were appended after a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// Consecutive bytes, at most the requested number.
    pub bytes: Vec<u8>,
    /// Their offset in the stream.
    pub start: u64,
    /// The cursor for the next read.
    pub next: u64,
    /// Number of lost bytes between the cursor and `start`.
    pub lost: u64,
    /// Whether the stream is complete and ends at `next`.
    pub finished: bool,
}

impl Output {
    /// Returns at most `limit` bytes from `cursor` on. To follow the stream, start with 0 and continue with [`Growth::next`].
    ///
    /// # Errors
    /// Fails if the spill file cannot be read.
    pub fn read_since(&self, cursor: u64, limit: usize) -> Result<Growth, Error> {
        let state = self.state();
        let tail_start = state.tail_start();
        let start = if cursor < state.prefix_end {
            cursor
        } else {
            cursor.clamp(tail_start, state.total.max(tail_start))
        };
        let lost = start.saturating_sub(cursor);
        let mut bytes = Vec::new();
        let mut file = None;
        if start >= tail_start {
            state.tail.copy((start - tail_start) as usize, limit, &mut bytes);
        } else if start < state.head.len() as u64 {
            let head = &state.head[start as usize..];
            bytes.extend_from_slice(&head[..head.len().min(limit)]);
        } else {
            let available = (state.prefix_end - start).min(limit as u64);
            bytes.resize(available as usize, 0);
            file.clone_from(&state.spill);
        }
        let next = start + bytes.len() as u64;
        let finished = state.finished && next == state.total;
        drop(state);
        if let Some(file) = file {
            file.read(&mut bytes, start).map_err(ErrorKind::Read)?;
        }
        Ok(Growth { bytes, start, next, lost, finished })
    }

    /// Waits until there are bytes after `cursor` or the stream is complete. Returns false if the deadline passes first.
    pub fn wait_since(&self, cursor: u64, deadline: Option<Instant>) -> bool {
        let mut state = self.state();
        state.waiting += 1;
        let reached = loop {
            if state.total > cursor || state.finished {
                break true;
            }
            let grown = &self.shared.grown;
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => grown.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => break false,
                Some(left) => grown.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        };
        state.waiting -= 1;
        reached
    }

    /// Returns a descriptor for `poll` that becomes readable when the output grows or is complete.
    ///
    /// # Errors
    /// Fails if the system has no descriptors left.
    pub fn watch(&self) -> io::Result<OutputWatch> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let waker = Arc::new(OutputWaker { descriptor, notified: AtomicBool::new(false) });
        let mut state = self.state();
        if state.total > 0 || state.finished {
            waker.wake();
        }
        state.wakers.push(Arc::downgrade(&waker));
        Ok(OutputWatch { waker })
    }
}

/// A descriptor that becomes readable when an output grows or is complete.
///
/// To miss nothing, [`clear`](OutputWatch::clear) it before [reading](Output::read_since) all new bytes.
#[derive(Debug)]
pub struct OutputWatch {
    waker: Arc<OutputWaker>,
}

impl OutputWatch {
    /// Makes the descriptor unreadable until the output grows again.
    pub fn clear(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.waker.descriptor, &mut count);
        self.waker.notified.store(false, Ordering::SeqCst);
    }
}

impl AsFd for OutputWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.descriptor.as_fd()
    }
}

/// The output's side of an [`OutputWatch`]. Waking needs a system call only if the watch was cleared since the last time.
#[derive(Debug)]
pub(super) struct OutputWaker {
    descriptor: OwnedFd,
    notified: AtomicBool,
}

impl OutputWaker {
    /// Makes the descriptor readable. Returns false if that fails.
    pub(super) fn wake(&self) -> bool {
        if self.notified.swap(true, Ordering::SeqCst) {
            return true;
        }
        let written = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
        matches!(written, Ok(_) | Err(rustix::io::Errno::AGAIN))
    }
}
