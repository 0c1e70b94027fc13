//! Signals on their way to a session.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// The signals that have come and that no trap has served yet. Whoever catches signals puts them here; the session
/// looks between commands and wakes up from waiting.
#[derive(Debug, Default)]
pub struct SignalInbox {
    pending: AtomicU64,
    /// Those that traps of the session are set for.
    caught: AtomicU64,
    event: OnceLock<Option<OwnedFd>>,
}

impl SignalInbox {
    /// Puts a signal in.
    pub fn raise(&self, signal: i32) {
        if let Some(bit) = bit(signal) {
            self.pending.fetch_or(bit, Ordering::SeqCst);
        }
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// Whether a trap is set for a signal, so that it is to be put in.
    #[must_use]
    pub fn is_caught(&self, signal: i32) -> bool {
        bit(signal).is_some_and(|bit| self.caught.load(Ordering::SeqCst) & bit != 0)
    }

    /// Says whether a trap is set for a signal.
    pub(crate) fn set_caught(&self, signal: i32, caught: bool) {
        let Some(bit) = bit(signal) else { return };
        match caught {
            true => self.caught.fetch_or(bit, Ordering::SeqCst),
            false => self.caught.fetch_and(!bit, Ordering::SeqCst),
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

/// The bit that stands for a signal.
fn bit(signal: i32) -> Option<u64> {
    u32::try_from(signal).ok().and_then(|signal| 1u64.checked_shl(signal.checked_sub(1)?))
}
