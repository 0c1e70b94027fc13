//! Waiting: `waitid` with the resource usage that the portable interface hides.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

/// How a process ended and what it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawExit {
    /// The exit code, if it exited.
    pub(crate) code: Option<i32>,
    /// The signal, if one killed it.
    pub(crate) signal: Option<i32>,
    /// Time on the processor in its own code, with the descendants it waited for.
    pub(crate) user: Duration,
    /// Time on the processor in the kernel.
    pub(crate) system: Duration,
    /// The largest resident set of any of them, in bytes.
    pub(crate) max_rss: u64,
}

/// Waits for the process behind a pidfd; with `block` false, `None` says that it still runs.
pub(crate) fn wait_pidfd(pidfd: BorrowedFd<'_>, block: bool) -> io::Result<Option<RawExit>> {
    wait(libc::P_PIDFD, pidfd.as_raw_fd() as libc::id_t, block)
}

/// Reaps the child `pid` if it has ended.
pub(crate) fn wait_pid(pid: i32) -> io::Result<Option<RawExit>> {
    wait(libc::P_PID, pid as libc::id_t, false)
}

/// Whether this process has any child at all, ended or not; nothing is reaped.
pub(crate) fn has_children() -> bool {
    wait_with(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT).is_ok()
}

/// Whether a child of this process has ended and was not reaped; nothing is reaped.
pub(crate) fn has_ended_children() -> bool {
    matches!(wait_with(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT), Ok(Some(_)))
}

/// Whether a child of this process runs or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildState {
    Running,
    Ended,
}

/// The state of a child; `None` if this process has no child of that number. Nothing is reaped.
pub(crate) fn child_state(pid: i32) -> Option<ChildState> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    match wait_with(libc::P_PID, pid as libc::id_t, options) {
        Ok(None) => Some(ChildState::Running),
        Ok(Some(_)) => Some(ChildState::Ended),
        Err(_) => None,
    }
}

/// The children of this process, found without `/proc`: by asking for each number whether it is one. Numbers near that of
/// this process come first, and the rest only if none is found there.
pub(crate) fn find_children() -> Vec<i32> {
    /// The highest number that the kernel ever gives to a process.
    const HIGHEST: i32 = 4_194_304;
    const NEAR: i32 = 1 << 16;
    if !has_children() {
        return Vec::new();
    }
    let own = std::process::id().cast_signed();
    let near = own.saturating_sub(NEAR / 4).max(2)..own.saturating_add(NEAR).min(HIGHEST);
    let is_child = |pid: &i32| child_state(*pid).is_some();
    let found: Vec<i32> = near.clone().filter(is_child).collect();
    let far = || (2..near.start).chain(near.end..HIGHEST + 1).filter(is_child).collect();
    if found.is_empty() { far() } else { found }
}

/// A child that was stopped, or let go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawChange {
    Stopped(i32),
    Continued,
}

/// What has happened to a child.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Stopped,
    Ended(RawExit),
}

/// What has happened to a child since this was asked last, if anything; one that has ended is reaped. A child that is
/// not there any more was killed, as far as anybody knows.
pub(super) fn child_change(pid: i32) -> Option<Change> {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG;
    match wait_info(libc::P_PID, pid as libc::id_t, options) {
        Ok((info, _)) if info.si_code == libc::CLD_STOPPED => Some(Change::Stopped),
        Ok((info, usage)) => decode(&info, &usage).map(Change::Ended),
        Err(_) => Some(Change::Ended(RawExit {
            code: None,
            signal: Some(libc::SIGKILL),
            user: Duration::ZERO,
            system: Duration::ZERO,
            max_rss: 0,
        })),
    }
}

/// What has happened to a child of this process group other than its end, if anything; told once.
pub(crate) fn wait_group_change(group: i32) -> io::Result<Option<RawChange>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG;
    let no_usage: *mut libc::rusage = std::ptr::null_mut();
    // SAFETY: the structure is the kernel's own layout on these architectures; the usage may be null.
    let result =
        unsafe { libc::syscall(libc::SYS_waitid, libc::P_PGID, group, info.as_mut_ptr(), options, no_usage) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zero is a valid value for every field, and the kernel has filled the rest.
    let (info, pid, status) = unsafe {
        let info = info.assume_init();
        (info, info.si_pid(), info.si_status())
    };
    Ok(match info.si_code {
        _ if pid == 0 => None,
        libc::CLD_CONTINUED => Some(RawChange::Continued),
        _ => Some(RawChange::Stopped(status)),
    })
}

fn wait(kind: libc::idtype_t, id: libc::id_t, block: bool) -> io::Result<Option<RawExit>> {
    wait_with(kind, id, libc::WEXITED | if block { 0 } else { libc::WNOHANG })
}

fn wait_with(kind: libc::idtype_t, id: libc::id_t, options: i32) -> io::Result<Option<RawExit>> {
    wait_info(kind, id, options).map(|(info, usage)| decode(&info, &usage))
}

fn wait_info(
    kind: libc::idtype_t,
    id: libc::id_t,
    options: i32,
) -> io::Result<(libc::siginfo_t, libc::rusage)> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both structures are the kernel's own layout on these architectures and are large enough.
        let result = unsafe {
            libc::syscall(libc::SYS_waitid, kind, id, info.as_mut_ptr(), options, usage.as_mut_ptr())
        };
        if result == 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: zero is a valid value for every field, and the kernel has filled the rest.
    Ok(unsafe { (info.assume_init(), usage.assume_init()) })
}

fn decode(info: &libc::siginfo_t, usage: &libc::rusage) -> Option<RawExit> {
    // SAFETY: these fields are valid for a siginfo that waitid filled; zeroed otherwise.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    if pid == 0 {
        return None;
    }
    let exited = info.si_code == libc::CLD_EXITED;
    Some(RawExit {
        code: exited.then_some(status),
        signal: (!exited).then_some(status),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        max_rss: usage.ru_maxrss.cast_unsigned() * 1024,
    })
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec.cast_unsigned(), (time.tv_usec * 1000) as u32)
}
