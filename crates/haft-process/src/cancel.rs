//! Cancellation: a flag that everybody can see and every `poll` can wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;

/// Asks whatever holds a clone of it to stop. Once cancelled it stays so.
#[derive(Clone, Debug)]
pub struct CancelToken(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    cancelled: AtomicBool,
    /// Readable from the moment of cancellation on; never read, so every waiter sees it.
    signal: OwnedFd,
    children: Mutex<Vec<Weak<Inner>>>,
}

impl CancelToken {
    /// A token that nobody has cancelled yet.
    ///
    /// # Errors
    /// If no descriptor is to be had.
    pub fn new() -> Result<CancelToken, Error> {
        let signal = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("make a cancel token", error))?;
        Ok(CancelToken(Arc::new(Inner {
            cancelled: AtomicBool::new(false),
            signal,
            children: Mutex::default(),
        })))
    }

    /// A token that is cancelled with this one, and can be cancelled without it.
    ///
    /// # Errors
    /// If no descriptor is to be had.
    pub fn child(&self) -> Result<CancelToken, Error> {
        let child = CancelToken::new()?;
        let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|other| other.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        if self.is_cancelled() {
            child.cancel();
        }
        Ok(child)
    }

    /// Cancels.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// A descriptor that is readable once it was cancelled.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.signal.as_fd()
    }
}

impl Inner {
    fn cancel(&self) {
        if self.cancelled.swap(true, Ordering::AcqRel) {
            return;
        }
        notify(&self.signal);
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
    use super::*;

    #[test]
    fn a_child_follows_its_parent_and_not_the_other_way() {
        let parent = CancelToken::new().unwrap();
        let (first, second) = (parent.child().unwrap(), parent.child().unwrap());
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(second.is_cancelled());
        assert!(parent.child().unwrap().is_cancelled());
    }
}
