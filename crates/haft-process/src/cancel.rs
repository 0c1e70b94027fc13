//! Cancellation: a flag that is cheap to check, with a descriptor to poll.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// Asks all holders of its clones to stop. It cannot be reset.
///
/// A check is one atomic load, cheap enough for every iteration of a loop. A [child](CancelToken::child) is cancelled with
/// its parent, and can be cancelled alone.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// The signal that is reported as the cause of death; 0 for none.
    signal: AtomicI32,
    /// Becomes readable on cancellation and is never read, so that all waiters see it. Created on first use.
    event: OnceLock<OwnedFd>,
    children: Mutex<Vec<Weak<CancelState>>>,
    is_child: bool,
}

impl CancelToken {
    /// Makes a token.
    #[must_use]
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Makes a token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> CancelToken {
        let child = CancelToken(Arc::new(CancelState { is_child: true, ..CancelState::default() }));
        let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|other| other.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Cancels the token and its children.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Cancels the token and reports a signal as the cause.
    pub fn cancel_as(&self, signal: i32) {
        self.0.signal.store(signal, Ordering::SeqCst);
        self.cancel();
    }

    /// Whether the token was cancelled.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns the signal of [`cancel_as`](CancelToken::cancel_as), if it was called.
    #[must_use]
    pub fn killed_by(&self) -> Option<i32> {
        Some(self.0.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Whether the token can be cancelled elsewhere: through a clone or through its parent.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.is_child || Arc::strong_count(&self.0) > 1
    }

    /// Returns a descriptor that becomes readable on cancellation.
    ///
    /// # Errors
    /// The first call fails if the system has no descriptors left. Later calls do not fail.
    pub fn descriptor(&self) -> Result<BorrowedFd<'_>, Error> {
        if let Some(event) = self.0.event.get() {
            return Ok(event.as_fd());
        }
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("create an eventfd", error))?;
        let event = self.0.event.get_or_init(|| made);
        // `cancel` sets the flag before it reads the event; here the event is set before the flag is read. So one of the two
        // always sees the other.
        if self.0.cancelled.load(Ordering::SeqCst) {
            notify(event);
        }
        Ok(event.as_fd())
    }
}

impl CancelState {
    fn cancel(&self) {
        if self.cancelled.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Some(event) = self.event.get() {
            notify(event);
        }
        let children = std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        for child in children.iter().filter_map(Weak::upgrade) {
            child.cancel();
        }
    }
}

/// Makes an eventfd readable.
pub(crate) fn notify(event: impl AsFd) {
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_readable(token: &CancelToken) -> bool {
        let event = token.descriptor().unwrap();
        poll(&mut [PollFd::new(&event, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn children_are_cancelled_with_their_parent_and_not_vice_versa() {
        let parent = CancelToken::new();
        let (first, second) = (parent.child(), parent.child());
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(second.is_cancelled());
        assert!(parent.child().is_cancelled());
    }

    #[test]
    fn descriptors_become_readable_whether_created_before_or_after_cancellation() {
        let token = CancelToken::new();
        let child = token.child();
        assert!(!is_readable(&child));
        token.cancel_as(libc::SIGTERM);
        assert!(is_readable(&token) && is_readable(&child));
        assert_eq!((token.killed_by(), child.killed_by()), (Some(libc::SIGTERM), None));
    }
}
