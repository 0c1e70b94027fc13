//! Signal masks and dispositions, as the kernel sees them.
//!
//! The C library hides two signals that it uses itself; around a birth *all* of them have to be blocked, so these are
//! the raw system calls.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A set of signals, in the kernel's form: bit `n - 1` stands for signal `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalSet(pub(crate) u64);

impl SignalSet {
    /// The set with every signal.
    pub(crate) const ALL: SignalSet = SignalSet(u64::MAX);
    /// The set with none.
    pub(crate) const EMPTY: SignalSet = SignalSet(0);

    /// Whether `signal` is a member.
    pub(crate) fn contains(self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.0 & (1 << (signal - 1)) != 0
    }

    /// Takes `signal` out, if it is there.
    pub(crate) fn remove(&mut self, signal: i32) {
        if (1..=64).contains(&signal) {
            self.0 &= !(1 << (signal - 1));
        }
    }

    /// Adds `signal`; a number that is no signal is ignored.
    pub(crate) fn insert(&mut self, signal: i32) {
        if (1..=64).contains(&signal) {
            self.0 |= 1 << (signal - 1);
        }
    }
}

/// The kernel's `struct sigaction`; the C library's has another layout.
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
    // SAFETY: both pointers are to sets of the size that is passed.
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

/// Sets the disposition of one signal to default or ignore. Async-signal-safe.
pub(super) fn set_disposition(signal: i32, ignore: bool) {
    let handler = if ignore { libc::SIG_IGN } else { libc::SIG_DFL };
    let action = KernelAction { handler, flags: 0, restorer: 0, mask: 0 };
    let none: *mut KernelAction = ptr::null_mut();
    // SAFETY: the action is in the kernel's layout and installs no handler.
    unsafe {
        libc::syscall(libc::SYS_rt_sigaction, signal, &raw const action, none, size_of::<u64>());
    }
}

/// Whether `signal` is ignored by this process now. Async-signal-safe.
fn is_ignored(signal: i32) -> bool {
    let mut action = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let none: *const KernelAction = ptr::null();
    // SAFETY: the kernel fills the action, whose layout is its own.
    let result =
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, none, &raw mut action, size_of::<u64>()) };
    result == 0 && action.handler == libc::SIG_IGN
}

/// Whether this module alone decides what this process does with signals.
static OWNED: AtomicBool = AtomicBool::new(false);

/// The signals this process ignores, asked once and kept up from then on; only believed while [`OWNED`].
static IGNORED: OnceLock<AtomicU64> = OnceLock::new();

/// Promises that nobody but this module decides what this process does with signals.
pub(crate) fn claim() {
    OWNED.store(true, Ordering::Relaxed);
}

/// The signals this process ignores now: known if they are [claimed](claim), else asked one by one.
pub(crate) fn ignored_signals() -> SignalSet {
    known_ignored().unwrap_or_else(ask_ignored)
}

/// The signals this process ignores now, if that is known for certain.
pub(super) fn known_ignored() -> Option<SignalSet> {
    let owned = OWNED.load(Ordering::Relaxed);
    owned.then(|| SignalSet(IGNORED.get_or_init(|| AtomicU64::new(ask_ignored().0)).load(Ordering::Relaxed)))
}

fn ask_ignored() -> SignalSet {
    let mut set = SignalSet::EMPTY;
    for signal in (1..=64).filter(|&signal| is_ignored(signal)) {
        set.insert(signal);
    }
    set
}

/// Has the signals of `changed` ignored if they are among `ignored`, and gives them their default if not.
/// Async-signal-safe.
pub(super) fn set_dispositions(changed: SignalSet, ignored: SignalSet) {
    let mut left = changed.0;
    while left != 0 {
        let signal = left.trailing_zeros().cast_signed() + 1;
        set_disposition(signal, ignored.contains(signal));
        left &= left - 1;
    }
}

/// Ignores a signal, or gives it its default, in this whole process.
pub(crate) fn set_ignored(signal: i32, ignored: bool) {
    set_disposition(signal, ignored);
    remember(signal, ignored);
}

fn remember(signal: i32, ignored: bool) {
    let mut set = SignalSet::EMPTY;
    set.insert(signal);
    match IGNORED.get() {
        Some(known) if ignored => known.fetch_or(set.0, Ordering::Relaxed),
        Some(known) => known.fetch_and(!set.0, Ordering::Relaxed),
        None => 0,
    };
}

/// Sends a signal, of any number, as `kill(2)` does.
pub(crate) fn kill(pid: i32, signal: i32) -> std::io::Result<()> {
    // SAFETY: a plain call.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// The process group of this process; 0 if it was made outside of the process's PID namespace.
pub(crate) fn own_group() -> i32 {
    // SAFETY: a plain call that cannot fail.
    unsafe { libc::getpgrp() }
}

/// Signals to the calling thread that wait until this value is dropped.
#[derive(Debug)]
pub(crate) struct HeldSignals(SignalSet);

impl HeldSignals {
    /// Holds all of them back.
    pub(crate) fn all() -> HeldSignals {
        HeldSignals(set_mask(SignalSet::ALL))
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        set_mask(self.0);
    }
}

/// Blocks signals in the calling thread, and in those it will start.
pub(crate) fn block(signals: SignalSet) {
    let none: *mut u64 = ptr::null_mut();
    // SAFETY: the set is of the size that is passed.
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

/// A signal that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenSignal {
    pub(crate) number: i32,
    code: i32,
    /// The process that sent it.
    pub(crate) sender: i32,
    /// Whether another process has passed it on to this one.
    pub(crate) passed_on: bool,
}

impl TakenSignal {
    /// Whether the kernel sent it, as it does for keys of a terminal.
    pub(super) fn is_from_kernel(&self) -> bool {
        self.code == libc::SI_KERNEL
    }
}

/// Waits until one of the signals, all blocked, is there, and takes it. `None` if the system refuses.
pub(crate) fn wait_for_info(signals: SignalSet) -> Option<TakenSignal> {
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let no_timeout: *const libc::timespec = ptr::null();
        // SAFETY: the set is of the size that is passed, the information as large as the kernel's; the timeout may be null.
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
            // SAFETY: zero is a valid value for every field, and the kernel has filled the rest.
            let info = unsafe { info.assume_init() };
            let original = super::guard::passed_on_from(&info);
            // SAFETY: zero unless a process has sent it.
            let sender = original.unwrap_or_else(|| unsafe { info.si_pid() });
            let passed_on = original.is_some();
            return Some(TakenSignal {
                number: i32::try_from(result).ok()?,
                code: info.si_code,
                sender,
                passed_on,
            });
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// What is done when a signal is caught.
static CAUGHT: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// Decides, once for the process, what is done when a signal is caught.
pub(crate) fn set_catcher(catcher: Box<dyn Fn(i32) + Send + Sync>) -> bool {
    CAUGHT.set(catcher).is_ok()
}

extern "C" fn caught(signal: libc::c_int) {
    // SAFETY: the pointer is to this thread's own errno, which a handler has to leave as it was.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    if let Some(catcher) = CAUGHT.get() {
        catcher(signal);
    }
    *errno = before;
}

/// Has a signal caught from now on; system calls it interrupts go on.
pub(crate) fn catch(signal: i32) -> std::io::Result<()> {
    // SAFETY: zero is a valid value for every field.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = caught as extern "C" fn(libc::c_int) as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler does nothing that is not allowed in one, given a catcher that does not.
    let result = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    remember(signal, false);
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
