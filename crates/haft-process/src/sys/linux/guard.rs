//! A process that waits for its child and passes signals on to it.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use super::signal::{self, HeldSignals, SignalSet};
use super::wait::{self, RawExit};

/// Sent by the kernel to a process that was split off when the one it was split from dies.
const ORPHANED: i32 = 41;

/// The process that passes signals on to this one; 0 if there is none.
static OUTER: AtomicI32 = AtomicI32::new(0);

/// Which of the two processes this is after a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForkSide {
    /// The child, which goes on.
    Inner,
    /// The parent of this child. Its signals are blocked.
    Outer(i32),
}

/// What a process that passes signals on cannot deal with alone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GuardEvent {
    /// The child has ended, and is reaped.
    Ended(RawExit),
    /// The process that this one was split from has died.
    Orphaned,
}

/// Whether this process is known to have more than one thread.
pub(crate) fn has_other_threads() -> bool {
    rustix::fs::stat("/proc/self/task").is_ok_and(|tasks| tasks.st_nlink > 3)
}

/// Forks. In the parent, which gets the name, signals that are passed on, the end of the child and that of the parent's own
/// parent are waited for by [`next_guard_event`]; its memory and environment cannot be read by others.
pub(crate) fn split(name: &CStr, passed_on: SignalSet) -> io::Result<ForkSide> {
    let held = HeldSignals::all();
    // SAFETY: the caller has no other thread, so that no lock is held and nothing half done in the memory that is copied.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: plain calls.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, 0);
                OUTER.store(libc::getppid(), Ordering::Relaxed);
            }
            drop(held);
            Ok(ForkSide::Inner)
        }
        child => {
            become_outer(name, passed_on);
            std::mem::forget(held);
            Ok(ForkSide::Outer(child))
        }
    }
}

fn become_outer(name: &CStr, passed_on: SignalSet) {
    // SAFETY: prctl with a constant string, and without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        if OUTER.load(Ordering::Relaxed) != 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, ORPHANED);
            if libc::getppid() != OUTER.load(Ordering::Relaxed) {
                libc::raise(ORPHANED);
            }
        }
    }
    // Where it is ignored, the system reaps children, and nobody learns how they ended.
    signal::set_disposition(libc::SIGCHLD, false);
    signal::set_mask(awaited(passed_on));
}

fn awaited(passed_on: SignalSet) -> SignalSet {
    let mut awaited = passed_on;
    awaited.insert(libc::SIGCHLD);
    awaited.insert(ORPHANED);
    awaited
}

/// Closes all descriptors but one.
pub(crate) fn close_all_but(kept: RawFd) {
    let kept = kept.cast_unsigned();
    for (first, last) in [(0, kept.saturating_sub(1)), (kept + 1, u32::MAX)] {
        if first <= last && !(kept == 0 && first == 0) {
            // SAFETY: this process uses no descriptor but the one that is kept.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Passes signals on to the child until something else happens. If the child is stopped, this process stops as well, and
/// lets it go on when it goes on itself.
pub(crate) fn next_guard_event(child: i32, passed_on: SignalSet) -> GuardEvent {
    loop {
        match wait::child_change(child) {
            Some(wait::Change::Ended(exit)) => return GuardEvent::Ended(exit),
            Some(wait::Change::Stopped) => {
                let _ = signal::kill(std::process::id().cast_signed(), libc::SIGSTOP);
                let _ = signal::kill(child, libc::SIGCONT);
            }
            None => {}
        }
        let Some(info) = signal::wait_for_info(awaited(passed_on)) else { continue };
        match info.number {
            libc::SIGCHLD => {}
            ORPHANED => return GuardEvent::Orphaned,
            // A key of the terminal: it has reached the child too, which is in the same group.
            libc::SIGINT | libc::SIGQUIT | libc::SIGTSTP if info.is_from_kernel() => {}
            number => pass_on(child, number, info.sender),
        }
    }
}

/// Sends a signal with its original sender as a value, so that the child can tell one that reached both of them.
fn pass_on(child: i32, number: i32, sender: i32) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let fields = info.as_mut_ptr().cast::<QueuedSignal>();
    let own = std::process::id().cast_signed();
    // SAFETY: the structure is the beginning of the kernel's, which is larger; all of it is initialised.
    unsafe {
        (*fields).number = number;
        (*fields).code = libc::SI_QUEUE;
        (*fields).pid = own;
        (*fields).value = sender as usize;
        libc::syscall(libc::SYS_rt_sigqueueinfo, child, number, info.as_ptr());
    }
}

/// The kernel's `siginfo_t` of a queued signal, on 64-bit machines.
#[repr(C)]
struct QueuedSignal {
    number: i32,
    errno: i32,
    code: i32,
    padding: i32,
    pid: i32,
    uid: u32,
    value: usize,
}

/// Whether a signal with this information was passed on by the outer process, and who sent it originally.
pub(super) fn passed_on_from(info: &libc::siginfo_t) -> Option<i32> {
    let outer = OUTER.load(Ordering::Relaxed);
    // SAFETY: the fields are valid for a queued signal, which the code says it is.
    unsafe {
        let queued = &*ptr::from_ref(info).cast::<QueuedSignal>();
        (outer != 0 && queued.code == libc::SI_QUEUE && queued.pid == outer).then_some(queued.value as i32)
    }
}

/// Ends this process as another one has ended.
pub(crate) fn end_as(end: &RawExit) -> ! {
    if let Some(number) = end.signal {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        signal::set_disposition(number, false);
        signal::set_mask(SignalSet::EMPTY);
        // SAFETY: plain calls; the limit is a whole structure. One process has left its memory in a file already.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::kill(libc::getpid(), number);
        }
    }
    // SAFETY: leaves at once; nothing of this process is left to be done.
    unsafe { libc::_exit(end.code.unwrap_or_else(|| 128 + end.signal.unwrap_or(0))) }
}
