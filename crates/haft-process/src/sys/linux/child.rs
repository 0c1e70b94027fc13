//! Between birth and exec.
//!
//! The one law of this room: the child shares its parent's memory while the parent's thread sleeps, and other threads
//! of the parent run on. So everything here is a raw, async-signal-safe system call on data prepared beforehand. No
//! allocation, no lock, no panic, no destructor, nothing of the C library that keeps state. What fails is written
//! into the shared [`Context`] and the child leaves; the parent reads it when it wakes.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::Step;
use super::signal::{self, SignalSet};
use crate::command::ProcessGroup;

/// One descriptor to be put in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// The number it has in the parent.
    pub(crate) from: RawFd,
    /// The number the program shall see.
    pub(crate) to: RawFd,
    /// Whether `from` is also somebody's `to`, so that it has to step aside first.
    pub(crate) lift: bool,
}

/// A resource limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLimit {
    pub(crate) resource: u32,
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

/// All the child needs, prepared by the parent, and the place where it reports what failed.
pub(super) struct Context<'a> {
    pub(super) path: &'a CStr,
    pub(super) program_file: Option<RawFd>,
    pub(super) argv: *const *const libc::c_char,
    pub(super) envp: *const *const libc::c_char,
    pub(super) working_directory: Option<&'a CStr>,
    pub(super) moves: &'a mut [Move],
    pub(super) lift_floor: RawFd,
    pub(super) close: &'a [(u32, u32)],
    pub(super) group: ProcessGroup,
    pub(super) controlling_terminal: Option<RawFd>,
    pub(super) foreground_of: Option<RawFd>,
    pub(super) parent_death: Option<i32>,
    pub(super) parent: libc::pid_t,
    /// The directory of a control group to join, if the child could not be born into it.
    pub(super) cgroup: Option<RawFd>,
    pub(super) cgroup_files: &'a [RawFd],
    pub(super) limits: &'a [RawLimit],
    pub(super) nice: Option<i32>,
    pub(super) umask: Option<u32>,
    /// Whether the child loses `CAP_SYS_PTRACE`.
    pub(super) withhold_tracing: bool,
    pub(super) no_new_privileges: bool,
    pub(super) landlock: Option<RawFd>,
    pub(super) seccomp: Option<*const libc::sock_fprog>,
    pub(super) ignored: SignalSet,
    /// The signals whose disposition may not be what it shall be.
    pub(super) reset: SignalSet,
    pub(super) mask: SignalSet,
    pub(super) failed: Step,
    pub(super) errno: i32,
    pub(super) index: usize,
}

/// A failed step: which, and which of several.
type Failure = (Step, usize);

/// The child's whole life before exec.
pub(super) extern "C" fn enter(context: *mut libc::c_void) -> ! {
    // SAFETY: the parent passes its own context and sleeps, so this is the only reference in use.
    let context = unsafe { &mut *context.cast::<Context<'_>>() };
    let (step, index) = become_program(context);
    context.errno = errno();
    context.failed = step;
    context.index = index;
    // SAFETY: leaves at once, without running anything of the parent's.
    unsafe { libc::_exit(127) }
}

/// Takes all the steps; returns only with the one that failed.
fn become_program(context: &mut Context<'_>) -> Failure {
    match prepare(context) {
        Ok(()) => {}
        Err(failure) => return failure,
    }
    signal::set_mask(context.mask);
    // SAFETY: path and arrays are NUL-terminated and live in the parent, which sleeps.
    unsafe {
        match context.program_file {
            None => libc::execve(context.path.as_ptr(), context.argv, context.envp),
            Some(file) => {
                let (empty, flags) = (c"".as_ptr(), libc::AT_EMPTY_PATH);
                libc::syscall(libc::SYS_execveat, file, empty, context.argv, context.envp, flags) as i32
            }
        }
    };
    (Step::Exec, 0)
}

fn prepare(context: &mut Context<'_>) -> Result<(), Failure> {
    signal::set_dispositions(context.reset, context.ignored);
    set_group(context)?;
    set_terminal(context)?;
    set_parent_death(context)?;
    join_cgroups(context)?;
    change_directory(context)?;
    withhold_tracing(context);
    restrict_files(context)?;
    move_descriptors(context)?;
    close_others(context);
    set_limits(context)?;
    restrict_calls(context)
}

fn set_group(context: &Context<'_>) -> Result<(), Failure> {
    // SAFETY: plain calls that touch no memory.
    let result = unsafe {
        match context.group {
            ProcessGroup::Inherit => 0,
            ProcessGroup::Own => libc::setpgid(0, 0),
            ProcessGroup::Join(group) => libc::setpgid(0, group),
            ProcessGroup::Session => libc::setsid(),
        }
    };
    check(result, (Step::Group, 0))
}

fn set_terminal(context: &Context<'_>) -> Result<(), Failure> {
    if let Some(terminal) = context.controlling_terminal {
        // SAFETY: an ioctl without a pointer.
        check(unsafe { libc::ioctl(terminal, libc::TIOCSCTTY, 0) }, (Step::Terminal, 0))?;
    }
    if let Some(terminal) = context.foreground_of {
        // SAFETY: a plain call; SIGTTOU is blocked along with all the others.
        check(unsafe { libc::tcsetpgrp(terminal, libc::getpgrp()) }, (Step::Terminal, 1))?;
    }
    Ok(())
}

fn set_parent_death(context: &Context<'_>) -> Result<(), Failure> {
    let Some(signal) = context.parent_death else { return Ok(()) };
    // SAFETY: a prctl without a pointer.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) }, (Step::ParentDeath, 0))?;
    // SAFETY: a plain call.
    if unsafe { libc::getppid() } != context.parent {
        // The parent died before the request was made, so its death would never be signalled.
        // SAFETY: leaves at once.
        unsafe { libc::_exit(127) }
    }
    Ok(())
}

fn join_cgroups(context: &Context<'_>) -> Result<(), Failure> {
    if let Some(directory) = context.cgroup {
        let name = c"cgroup.procs".as_ptr();
        // SAFETY: a constant, NUL-terminated name.
        let file = unsafe { libc::openat(directory, name, libc::O_WRONLY | libc::O_CLOEXEC) };
        check(file, (Step::Cgroup, 0))?;
        join_cgroup(file)?;
    }
    context.cgroup_files.iter().try_for_each(|&file| join_cgroup(file))
}

fn join_cgroup(file: RawFd) -> Result<(), Failure> {
    // SAFETY: one byte of a constant; "0" stands for the writer itself.
    let written = unsafe { libc::write(file, c"0".as_ptr().cast(), 1) };
    check(written as i32, (Step::Cgroup, 0))
}

fn change_directory(context: &Context<'_>) -> Result<(), Failure> {
    let Some(directory) = context.working_directory else { return Ok(()) };
    // SAFETY: a NUL-terminated path of the parent's.
    check(unsafe { libc::chdir(directory.as_ptr()) }, (Step::WorkingDirectory, 0))
}

/// Puts every descriptor in its place: those in somebody else's place step aside first, so any permutation works.
fn move_descriptors(context: &mut Context<'_>) -> Result<(), Failure> {
    let floor = context.lift_floor;
    for (index, entry) in context.moves.iter_mut().enumerate() {
        if entry.lift {
            // SAFETY: a plain call.
            let lifted = unsafe { libc::fcntl(entry.from, libc::F_DUPFD_CLOEXEC, floor) };
            check(lifted, (Step::Descriptor, index))?;
            entry.from = lifted;
        }
    }
    for (index, entry) in context.moves.iter().enumerate() {
        // SAFETY: plain calls. A descriptor that is already in place only has to survive the exec.
        let result = unsafe {
            if entry.from == entry.to {
                libc::fcntl(entry.to, libc::F_SETFD, 0)
            } else {
                libc::dup2(entry.from, entry.to)
            }
        };
        check(result, (Step::Descriptor, index))?;
    }
    Ok(())
}

/// Closes every descriptor that the program was not given. Kernels without `close_range` fall back on close-on-exec,
/// which everything this crate opens carries.
fn close_others(context: &Context<'_>) {
    for &(first, last) in context.close {
        // SAFETY: a call without a pointer.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

fn set_limits(context: &Context<'_>) -> Result<(), Failure> {
    for (index, limit) in context.limits.iter().enumerate() {
        let pair = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
        // SAFETY: a pointer to a whole structure.
        check(unsafe { libc::setrlimit(limit.resource, &raw const pair) }, (Step::Limit, index))?;
    }
    if let Some(mask) = context.umask {
        // SAFETY: a plain call that cannot fail.
        unsafe { libc::umask(mask) };
    }
    if let Some(nice) = context.nice {
        // SAFETY: a plain call.
        check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }, (Step::Nice, 0))?;
    }
    Ok(())
}

/// Keeps the program from tracing its parent. One that may not change its own capabilities has none to lose.
fn withhold_tracing(context: &Context<'_>) {
    const CAP_SYS_PTRACE: libc::c_ulong = 19;
    if context.withhold_tracing {
        // SAFETY: a prctl without a pointer.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0) };
    }
}

/// Applies the Landlock ruleset while its descriptor is still open and nothing was put in its place.
fn restrict_files(context: &Context<'_>) -> Result<(), Failure> {
    if context.no_new_privileges {
        // SAFETY: a prctl without a pointer.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, (Step::NoNewPrivileges, 0))?;
    }
    let Some(ruleset) = context.landlock else { return Ok(()) };
    // SAFETY: a call without a pointer.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) };
    check(result as i32, (Step::Landlock, 0))
}

/// Installs the seccomp program, last, since it may forbid what the other steps need.
fn restrict_calls(context: &Context<'_>) -> Result<(), Failure> {
    let Some(program) = context.seccomp else { return Ok(()) };
    // SAFETY: the program lives in the parent, which sleeps.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, program) };
    check(result as i32, (Step::Seccomp, 0))
}

fn check(result: i32, failure: Failure) -> Result<(), Failure> {
    if result < 0 { Err(failure) } else { Ok(()) }
}

fn errno() -> i32 {
    // SAFETY: the pointer is to this thread's own errno.
    unsafe { *libc::__errno_location() }
}
