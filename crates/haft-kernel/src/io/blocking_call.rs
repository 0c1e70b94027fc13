//! Blocking calls on a thread of their own, while the session serves signals and cancellation.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

/// A call that runs on another thread.
#[derive(Debug)]
pub(crate) struct BlockingCall<T> {
    event: Arc<OwnedFd>,
    receiver: mpsc::Receiver<T>,
}

impl<T: Send + 'static> BlockingCall<T> {
    /// Starts the call. Dropping the result does not wait for it.
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

    /// A descriptor that becomes readable when the call has returned.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// The result, if the call has returned.
    pub(crate) fn take(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Waits until the call has returned.
    pub(crate) fn wait(&self) {
        let _ = self.receiver.recv();
    }
}
