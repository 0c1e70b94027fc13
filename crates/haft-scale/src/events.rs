//! A queue between threads with a descriptor to poll.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

/// Events from other threads. Its descriptor is readable while there are any.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    events: Mutex<Vec<T>>,
    descriptor: OwnedFd,
}

impl<T> EventQueue<T> {
    pub(crate) fn new() -> io::Result<Self> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { events: Mutex::new(Vec::new()), descriptor })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    pub(crate) fn push(&self, event: T) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        let _ = rustix::io::write(&self.descriptor, &1u64.to_ne_bytes());
    }

    pub(crate) fn take(&self) -> Vec<T> {
        let _ = rustix::io::read(&self.descriptor, &mut [0; 8]);
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
