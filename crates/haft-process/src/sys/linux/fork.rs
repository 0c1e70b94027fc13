//! `fork`, for background work of a plain shell.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::{HeldSignals, Spawned};

/// Exit status of a forked child whose work panicked.
const PANIC_STATUS: i32 = 254;

/// Whether this process has a single thread.
pub(crate) fn is_single_threaded() -> bool {
    // Links: the directory itself, its entry in the parent directory, and one per thread.
    rustix::fs::stat("/proc/self/task").is_ok_and(|tasks| tasks.st_nlink == 3)
}

/// Forks a child that keeps only the given descriptors, runs `work` and exits with the status that it returns. Signals are
/// blocked in the child until `work` drops its [`HeldSignals`]. Returns `None` if this process has other threads, because
/// the child would not have them.
pub(crate) fn fork(kept: &[RawFd], work: impl FnOnce(HeldSignals) -> i32) -> io::Result<Option<Spawned>> {
    if !is_single_threaded() {
        return Ok(None);
    }
    let held = HeldSignals::all();
    // SAFETY: this is the only thread, so no lock is held and no data is half written in the copied memory.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            close_others(kept);
            let status = catch_unwind(AssertUnwindSafe(|| work(held))).unwrap_or(PANIC_STATUS);
            // SAFETY: exits at once. Values on the copied stack belong to the parent.
            unsafe { libc::_exit(status) }
        }
        pid => open_pidfd_or_kill(pid).map(|pidfd| Some(Spawned { pid, pidfd: Some(pidfd) })),
    }
}

/// Opens a pidfd for a child that is not reaped yet, so its pid cannot have been reused.
pub(crate) fn open_pidfd(pid: i32) -> io::Result<OwnedFd> {
    let number = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(number, PidfdFlags::empty())?)
}

fn open_pidfd_or_kill(pid: i32) -> io::Result<OwnedFd> {
    open_pidfd(pid).inspect_err(|_| {
        if let Some(number) = Pid::from_raw(pid) {
            let _ = kill_process(number, Signal::KILL);
        }
    })
}

/// Closes all descriptors except those in `kept`. Standard descriptors that are closed are replaced by `/dev/null`.
pub(crate) fn close_others(kept: &[RawFd]) {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<RawFd> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| !kept.contains(number)) {
        // SAFETY: each number is closed once. Its owner exists only in the parent.
        unsafe { libc::close(number) };
    }
    for number in (0..3).filter(|number| !kept.contains(number)) {
        if let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
            debug_assert!(null.as_raw_fd() <= number, "the lowest free number is taken");
            let _ = null.into_raw_fd();
        }
    }
}
