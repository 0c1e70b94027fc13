//! Telling a running session to stop.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, eventfd};

/// Why a session was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody cancelled it.
    Cancelled,
    /// Its deadline passed.
    TimedOut,
}

/// A token that stops the sessions that hold it: every loop, expansion and read of theirs looks at it, and all
/// waiting wakes up by it. Clones are the same token; a [child](CancelToken::child) is stopped with its parent.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// 0 while running; see [`Cause`].
    cause: AtomicU8,
    /// A signal that whoever is stopped shall seem to have died of; 0 for none.
    signal: AtomicI32,
    /// Readable once the token is cancelled. Made when somebody first waits.
    event: OnceLock<Option<OwnedFd>>,
    parent: Option<CancelToken>,
}

impl CancelToken {
    /// A token of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that can be cancelled alone and is cancelled with this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { state: Arc::new(State { parent: Some(self.clone()), ..State::default() }) }
    }

    /// Stops everything that holds the token or a child of it.
    pub fn cancel(&self, cause: Cause) {
        let code = match cause {
            Cause::Cancelled => 1,
            Cause::TimedOut => 2,
        };
        let _ = self.state.cause.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
        if let Some(Some(event)) = self.state.event.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// Stops everything that holds the token, as a signal would.
    pub fn signal(&self, signal: i32) {
        self.state.signal.store(signal, Ordering::SeqCst);
        self.cancel(Cause::Cancelled);
    }

    /// Whether it was cancelled.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let mut token = self;
        loop {
            if token.state.cause.load(Ordering::Relaxed) != 0 {
                return true;
            }
            match &token.state.parent {
                Some(parent) => token = parent,
                None => return false,
            }
        }
    }

    /// Whether anybody else holds the token or one that it was made from.
    pub(crate) fn is_shared(&self) -> bool {
        self.state.parent.is_some() || Arc::strong_count(&self.state) > 1
    }

    /// Why it was cancelled, if it was.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self.state.cause.load(Ordering::SeqCst) {
            0 => self.state.parent.as_ref()?.cause(),
            2 => Some(Cause::TimedOut),
            _ => Some(Cause::Cancelled),
        }
    }

    /// The signal it was cancelled with, if any.
    #[must_use]
    pub fn killed_by(&self) -> Option<i32> {
        match self.state.signal.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Descriptors one of which is readable once the token is cancelled, to be polled beside others.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let mut found = Vec::with_capacity(2);
        let mut token = Some(self);
        while let Some(current) = token {
            let event = current
                .state
                .event
                .get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
            if let Some(event) = event {
                if current.state.cause.load(Ordering::SeqCst) != 0 {
                    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
                }
                found.push(event.as_fd());
            }
            token = current.state.parent.as_ref();
        }
        found
    }
}
