//! System calls for tests that have no safe interface.
#![expect(unsafe_code, reason = "these are calls of the C library")]

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// Sends a signal to a process. Ignores errors.
pub fn signal(pid: i32, signal: i32) {
    assert!(pid > 1, "{pid} is not a process of a test");
    // SAFETY: a plain call.
    unsafe { libc::kill(pid, signal) };
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    // SAFETY: a plain call.
    unsafe { libc::geteuid() == 0 }
}

/// Closes a descriptor that nothing in this process owns.
pub fn close_descriptor(number: i32) {
    // SAFETY: the caller guarantees that the descriptor has no owner.
    unsafe { libc::close(number) };
}

/// Blocks all signals in this thread while `action` runs.
pub fn hold_signals<T>(action: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are complete.
    let old = unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        old
    };
    let result = action();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut()) };
    result
}

/// Raises the soft limit of open descriptors to the hard limit.
pub fn raise_descriptor_limit() {
    // SAFETY: a complete structure.
    unsafe {
        let mut limit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
}

/// Opens a terminal of 80 columns and 24 rows. Returns its master side and slave side.
///
/// # Errors
/// Fails if no terminal is available.
pub fn open_terminal() -> io::Result<(File, File)> {
    let (mut master, mut slave) = (-1, -1);
    let mut size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: pointers to two descriptors and a complete size. Name and settings may be null.
    let result = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut size,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are new and have no other owner.
    unsafe {
        libc::fcntl(master, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(slave, libc::F_SETFD, libc::FD_CLOEXEC);
        Ok((File::from_raw_fd(master), File::from_raw_fd(slave)))
    }
}

/// Makes a Landlock ruleset that forbids only block devices. Returns `None` if Landlock is not available.
pub fn landlock_ruleset() -> Option<OwnedFd> {
    const MAKE_BLOCK: u64 = 1 << 11;
    let rules: u64 = MAKE_BLOCK;
    // SAFETY: a structure of one number and its size.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, size_of::<u64>(), 0) };
    // SAFETY: a new descriptor without another owner.
    (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result as i32) })
}

/// Makes this process a subreaper.
pub(crate) fn inherit_orphans() {
    // SAFETY: a prctl without a pointer.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Reaps zombies that are child programs.
pub(crate) fn reap_orphans() {
    for child in crate::process::children(std::process::id() as i32) {
        let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        if ["haft-test-child", "exe"].contains(&name.trim()) {
            // SAFETY: the status may be null.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) };
        }
    }
}
