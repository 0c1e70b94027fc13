//! A copy of this process, for a shell's own work in the background.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::{HeldSignals, Spawned};

/// The status of a copy whose work has failed in a way it should not.
const FAILED: i32 = 254;

/// Whether this process has one thread only.
pub(crate) fn is_single_threaded() -> bool {
    // The directory itself, the link to it from above, and one for each thread.
    rustix::fs::stat("/proc/self/task").is_ok_and(|tasks| tasks.st_nlink == 3)
}

/// Makes a copy of this process that has the descriptors to be kept and no others, does the work and ends with the status it
/// yields; signals to it wait until the work lets them come. `None` if there are other threads, which a copy would lack.
pub(crate) fn fork(kept: &[RawFd], work: impl FnOnce(HeldSignals) -> i32) -> io::Result<Option<Spawned>> {
    if !is_single_threaded() {
        return Ok(None);
    }
    let held = HeldSignals::all();
    // SAFETY: this is the only thread, so that no lock is held and nothing half done in the memory that is copied.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            close_others(kept);
            let status = catch_unwind(AssertUnwindSafe(|| work(held))).unwrap_or(FAILED);
            // SAFETY: ends this process at once; what the original has on its stack is not this one's to clean up.
            unsafe { libc::_exit(status) }
        }
        pid => hold(pid).map(|pidfd| Some(Spawned { pid, pidfd })),
    }
}

/// A descriptor for a child that is not reaped yet, so that its number is its own.
fn hold(pid: i32) -> io::Result<OwnedFd> {
    let number = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    pidfd_open(number, PidfdFlags::empty()).map_err(|error| {
        let _ = kill_process(number, Signal::KILL);
        error.into()
    })
}

/// Closes all descriptors but those that are kept; where standard ones were, nothing is read or written.
pub(crate) fn close_others(kept: &[RawFd]) {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<RawFd> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| !kept.contains(number)) {
        // SAFETY: a number is closed once, here; whoever owns it in the original has no part in this process.
        unsafe { libc::close(number) };
    }
    for number in (0..3).filter(|number| !kept.contains(number)) {
        if let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
            debug_assert!(null.as_raw_fd() <= number, "the lowest free number is taken");
            let _ = null.into_raw_fd();
        }
    }
}
