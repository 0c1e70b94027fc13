//! `waitid` with resource usage, which the C library's wrapper does not return.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Exit status and resource usage of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawExit {
    /// The exit code, if it exited.
    pub(crate) code: Option<i32>,
    /// The signal, if one killed it.
    pub(crate) signal: Option<i32>,
    /// User CPU time, including descendants that it waited for.
    pub(crate) user: Duration,
    /// System CPU time, including descendants that it waited for.
    pub(crate) system: Duration,
    /// Maximum resident set size of the process or one of these descendants, in bytes.
    pub(crate) max_rss: u64,
    /// Bytes written to files, in whole blocks.
    pub(crate) written: u64,
}

/// Waits for the process of a pidfd and reaps it. With `block` false, returns `None` if it is still running.
pub(crate) fn wait_pidfd(pidfd: BorrowedFd<'_>, block: bool) -> io::Result<Option<RawExit>> {
    wait(libc::P_PIDFD, pidfd.as_raw_fd() as libc::id_t, block)
}

/// Waits for the child `pid` and reaps it. With `block` false, returns `None` if it is still running.
pub(crate) fn wait_pid(pid: i32, block: bool) -> io::Result<Option<RawExit>> {
    wait(libc::P_PID, pid as libc::id_t, block)
}

/// Whether this process has children, running or not yet reaped. Reaps none.
pub(crate) fn has_children() -> bool {
    wait_with(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT).is_ok()
}

/// Whether this process has children that have ended. Reaps none.
pub(crate) fn has_ended_children() -> bool {
    matches!(wait_with(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT), Ok(Some(_)))
}

/// State of a child of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildState {
    Running,
    Ended,
}

/// Returns the state of a child, or `None` if `pid` is not a child of this process. Does not reap it.
pub(crate) fn child_state(pid: i32) -> Option<ChildState> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    match wait_with(libc::P_PID, pid as libc::id_t, options) {
        Ok(None) => Some(ChildState::Running),
        Ok(Some(_)) => Some(ChildState::Ended),
        Err(_) => None,
    }
}

/// The highest pid that the kernel assigns.
const PID_MAX: i32 = 4_194_304;

/// Finds the children of this process without `/proc`, by testing each pid. The kernel assigns pids in ascending order, so it
/// tests those between this process and the newest one first, and the others only if it finds none.
pub(crate) fn find_children() -> Vec<i32> {
    /// How often processes that were forked meanwhile are looked for.
    const MAX_ROUNDS: usize = 16;
    if !has_children() {
        return Vec::new();
    }
    let mut last = std::process::id().cast_signed();
    let mut found = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let newest = newest_pid().unwrap_or(PID_MAX);
        // After the highest pid, the kernel starts again with the lowest one.
        let (newer, wrapped) =
            if newest > last { (last + 1..newest, 2..2) } else { (last + 1..PID_MAX, 2..newest) };
        if newer.is_empty() && wrapped.is_empty() {
            break;
        }
        found.extend(newer.chain(wrapped).filter(|pid| child_state(*pid).is_some()));
        last = newest;
    }
    if found.is_empty() { find_children_everywhere() } else { found }
}

/// A number that grows with every process or thread that is started on this machine, besides those of [`newest_pid`]. `None`
/// if no thread can be started.
pub(crate) fn started_count() -> Option<i64> {
    let (newest, own) = probe_pid()?;
    Some(i64::from(newest) - own)
}

/// Tests every pid, as long as there are children: another thread may have reaped them all meanwhile.
fn find_children_everywhere() -> Vec<i32> {
    const PIDS_PER_CHECK: usize = 1 << 12;
    let blocks = (2..PID_MAX).step_by(PIDS_PER_CHECK).take_while(|_| has_children());
    let pids = blocks.flat_map(|first| first..first.saturating_add(PIDS_PER_CHECK as i32));
    pids.filter(|pid| child_state(*pid).is_some()).collect()
}

/// Returns a pid that the kernel assigns now, that of a thread that ends at once.
fn newest_pid() -> Option<i32> {
    probe_pid().map(|(newest, _)| newest)
}

/// The same, and how many of these threads were started so far.
fn probe_pid() -> Option<(i32, i64)> {
    static PROBES: Mutex<i64> = Mutex::new(0);
    // The application's own threads receive signals.
    let _held = super::HeldSignals::all();
    let mut probes = PROBES.lock().unwrap_or_else(PoisonError::into_inner);
    let builder = std::thread::Builder::new().stack_size(64 * 1024);
    let thread = builder.spawn(|| rustix::thread::gettid().as_raw_pid()).ok()?;
    let newest = thread.join().ok()?;
    *probes += 1;
    Some((newest, *probes))
}

/// A child was stopped or continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawChange {
    Stopped(i32),
    Continued,
}

/// A change of a child's state.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChildChange {
    Stopped,
    Ended(RawExit),
}

/// Returns the change of a child's state since the last call, if any. Reaps a child that has ended. Reports a child that does
/// not exist any more as killed, because its status is unknown.
pub(super) fn child_change(pid: i32) -> Option<ChildChange> {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG;
    match wait_info(libc::P_PID, pid as libc::id_t, options) {
        Ok((info, _)) if info.si_code == libc::CLD_STOPPED => Some(ChildChange::Stopped),
        Ok((info, usage)) => decode(&info, &usage).map(ChildChange::Ended),
        Err(_) => Some(ChildChange::Ended(RawExit {
            code: None,
            signal: Some(libc::SIGKILL),
            user: Duration::ZERO,
            system: Duration::ZERO,
            max_rss: 0,
            written: 0,
        })),
    }
}

/// Returns whether a child in this process group was stopped or continued since the last call.
pub(crate) fn wait_group_change(group: i32) -> io::Result<Option<RawChange>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG;
    let no_usage: *mut libc::rusage = std::ptr::null_mut();
    // SAFETY: the structure has the kernel's layout on these architectures. The usage may be null.
    let result =
        unsafe { libc::syscall(libc::SYS_waitid, libc::P_PGID, group, info.as_mut_ptr(), options, no_usage) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zero is a valid value for every field that the kernel did not fill.
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
        // SAFETY: both structures have the kernel's layout on these architectures.
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
    // SAFETY: zero is a valid value for every field that the kernel did not fill.
    Ok(unsafe { (info.assume_init(), usage.assume_init()) })
}

fn decode(info: &libc::siginfo_t, usage: &libc::rusage) -> Option<RawExit> {
    // SAFETY: `waitid` filled these fields, or they are zero.
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
        written: usage.ru_oublock.cast_unsigned() * OUTPUT_BLOCK_BYTES,
    })
}

/// The unit in which the kernel reports written bytes.
const OUTPUT_BLOCK_BYTES: u64 = 512;

/// Returns the CPU time of this process and of all children that it waited for.
pub(crate) fn whole_cpu_time() -> Duration {
    let of = |who| {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid, and zero is a valid value of every field.
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        duration(usage.ru_utime) + duration(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec.cast_unsigned(), (time.tv_usec * 1000) as u32)
}
