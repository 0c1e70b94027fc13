//! The few things tests need that have no safe interface.
#![expect(unsafe_code, reason = "these are calls of the C library")]

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// Sends a signal to a process; one that is gone is no error.
pub fn signal(pid: i32, signal: i32) {
    assert!(pid > 1, "{pid} is no process of a test");
    // SAFETY: a plain call.
    unsafe { libc::kill(pid, signal) };
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    // SAFETY: a plain call.
    unsafe { libc::geteuid() == 0 }
}

/// Closes a descriptor that nothing in this process owns.
pub fn close_descriptor(number: i32) {
    // SAFETY: the caller says that nothing owns it.
    unsafe { libc::close(number) };
}

/// Blocks all signals in this thread for as long as `action` runs.
pub fn hold_signals<T>(action: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are whole, and the old one is given back as it was.
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

/// Allows this process as many descriptors as it may allow itself.
pub fn raise_descriptor_limit() {
    // SAFETY: a whole structure.
    unsafe {
        let mut limit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
}

/// A new terminal of 80 columns and 24 rows: its master side and its slave side.
///
/// # Errors
/// If there is none to be had.
pub fn open_terminal() -> io::Result<(File, File)> {
    let (mut master, mut slave) = (-1, -1);
    let mut size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: places for two descriptors and a whole size; name and settings may be null.
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
    // SAFETY: both are fresh and owned by nobody else; they shall not reach programs that are not given them.
    unsafe {
        libc::fcntl(master, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(slave, libc::F_SETFD, libc::FD_CLOEXEC);
        Ok((File::from_raw_fd(master), File::from_raw_fd(slave)))
    }
}

/// A Landlock ruleset that forbids to make device files, which nobody misses; `None` where the system has no Landlock.
pub fn landlock_ruleset() -> Option<OwnedFd> {
    const MAKE_BLOCK: u64 = 1 << 11;
    let rules: u64 = MAKE_BLOCK;
    // SAFETY: a structure of one number, with its size.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, size_of::<u64>(), 0) };
    // SAFETY: a fresh descriptor that nobody else owns.
    (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result as i32) })
}

/// Makes this process the parent of orphans among its descendants.
pub(crate) fn inherit_orphans() {
    // SAFETY: a prctl without a pointer.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Reaps dead children that are processes of the child program.
pub(crate) fn reap_orphans() {
    for child in crate::process::children(std::process::id() as i32) {
        let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        if ["haft-test-child", "exe"].contains(&name.trim()) {
            // SAFETY: no status is asked for.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) };
        }
    }
}
