//! Signals on their way to a session.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use haft_process::{CancelToken, Disposition};
use rustix::event::{EventfdFlags, eventfd};

/// The signals that have come and that no trap has served yet. Whoever catches signals puts them here; the session
/// looks between commands and wakes up from waiting.
#[derive(Debug, Default)]
pub struct SignalInbox {
    pending: AtomicU64,
    /// Those that traps of the session are set for.
    caught: AtomicU64,
    /// Those that the session ignores, where it is not the whole of its process.
    ignored: AtomicU64,
    event: OnceLock<Option<OwnedFd>>,
    /// Readable once a child has changed.
    children: OnceLock<Option<OwnedFd>>,
    /// What ends the subshells that run in the place of the session, which takes no notice of signals meanwhile.
    nested: Mutex<Option<CancelToken>>,
}

impl SignalInbox {
    /// Takes note of what the session does with signals: those that have traps, and those that are ignored.
    pub(crate) fn dispose(&self, caught: impl Iterator<Item = i32>, ignored: impl Iterator<Item = i32>) {
        self.caught.store(caught.fold(0, |set, signal| set | bit(signal)), Ordering::SeqCst);
        self.ignored.store(ignored.fold(0, |set, signal| set | bit(signal)), Ordering::SeqCst);
    }

    /// What the session does with a signal.
    pub(crate) fn disposition(&self, signal: i32) -> Disposition {
        let has = |set: &AtomicU64| set.load(Ordering::SeqCst) & bit(signal) != 0;
        match signal {
            haft_process::Signals::KILL => Disposition::Default,
            _ if has(&self.caught) => Disposition::Catch,
            _ if has(&self.ignored) => Disposition::Ignore,
            _ => Disposition::Default,
        }
    }

    /// What ends a subshell that runs in the place of the session, and all others with it.
    pub(crate) fn nested(&self, session: &CancelToken) -> CancelToken {
        let mut nested = self.nested.lock().unwrap_or_else(PoisonError::into_inner);
        match nested.as_ref().filter(|token| !token.is_cancelled()) {
            Some(token) => token.clone(),
            None => nested.insert(session.child()).clone(),
        }
    }

    /// Ends those subshells, as a signal would.
    pub(crate) fn end_nested(&self, signal: i32) {
        if let Some(token) = &*self.nested.lock().unwrap_or_else(PoisonError::into_inner) {
            token.cancel_as(signal);
        }
    }

    /// Puts a signal in.
    pub fn raise(&self, signal: i32) {
        self.pending.fetch_or(bit(signal), Ordering::SeqCst);
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// Says that a child has ended, was stopped or goes on.
    pub fn child_changed(&self) {
        if let Some(Some(event)) = self.children.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// A descriptor that can be read once a child has changed.
    pub(crate) fn children(&self) -> Option<BorrowedFd<'_>> {
        let made =
            self.children.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        made.as_ref().map(|event| event.as_fd())
    }

    /// What has changed was looked at, or is about to be.
    pub(crate) fn forget_children(&self) {
        if let Some(Some(event)) = self.children.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
    }

    /// Whether a trap is set for a signal, so that it is to be put in.
    #[must_use]
    pub fn is_caught(&self, signal: i32) -> bool {
        self.caught.load(Ordering::SeqCst) & bit(signal) != 0
    }

    /// Says whether a trap is set for a signal.
    pub(crate) fn set_caught(&self, signal: i32, caught: bool) {
        match caught {
            true => self.caught.fetch_or(bit(signal), Ordering::SeqCst),
            false => self.caught.fetch_and(!bit(signal), Ordering::SeqCst),
        };
    }

    /// Whether there are any.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Takes all out, the lowest first.
    pub(crate) fn take(&self) -> impl Iterator<Item = i32> + use<> {
        let pending = self.pending.swap(0, Ordering::SeqCst);
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
        (1..=64).filter(move |signal| pending & (1 << (signal - 1)) != 0)
    }

    /// Whether a signal is there.
    pub(crate) fn has(&self, signal: i32) -> bool {
        self.pending.load(Ordering::SeqCst) & bit(signal) != 0
    }

    /// Takes one signal out; says whether it was there.
    pub(crate) fn take_signal(&self, signal: i32) -> bool {
        self.pending.fetch_and(!bit(signal), Ordering::SeqCst) & bit(signal) != 0
    }

    /// A descriptor that can be read once another signal comes, after [`SignalInbox::seen`].
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        let made = self.event.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        made.as_ref().map(|event| event.as_fd())
    }

    /// Those that have come were looked at; they stay.
    pub(crate) fn seen(&self) {
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
    }

    /// A descriptor that can be read while there are any.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let made = self.event.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        let event = made.as_ref()?;
        if self.any() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
        Some(event.as_fd())
    }
}

/// The place of a signal in a set; none for what is no signal.
fn bit(signal: i32) -> u64 {
    let place = u32::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    place.and_then(|place| 1u64.checked_shl(place)).unwrap_or(0)
}
