//! What reaches the shell from outside while it reads or runs: Ctrl-C, a new size, the end of the terminal.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use haft_kernel::{CancelToken, SignalInbox};
use haft_process::{Disposition, Signals, on_signals, set_disposition};
use rustix::event::{EventfdFlags, eventfd};

/// Something that one thread rings and another one polls.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub(crate) fn answer(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What has reached the shell.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Rung when the window has another size, and when the terminal is gone.
    pub(crate) bell: Bell,
    gone: AtomicBool,
    /// Whether Ctrl-C came while nothing ran.
    interrupted: AtomicBool,
    /// What stops the line that is running.
    running: Mutex<Option<CancelToken>>,
    inbox: Arc<SignalInbox>,
}

impl Watch {
    /// Begins to watch. An interactive shell is not ended by what ends other programs, and never stopped.
    pub(crate) fn start(inbox: Arc<SignalInbox>) -> io::Result<Arc<Self>> {
        let watch = Arc::new(Self {
            bell: Bell::new()?,
            gone: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            running: Mutex::new(None),
            inbox,
        });
        for ignored in [Signals::QUIT, Signals::TERM, Signals::TSTP, Signals::TTIN, Signals::TTOU] {
            let _ = set_disposition(ignored, Disposition::Ignore);
        }
        let served =
            Signals::none().with(Signals::INT).with(Signals::HUP).with(Signals::WINCH).with(Signals::CHLD);
        let own = watch.clone();
        on_signals(served, move |signal| own.serve(signal))
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(watch)
    }

    fn serve(&self, signal: i32) {
        match signal {
            _ if self.inbox.is_caught(signal) => self.inbox.raise(signal),
            Signals::INT => self.stop_running(),
            Signals::HUP => {
                self.gone.store(true, Ordering::SeqCst);
                self.stop_running();
                self.bell.ring();
            }
            Signals::WINCH => self.bell.ring(),
            _ => self.inbox.child_changed(),
        }
    }

    fn stop_running(&self) {
        match &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(token) => token.cancel(),
            None => {
                self.interrupted.store(true, Ordering::SeqCst);
                self.bell.ring();
            }
        }
    }

    /// Whether Ctrl-C came while nothing ran; asked once.
    pub(crate) fn take_interrupted(&self) -> bool {
        self.interrupted.swap(false, Ordering::SeqCst)
    }

    /// Says what is running now, and so is stopped by Ctrl-C.
    pub(crate) fn set_running(&self, token: Option<CancelToken>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// Whether the terminal is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }
}
