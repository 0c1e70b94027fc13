//! Signal masks and dispositions, through raw system calls.
//!
//! The C library reserves two signals and does not let a program block them. Around a clone *all* signals must be blocked.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The highest signal number.
pub(crate) const MAX_SIGNAL: i32 = 64;

/// A set of signals in the kernel's form: bit `n - 1` is signal `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalSet(pub(crate) u64);

impl SignalSet {
    /// All signals.
    pub(crate) const ALL: SignalSet = SignalSet(u64::MAX);
    /// No signal.
    pub(crate) const EMPTY: SignalSet = SignalSet(0);

    /// Whether `signal` is a member.
    pub(crate) fn contains(self, signal: i32) -> bool {
        (1..=MAX_SIGNAL).contains(&signal) && self.0 & (1 << (signal - 1)) != 0
    }

    /// Removes `signal`.
    pub(crate) fn remove(&mut self, signal: i32) {
        if (1..=MAX_SIGNAL).contains(&signal) {
            self.0 &= !(1 << (signal - 1));
        }
    }

    /// Adds `signal`. Ignores numbers that are not signals.
    pub(crate) fn insert(&mut self, signal: i32) {
        if (1..=MAX_SIGNAL).contains(&signal) {
            self.0 |= 1 << (signal - 1);
        }
    }
}

/// The kernel's `struct sigaction`, whose layout differs from the C library's.
#[repr(C)]
struct KernelAction {
    handler: usize,
    flags: libc::c_ulong,
    restorer: usize,
    mask: u64,
}

/// Sets the calling thread's signal mask and returns the previous one. Async-signal-safe.
pub(super) fn set_mask(set: SignalSet) -> SignalSet {
    let mut old = SignalSet::EMPTY;
    // SAFETY: both pointers are to sets of the passed size.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const set.0,
            &raw mut old.0,
            size_of::<u64>(),
        );
    }
    old
}

/// Sets the disposition of a signal to default or ignore. Async-signal-safe.
pub(super) fn set_disposition(signal: i32, ignore: bool) {
    let handler = if ignore { libc::SIG_IGN } else { libc::SIG_DFL };
    let action = KernelAction { handler, flags: 0, restorer: 0, mask: 0 };
    let none: *mut KernelAction = ptr::null_mut();
    // SAFETY: the action has the kernel's layout and installs no handler.
    unsafe {
        libc::syscall(libc::SYS_rt_sigaction, signal, &raw const action, none, size_of::<u64>());
    }
}

/// Whether this process ignores `signal`. Async-signal-safe.
fn is_ignored(signal: i32) -> bool {
    let mut action = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let none: *const KernelAction = ptr::null();
    // SAFETY: the kernel fills the action, which has its layout.
    let result =
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, none, &raw mut action, size_of::<u64>()) };
    result == 0 && action.handler == libc::SIG_IGN
}

/// Whether only this module changes the signal dispositions of this process.
static DISPOSITIONS_CLAIMED: AtomicBool = AtomicBool::new(false);

/// The signals this process ignores: queried once, then updated. Valid only if [`DISPOSITIONS_CLAIMED`].
static IGNORED: OnceLock<AtomicU64> = OnceLock::new();

/// Declares that only this module changes the signal dispositions of this process.
pub(crate) fn claim() {
    DISPOSITIONS_CLAIMED.store(true, Ordering::Relaxed);
}

/// Returns the signals that this process ignores. Queries each signal unless they were [claimed](claim).
pub(crate) fn ignored_signals() -> SignalSet {
    known_ignored().unwrap_or_else(query_ignored)
}

/// Returns the signals that this process ignores, if they were [claimed](claim).
pub(super) fn known_ignored() -> Option<SignalSet> {
    let claimed = DISPOSITIONS_CLAIMED.load(Ordering::Relaxed);
    let ignored = || IGNORED.get_or_init(|| AtomicU64::new(query_ignored().0)).load(Ordering::Relaxed);
    claimed.then(|| SignalSet(ignored()))
}

fn query_ignored() -> SignalSet {
    let mut set = SignalSet::EMPTY;
    for signal in (1..=MAX_SIGNAL).filter(|&signal| is_ignored(signal)) {
        set.insert(signal);
    }
    set
}

/// Sets each signal of `changed` to ignore if it is in `ignored`, else to its default. Async-signal-safe.
pub(super) fn set_dispositions(changed: SignalSet, ignored: SignalSet) {
    let mut left = changed.0;
    while left != 0 {
        let signal = left.trailing_zeros().cast_signed() + 1;
        set_disposition(signal, ignored.contains(signal));
        left &= left - 1;
    }
}

/// Ignores a signal, or resets it to its default, in this process.
pub(crate) fn set_ignored(signal: i32, ignored: bool) {
    set_disposition(signal, ignored);
    record_disposition(signal, ignored);
}

fn record_disposition(signal: i32, ignored: bool) {
    let mut set = SignalSet::EMPTY;
    set.insert(signal);
    match IGNORED.get() {
        Some(known) if ignored => known.fetch_or(set.0, Ordering::Relaxed),
        Some(known) => known.fetch_and(!set.0, Ordering::Relaxed),
        None => 0,
    };
}

/// Calls `kill(2)`.
pub(crate) fn kill(pid: i32, signal: i32) -> std::io::Result<()> {
    // SAFETY: a plain call.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Returns the process group of this process; 0 if the group is outside of its PID namespace.
pub(crate) fn own_group() -> i32 {
    // SAFETY: a plain call that cannot fail.
    unsafe { libc::getpgrp() }
}

/// Returns the process group of a process; 0 if there is no such process, or if the group is outside of this PID namespace.
pub(crate) fn group_of(pid: i32) -> i32 {
    // SAFETY: a plain call.
    unsafe { libc::getpgid(pid) }.max(0)
}

/// Returns the session of a process; 0 if there is no such process, or if the session is outside of this PID namespace.
pub(crate) fn session_of(pid: i32) -> i32 {
    // SAFETY: a plain call.
    unsafe { libc::getsid(pid) }.max(0)
}

/// Blocks signals in the calling thread until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldSignals(SignalSet);

impl HeldSignals {
    /// Blocks all signals.
    pub(crate) fn all() -> HeldSignals {
        HeldSignals(set_mask(SignalSet::ALL))
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        set_mask(self.0);
    }
}

/// Blocks signals in the calling thread and in threads that it starts afterwards.
pub(crate) fn block(signals: SignalSet) {
    let none: *mut u64 = ptr::null_mut();
    // SAFETY: the set has the passed size.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_BLOCK,
            &raw const signals.0,
            none,
            size_of::<u64>(),
        );
    }
}

/// A pending signal that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenSignal {
    pub(crate) number: i32,
    code: i32,
    /// The pid of the sender.
    pub(crate) sender: i32,
    /// Whether the guardian forwarded it.
    pub(crate) forwarded: bool,
}

impl TakenSignal {
    /// Whether the kernel sent it, as it does when a key is typed at a terminal.
    pub(super) fn is_from_kernel(&self) -> bool {
        self.code == libc::SI_KERNEL
    }
}

/// Waits for one of the signals, which must be blocked, and accepts it. Returns `None` if the system call fails.
pub(crate) fn wait_for_info(signals: SignalSet) -> Option<TakenSignal> {
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let no_timeout: *const libc::timespec = ptr::null();
        // SAFETY: the set has the passed size and the information the kernel's layout. The timeout may be null.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const signals.0,
                info.as_mut_ptr(),
                no_timeout,
                size_of::<u64>(),
            )
        };
        if result > 0 {
            // SAFETY: zero is a valid value for every field that the kernel did not fill.
            let info = unsafe { info.assume_init() };
            let original = super::guard::forwarded_from(&info);
            // SAFETY: the field is zero unless a process sent the signal.
            let sender = original.unwrap_or_else(|| unsafe { info.si_pid() });
            let forwarded = original.is_some();
            return Some(TakenSignal {
                number: i32::try_from(result).ok()?,
                code: info.si_code,
                sender,
                forwarded,
            });
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// The function that handles caught signals.
static CATCHER: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// Sets the function that handles caught signals. Returns false if it was set before.
pub(crate) fn set_catcher(catcher: Box<dyn Fn(i32) + Send + Sync>) -> bool {
    CATCHER.set(catcher).is_ok()
}

extern "C" fn handle_signal(signal: libc::c_int) {
    // SAFETY: the pointer is to this thread's own errno, which a handler must preserve.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    if let Some(catcher) = CATCHER.get() {
        catcher(signal);
    }
    *errno = before;
}

/// Installs the handler for a signal. Interrupted system calls are restarted.
pub(crate) fn catch(signal: i32) -> std::io::Result<()> {
    // SAFETY: zero is a valid value for every field.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle_signal as extern "C" fn(libc::c_int) as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is async-signal-safe if the catcher is, which `set_catcher` requires.
    let result = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    record_disposition(signal, false);
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
