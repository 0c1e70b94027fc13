//! Signals of an interactive shell: Ctrl-C, window size, hangup, children.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use haft_kernel::{CancelToken, SignalInbox};
use haft_process::{Disposition, Signals, on_signals, set_disposition};
use rustix::event::{EventfdFlags, eventfd};

/// Wakes a thread that polls its descriptor.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Events that reach the shell while it reads or runs.
#[derive(Debug)]
pub(crate) struct TerminalEvents {
    /// Wakes the reader after a change of the window size, a hangup or Ctrl-C.
    pub(crate) waker: Waker,
    hung_up: AtomicBool,
    /// Whether Ctrl-C was pressed while nothing ran.
    interrupted: AtomicBool,
    /// Cancels the running line.
    running: Mutex<Option<CancelToken>>,
    inbox: Arc<SignalInbox>,
}

impl TerminalEvents {
    /// Installs the handlers. An interactive shell ignores the signals that end or stop other programs.
    ///
    /// # Errors
    /// If the thread for signals cannot be started.
    pub(crate) fn start(inbox: Arc<SignalInbox>) -> io::Result<Arc<Self>> {
        let events = Arc::new(Self {
            waker: Waker::new()?,
            hung_up: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            running: Mutex::new(None),
            inbox,
        });
        for ignored in [Signals::QUIT, Signals::TERM, Signals::TSTP, Signals::TTIN, Signals::TTOU] {
            let _ = set_disposition(ignored, Disposition::Ignore);
        }
        let served =
            Signals::none().with(Signals::INT).with(Signals::HUP).with(Signals::WINCH).with(Signals::CHLD);
        let own = events.clone();
        on_signals(served, move |signal| own.serve(signal))
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(events)
    }

    fn serve(&self, signal: i32) {
        match signal {
            _ if self.inbox.is_caught(signal) => self.inbox.raise(signal),
            Signals::INT => self.interrupt(),
            Signals::HUP => {
                self.hung_up.store(true, Ordering::SeqCst);
                self.interrupt();
                self.waker.wake();
            }
            Signals::WINCH => self.waker.wake(),
            _ => self.inbox.child_changed(),
        }
    }

    fn interrupt(&self) {
        match &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(token) => token.cancel(),
            None => {
                self.interrupted.store(true, Ordering::SeqCst);
                self.waker.wake();
            }
        }
    }

    /// Whether Ctrl-C was pressed while nothing ran. Resets the flag.
    pub(crate) fn take_interrupted(&self) -> bool {
        self.interrupted.swap(false, Ordering::SeqCst)
    }

    /// Sets the token that Ctrl-C cancels.
    pub(crate) fn set_running(&self, token: Option<CancelToken>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// Whether the terminal has hung up.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.hung_up.load(Ordering::SeqCst)
    }
}
