//! A parent process that forwards signals to its child.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use super::signal::{self, HeldSignals, SignalSet};
use super::wait::{self, RawExit};

/// Parent-death signal of a guardian whose parent is a relay: a real-time signal that nothing else uses.
const PARENT_DIED: i32 = 41;

/// The pid of the parent that forwards signals to this process; 0 if there is none.
static FORWARDER: AtomicI32 = AtomicI32::new(0);

/// The two sides of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForkSide {
    /// The child, which continues the program.
    Inner,
    /// The parent, with the child's pid. All signals are blocked.
    Outer(i32),
}

/// An event that ends the forwarding of signals.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GuardEvent {
    /// The child has ended and was reaped.
    Ended(RawExit),
    /// The parent of the forwarding process has died.
    ParentDied,
}

/// Whether this process has more than one thread. Returns false where `/proc` does not say.
pub(crate) fn has_other_threads() -> bool {
    rustix::fs::stat("/proc/self/task").is_ok_and(|tasks| tasks.st_nlink > 3)
}

/// Forks a child that continues the program. The parent takes the process name `name`, becomes non-dumpable, and is expected
/// to call [`next_guard_event`], which forwards signals to the child.
pub(crate) fn split(name: &CStr, forwarded: SignalSet) -> io::Result<ForkSide> {
    let held = HeldSignals::all();
    // SAFETY: the caller has no other thread, so no lock is held and no data is half written in the copied memory.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: plain calls.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, 0);
                FORWARDER.store(libc::getppid(), Ordering::Relaxed);
            }
            drop(held);
            Ok(ForkSide::Inner)
        }
        child => {
            become_outer(name, forwarded);
            std::mem::forget(held);
            Ok(ForkSide::Outer(child))
        }
    }
}

fn become_outer(name: &CStr, forwarded: SignalSet) {
    // SAFETY: prctl with a constant string, and without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        if FORWARDER.load(Ordering::Relaxed) != 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, PARENT_DIED);
            if libc::getppid() != FORWARDER.load(Ordering::Relaxed) {
                libc::raise(PARENT_DIED);
            }
        }
    }
    // If SIGCHLD is ignored, the kernel reaps children and their status is lost.
    signal::set_disposition(libc::SIGCHLD, false);
    signal::set_mask(awaited(forwarded));
}

fn awaited(forwarded: SignalSet) -> SignalSet {
    let mut awaited = forwarded;
    awaited.insert(libc::SIGCHLD);
    awaited.insert(PARENT_DIED);
    awaited
}

/// Closes all descriptors except one.
pub(crate) fn close_all_but(kept: RawFd) {
    let kept = kept.cast_unsigned();
    for (first, last) in [(0, kept.saturating_sub(1)), (kept + 1, u32::MAX)] {
        if first <= last && !(kept == 0 && first == 0) {
            // SAFETY: this process uses only the descriptor that is kept.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Forwards signals to the child until it ends or the parent of this process dies. If the child is stopped, this process
/// stops too, and continues the child when it is continued.
pub(crate) fn next_guard_event(child: i32, forwarded: SignalSet) -> GuardEvent {
    loop {
        match wait::child_change(child) {
            Some(wait::ChildChange::Ended(exit)) => return GuardEvent::Ended(exit),
            Some(wait::ChildChange::Stopped) => {
                let _ = signal::kill(std::process::id().cast_signed(), libc::SIGSTOP);
                let _ = signal::kill(child, libc::SIGCONT);
            }
            None => {}
        }
        let Some(info) = signal::wait_for_info(awaited(forwarded)) else { continue };
        match info.number {
            libc::SIGCHLD => {}
            PARENT_DIED => return GuardEvent::ParentDied,
            // Typed at the terminal: the kernel has sent it to the child too, which is in the same group.
            libc::SIGINT | libc::SIGQUIT | libc::SIGTSTP if info.is_from_kernel() => {}
            number => forward(child, number, info.sender),
        }
    }
}

/// Queues a signal with its original sender as the value, so that the child can recognise a signal that it also received
/// directly.
fn forward(child: i32, number: i32, sender: i32) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let fields = info.as_mut_ptr().cast::<QueuedSignal>();
    let own = std::process::id().cast_signed();
    // SAFETY: the structure is a prefix of the kernel's, which is zero-initialised.
    unsafe {
        (*fields).number = number;
        (*fields).code = libc::SI_QUEUE;
        (*fields).pid = own;
        (*fields).value = sender as usize;
        libc::syscall(libc::SYS_rt_sigqueueinfo, child, number, info.as_ptr());
    }
}

/// The kernel's `siginfo_t` of a queued signal, on 64-bit systems.
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

/// Returns the original sender of a signal that the forwarding parent queued, or `None` for any other signal.
pub(super) fn forwarded_from(info: &libc::siginfo_t) -> Option<i32> {
    let forwarder = FORWARDER.load(Ordering::Relaxed);
    // SAFETY: the fields are valid if `code` is SI_QUEUE, which is checked first.
    unsafe {
        let queued = &*ptr::from_ref(info).cast::<QueuedSignal>();
        (forwarder != 0 && queued.code == libc::SI_QUEUE && queued.pid == forwarder)
            .then_some(queued.value as i32)
    }
}

/// Ends this process with the exit status or signal of another one.
pub(crate) fn end_as(end: &RawExit) -> ! {
    if let Some(number) = end.signal {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        signal::set_disposition(number, false);
        signal::set_mask(SignalSet::EMPTY);
        // SAFETY: plain calls with a complete structure. The limit prevents a second core file.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::kill(libc::getpid(), number);
        }
    }
    // SAFETY: exits at once.
    unsafe { libc::_exit(end.code.unwrap_or_else(|| 128 + end.signal.unwrap_or(0))) }
}
