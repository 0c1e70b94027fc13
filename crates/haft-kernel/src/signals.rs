//! The inbox for signals to a session.

use std::borrow::Cow;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use haft_process::{CancelToken, Disposition};
use rustix::event::{EventfdFlags, eventfd};

/// Signals that have arrived and whose traps have not run yet. The signal handler adds them; the session takes them between
/// commands, and they end its waiting.
#[derive(Debug, Default)]
pub struct SignalInbox {
    pending: AtomicU64,
    /// Signals with a trap.
    caught: AtomicU64,
    /// Signals that the session ignores, if it is not the only one of its process.
    ignored: AtomicU64,
    event: OnceLock<Option<OwnedFd>>,
    /// Readable after a child has changed its state.
    children: OnceLock<Option<OwnedFd>>,
    /// Cancels the subshells that run on the thread of the session, which handles no signals meanwhile.
    nested: Mutex<Option<CancelToken>>,
}

impl SignalInbox {
    /// Publishes which signals the session catches, and which it ignores.
    pub(crate) fn dispose(&self, caught: impl Iterator<Item = i32>, ignored: impl Iterator<Item = i32>) {
        self.caught.store(caught.fold(0, |set, signal| set | bit(signal)), Ordering::SeqCst);
        self.ignored.store(ignored.fold(0, |set, signal| set | bit(signal)), Ordering::SeqCst);
    }

    /// The disposition of a signal in the session.
    pub(crate) fn disposition(&self, signal: i32) -> Disposition {
        let has = |set: &AtomicU64| set.load(Ordering::SeqCst) & bit(signal) != 0;
        match signal {
            haft_process::Signals::KILL => Disposition::Default,
            _ if has(&self.caught) => Disposition::Catch,
            _ if has(&self.ignored) => Disposition::Ignore,
            _ => Disposition::Default,
        }
    }

    /// The token that cancels all subshells on the thread of the session.
    pub(crate) fn nested(&self, session: &CancelToken) -> CancelToken {
        let mut nested = self.nested.lock().unwrap_or_else(PoisonError::into_inner);
        match nested.as_ref().filter(|token| !token.is_cancelled()) {
            Some(token) => token.clone(),
            None => nested.insert(session.child()).clone(),
        }
    }

    /// Cancels these subshells, as a signal would.
    pub(crate) fn end_nested(&self, signal: i32) {
        if let Some(token) = &*self.nested.lock().unwrap_or_else(PoisonError::into_inner) {
            token.cancel_as(signal);
        }
    }

    /// Adds a signal.
    pub fn raise(&self, signal: i32) {
        self.pending.fetch_or(bit(signal), Ordering::SeqCst);
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// Says that a child has ended, stopped or continued.
    pub fn child_changed(&self) {
        if let Some(Some(event)) = self.children.get() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// A descriptor that becomes readable when a child has changed its state.
    pub(crate) fn children(&self) -> Option<BorrowedFd<'_>> {
        let made =
            self.children.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        made.as_ref().map(|event| event.as_fd())
    }

    /// Clears the event of changed children.
    pub(crate) fn forget_children(&self) {
        if let Some(Some(event)) = self.children.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
    }

    /// Whether a signal has a trap.
    #[must_use]
    pub fn is_caught(&self, signal: i32) -> bool {
        self.caught.load(Ordering::SeqCst) & bit(signal) != 0
    }

    /// Sets whether a signal has a trap.
    pub(crate) fn set_caught(&self, signal: i32, caught: bool) {
        match caught {
            true => self.caught.fetch_or(bit(signal), Ordering::SeqCst),
            false => self.caught.fetch_and(!bit(signal), Ordering::SeqCst),
        };
    }

    /// Whether signals are pending.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Takes all pending signals, the lowest first.
    pub(crate) fn take(&self) -> impl Iterator<Item = i32> + use<> {
        let pending = self.pending.swap(0, Ordering::SeqCst);
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
        (1..=64).filter(move |signal| pending & (1 << (signal - 1)) != 0)
    }

    /// Whether a signal is pending.
    pub(crate) fn has(&self, signal: i32) -> bool {
        self.pending.load(Ordering::SeqCst) & bit(signal) != 0
    }

    /// Takes one signal; returns whether it was pending.
    pub(crate) fn take_signal(&self, signal: i32) -> bool {
        self.pending.fetch_and(!bit(signal), Ordering::SeqCst) & bit(signal) != 0
    }

    /// A descriptor that becomes readable when another signal arrives after [`SignalInbox::seen`].
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        let made = self.event.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        made.as_ref().map(|event| event.as_fd())
    }

    /// Clears the event of new signals. The signals stay pending.
    pub(crate) fn seen(&self) {
        if let Some(Some(event)) = self.event.get() {
            let _ = rustix::io::read(event, &mut [0u8; 8]);
        }
    }

    /// A descriptor that is readable while signals are pending.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let made = self.event.get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        let event = made.as_ref()?;
        if self.any() {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
        Some(event.as_fd())
    }
}

/// The bit of a signal in a set; 0 for an invalid number.
fn bit(signal: i32) -> u64 {
    let place = u32::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    place.and_then(|place| 1u64.checked_shl(place)).unwrap_or(0)
}

/// The number of the first real-time signal that programs can use.
const FIRST_REAL_TIME_SIGNAL: i32 = 34;

/// The description of a signal that killed a program, as bash shows it.
pub(crate) fn signal_description(signal: i32) -> Option<Cow<'static, str>> {
    let name = haft_process::signal_name(signal)?;
    Some(Cow::Borrowed(match name.as_str() {
        "HUP" => "Hangup",
        "INT" => "Interrupt",
        "QUIT" => "Quit",
        "ILL" => "Illegal instruction",
        "TRAP" => "Trace/breakpoint trap",
        "ABRT" => "Aborted",
        "BUS" => "Bus error",
        "FPE" => "Floating point exception",
        "KILL" => "Killed",
        "USR1" => "User defined signal 1",
        "SEGV" => "Segmentation fault",
        "USR2" => "User defined signal 2",
        "PIPE" => "Broken pipe",
        "ALRM" => "Alarm clock",
        "TERM" => "Terminated",
        "STKFLT" => "Stack fault",
        "XCPU" => "CPU time limit exceeded",
        "XFSZ" => "File size limit exceeded",
        "VTALRM" => "Virtual timer expired",
        "PROF" => "Profiling timer expired",
        "IO" => "I/O possible",
        "PWR" => "Power failure",
        "SYS" => "Bad system call",
        name if name.starts_with("RT") => {
            return Some(Cow::Owned(format!("Real-time signal {}", signal - FIRST_REAL_TIME_SIGNAL)));
        }
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_described_in_the_words_of_bash() {
        let described = [1, 6, 16, 29, 34, 64].map(|signal| signal_description(signal).unwrap_or_default());
        let expected =
            ["Hangup", "Aborted", "Stack fault", "I/O possible", "Real-time signal 0", "Real-time signal 30"];
        assert_eq!(described, expected);
        let none = [0, 17, 18, 19, 20, 21, 22, 23, 28, 32, 33, 65];
        assert!(none.iter().all(|signal| signal_description(*signal).is_none()));
    }
}
