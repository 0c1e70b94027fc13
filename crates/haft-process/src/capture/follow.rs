use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use rustix::event::{EventfdFlags, eventfd};

use super::{Error, ErrorKind, Output};

/// What came since a place in the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// The bytes, as many as were asked for and are kept in one run.
    pub bytes: Vec<u8>,
    /// Where they begin.
    pub start: u64,
    /// Where to go on reading.
    pub next: u64,
    /// So many bytes before `start` came too, and are lost.
    pub lost: u64,
    /// Whether there is nothing after `next` and never will be.
    pub finished: bool,
}

impl Output {
    /// The bytes from `cursor` on, at most `limit` of them. A reader that follows the stream begins with 0 and goes on
    /// with [`Growth::next`].
    ///
    /// # Errors
    /// When the spill file cannot be read back.
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

    /// Waits until there is something after `cursor`, or nothing more to come, or the deadline has passed. Says whether
    /// one of the first two holds.
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

    /// A descriptor that becomes readable when the output grows or finishes, for those who wait by `poll`.
    ///
    /// # Errors
    /// When no descriptor is to be had.
    pub fn watch(&self) -> io::Result<OutputWatch> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(Bell { descriptor, rung: AtomicBool::new(false) });
        let mut state = self.state();
        if state.total > 0 || state.finished {
            bell.ring();
        }
        state.bells.push(Arc::downgrade(&bell));
        Ok(OutputWatch { bell })
    }
}

/// Tells by a readable descriptor that an output has grown or finished.
///
/// To miss nothing, [`clear`](OutputWatch::clear) it first and then [read](Output::read_since) until there is nothing new.
#[derive(Debug)]
pub struct OutputWatch {
    bell: Arc<Bell>,
}

impl OutputWatch {
    /// Makes the descriptor unreadable until the output grows again.
    pub fn clear(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.bell.descriptor, &mut count);
        self.bell.rung.store(false, Ordering::SeqCst);
    }
}

impl AsFd for OutputWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.descriptor.as_fd()
    }
}

/// The output's side of a watch. Ringing costs a system call only when it was heard since the last time.
#[derive(Debug)]
pub(super) struct Bell {
    descriptor: OwnedFd,
    rung: AtomicBool,
}

impl Bell {
    /// Returns whether the bell works, which a full counter does not change.
    pub(super) fn ring(&self) -> bool {
        if self.rung.swap(true, Ordering::SeqCst) {
            return true;
        }
        let written = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
        matches!(written, Ok(_) | Err(rustix::io::Errno::AGAIN))
    }
}
