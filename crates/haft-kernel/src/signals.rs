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
    event: OnceLock<Option<OwnedFd>>,
}

impl SignalInbox {
    /// Puts a signal in.
    pub fn raise(&self, signal: i32) {
        if let Some(bit) =
            u32::try_from(signal).ok().and_then(|signal| 1u64.checked_shl(signal.checked_sub(1)?))
        {
            self.pending.fetch_or(bit, Ordering::SeqCst);
        }
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
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
