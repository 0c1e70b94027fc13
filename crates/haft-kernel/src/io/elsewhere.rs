//! What cannot be interrupted, done on a thread of its own while the session stays attentive.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

/// Something that is being done on another thread.
#[derive(Debug)]
pub(crate) struct Elsewhere<T> {
    event: Arc<OwnedFd>,
    receiver: mpsc::Receiver<T>,
}

impl<T: Send + 'static> Elsewhere<T> {
    /// Begins it. Whoever drops what is yielded does not wait for it.
    pub(crate) fn begin(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let event = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (sender, receiver) = mpsc::channel();
        let done = event.clone();
        thread::Builder::new().stack_size(256 * 1024).spawn(move || {
            let _ = sender.send(work());
            let _ = rustix::io::write(&*done, &1u64.to_ne_bytes());
        })?;
        Ok(Self { event, receiver })
    }

    /// Can be read once it is done.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// What came of it, if it is done.
    pub(crate) fn take(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Waits until it is done.
    pub(crate) fn wait(&self) {
        let _ = self.receiver.recv();
    }
}
