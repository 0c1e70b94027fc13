//! Cancellation: a flag that everybody can see and every `poll` can wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// Asks whatever holds a clone of it to stop. Once cancelled it stays so.
///
/// To look at it is one load, cheap enough for every round of a loop. A [child](CancelToken::child) is cancelled with the
/// token that it was made from, and can be cancelled without it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    cancelled: AtomicBool,
    /// A signal that whoever is stopped shall seem to have died of; 0 for none.
    signal: AtomicI32,
    /// Readable from the moment of cancellation on, and never read, so that every waiter sees it. Made when somebody
    /// first waits.
    event: OnceLock<OwnedFd>,
    children: Mutex<Vec<Weak<Inner>>>,
    is_child: bool,
}

impl CancelToken {
    /// A token that nobody has cancelled yet.
    #[must_use]
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// A token that is cancelled with this one, and can be cancelled without it.
    #[must_use]
    pub fn child(&self) -> CancelToken {
        let child = CancelToken(Arc::new(Inner { is_child: true, ..Inner::default() }));
        let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|other| other.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Cancels.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Cancels, as a signal would: whoever is stopped seems to have died of it.
    pub fn cancel_as(&self, signal: i32) {
        self.0.signal.store(signal, Ordering::SeqCst);
        self.cancel();
    }

    /// Whether it was cancelled.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// The signal that it was cancelled as, if it was.
    #[must_use]
    pub fn killed_by(&self) -> Option<i32> {
        Some(self.0.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Whether anybody else could cancel it: one who holds it too, or the one it is a child of.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.is_child || Arc::strong_count(&self.0) > 1
    }

    /// A descriptor that is readable once it was cancelled.
    ///
    /// # Errors
    /// If no descriptor is to be had. Once there is one, it stays.
    pub fn descriptor(&self) -> Result<BorrowedFd<'_>, Error> {
        if let Some(event) = self.0.event.get() {
            return Ok(event.as_fd());
        }
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("make a cancel token", error))?;
        let event = self.0.event.get_or_init(|| made);
        // Whoever cancels sets the flag first and looks for the event then; here it is the other way around.
        if self.0.cancelled.load(Ordering::SeqCst) {
            notify(event);
        }
        Ok(event.as_fd())
    }
}

impl Inner {
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
    fn a_child_follows_its_parent_and_not_the_other_way() {
        let parent = CancelToken::new();
        let (first, second) = (parent.child(), parent.child());
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(second.is_cancelled());
        assert!(parent.child().is_cancelled());
    }

    #[test]
    fn the_descriptor_tells_whether_it_was_made_before_or_after() {
        let token = CancelToken::new();
        let child = token.child();
        assert!(!is_readable(&child));
        token.cancel_as(15);
        assert!(is_readable(&token) && is_readable(&child));
        assert_eq!((token.killed_by(), child.killed_by()), (Some(15), None));
    }
}
