//! The child between clone and exec.
//!
//! The child shares its parent's memory. The parent's thread sleeps meanwhile, but the other threads of the parent run.
//! Everything here is therefore a raw, async-signal-safe system call on data that the parent prepared: no allocation, no
//! lock, no panic, no destructor, no C library function that keeps state. A child that fails writes the failed step into
//! its [`ChildContext`] and exits; the parent reads it when it wakes.

use std::io;
use std::os::fd::RawFd;

use super::SpawnStep;
use super::descriptors::DescriptorMoves;
use super::namespace;
use super::network;
use super::plan::{Restrictions, SpawnPlan};
use super::signal::{self, SignalSet};
use crate::command::ProcessGroup;

/// Everything the child uses, prepared by the parent.
pub(super) struct ChildContext<'a> {
    pub(super) plan: &'a SpawnPlan<'a>,
    pub(super) argv: *const *const libc::c_char,
    pub(super) envp: *const *const libc::c_char,
    pub(super) descriptors: &'a mut DescriptorMoves,
    pub(super) parent: libc::pid_t,
    /// A control group to join here, if the child was not cloned into it.
    pub(super) cgroup_directory: Option<RawFd>,
    /// Whether the child loses `CAP_SYS_PTRACE`.
    pub(super) withhold_tracing: bool,
    pub(super) seccomp: &'a [libc::sock_fprog],
    /// Signals whose disposition may differ from the planned one.
    pub(super) reset_signals: SignalSet,
    /// Written by the child, read by the parent.
    pub(super) failure: ChildFailure,
}

/// The step at which a child failed.
#[derive(Clone, Copy)]
pub(super) struct ChildFailure {
    pub(super) step: SpawnStep,
    pub(super) errno: i32,
    /// Index of the descriptor or limit that failed.
    pub(super) index: usize,
}

impl ChildFailure {
    pub(super) const NONE: ChildFailure = ChildFailure { step: SpawnStep::None, errno: 0, index: 0 };
}

/// A failed step, and the index of the descriptor or limit.
pub(super) type FailedStep = (SpawnStep, usize);

/// The child's entry point.
pub(super) extern "C" fn enter(context: *mut libc::c_void) -> ! {
    // SAFETY: the parent passes its own context and sleeps, so this is the only reference in use.
    let context = unsafe { &mut *context.cast::<ChildContext<'_>>() };
    let (step, index) = become_program(context);
    context.failure = ChildFailure { step, errno: errno(), index };
    // SAFETY: exits at once, without running any code of the parent.
    unsafe { libc::_exit(127) }
}

/// Takes all steps and executes the program. Returns the step that failed.
fn become_program(context: &mut ChildContext<'_>) -> FailedStep {
    match prepare(context) {
        Ok(()) => {}
        Err(failed) => return failed,
    }
    signal::set_mask(SignalSet::EMPTY);
    let program = &context.plan.program;
    // SAFETY: path and arrays are NUL-terminated and belong to the parent, which sleeps.
    unsafe {
        match program.file {
            None => libc::execve(program.path.as_ptr(), context.argv, context.envp),
            Some(file) => {
                let (empty, flags) = (c"".as_ptr(), libc::AT_EMPTY_PATH);
                libc::syscall(libc::SYS_execveat, file, empty, context.argv, context.envp, flags) as i32
            }
        }
    };
    (SpawnStep::Exec, 0)
}

fn prepare(context: &mut ChildContext<'_>) -> Result<(), FailedStep> {
    signal::set_dispositions(context.reset_signals, context.plan.attributes.ignored_signals);
    set_group(context)?;
    set_terminal(context)?;
    set_parent_death(context)?;
    join_cgroups(context)?;
    join_namespaces(context)?;
    change_directory(context)?;
    withhold_tracing(context);
    restrict_files(context)?;
    move_descriptors(context)?;
    close_others(context);
    set_attributes(context)?;
    restrict_calls(context)
}

fn set_group(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    // SAFETY: plain calls that access no memory.
    let result = unsafe {
        match context.plan.session.group {
            ProcessGroup::Inherit => 0,
            ProcessGroup::Own => libc::setpgid(0, 0),
            ProcessGroup::Join(group) => libc::setpgid(0, group),
            ProcessGroup::Session => libc::setsid(),
        }
    };
    check(result, (SpawnStep::Group, 0))
}

fn set_terminal(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    if let Some(terminal) = context.plan.session.controlling_terminal {
        // SAFETY: an ioctl without a pointer.
        check(unsafe { libc::ioctl(terminal, libc::TIOCSCTTY, 0) }, (SpawnStep::Terminal, 0))?;
    }
    if let Some(terminal) = context.plan.session.foreground_of {
        // SAFETY: a plain call. SIGTTOU is blocked like all other signals.
        check(unsafe { libc::tcsetpgrp(terminal, libc::getpgrp()) }, (SpawnStep::Terminal, 1))?;
    }
    Ok(())
}

fn set_parent_death(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    let Some(signal) = context.plan.session.parent_death_signal else { return Ok(()) };
    // SAFETY: a prctl without a pointer.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) }, (SpawnStep::ParentDeath, 0))?;
    // SAFETY: a plain call.
    if unsafe { libc::getppid() } != context.parent {
        // The parent died before the prctl, so the kernel would never send the signal.
        // SAFETY: exits at once.
        unsafe { libc::_exit(127) }
    }
    Ok(())
}

fn join_cgroups(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    if let Some(directory) = context.cgroup_directory {
        let name = c"cgroup.procs".as_ptr();
        // SAFETY: a constant, NUL-terminated name.
        let file = unsafe { libc::openat(directory, name, libc::O_WRONLY | libc::O_CLOEXEC) };
        check(file, (SpawnStep::Cgroup, 0))?;
        join_cgroup(file)?;
    }
    context.plan.cgroups.files.iter().try_for_each(|&file| join_cgroup(file))
}

fn join_cgroup(file: RawFd) -> Result<(), FailedStep> {
    // SAFETY: one byte of a constant. "0" means the writing process.
    let written = unsafe { libc::write(file, c"0".as_ptr().cast(), 1) };
    check(written as i32, (SpawnStep::Cgroup, 0))
}

/// Joins the planned namespaces. This resets the working directory to the root of the mount namespace, so a child without a planned
/// directory goes back to the path of its parent's.
fn join_namespaces(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    if let Some(namespaces) = context.plan.namespaces {
        let mut path = [0_u8; libc::PATH_MAX as usize];
        // SAFETY: a buffer with its length.
        let length = unsafe { libc::syscall(libc::SYS_getcwd, path.as_mut_ptr(), path.len()) };
        let joined = namespace::join_raw(namespaces.user, namespaces.mount);
        check(joined, (SpawnStep::Namespace, 0))?;
        if context.plan.program.working_directory.is_none() && length > 0 {
            // SAFETY: the system call has written a NUL-terminated path.
            check(unsafe { libc::chdir(path.as_ptr().cast()) }, (SpawnStep::WorkingDirectory, 0))?;
        }
    }
    join_network(&context.plan.restrictions)
}

/// Joins the planned network namespace.
pub(super) fn join_network(restrictions: &Restrictions<'_>) -> Result<(), FailedStep> {
    let Some(network) = restrictions.network else { return Ok(()) };
    check(network::join_network_raw(network.user, network.network), (SpawnStep::Namespace, 0))
}

fn change_directory(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    let Some(directory) = context.plan.program.working_directory else { return Ok(()) };
    // SAFETY: a NUL-terminated path that belongs to the parent.
    check(unsafe { libc::chdir(directory.as_ptr()) }, (SpawnStep::WorkingDirectory, 0))
}

/// Moves every descriptor to its number. Descriptors on a target number are lifted first, so any permutation works.
fn move_descriptors(context: &mut ChildContext<'_>) -> Result<(), FailedStep> {
    let floor = context.descriptors.floor;
    for (index, entry) in context.descriptors.moves.iter_mut().enumerate() {
        if entry.lift {
            // SAFETY: a plain call.
            let lifted = unsafe { libc::fcntl(entry.from, libc::F_DUPFD_CLOEXEC, floor) };
            check(lifted, (SpawnStep::Descriptor, index))?;
            entry.from = lifted;
        }
    }
    for (index, entry) in context.descriptors.moves.iter().enumerate() {
        // SAFETY: plain calls. A descriptor that already has its number only needs to survive the exec.
        let result = unsafe {
            if entry.from == entry.to {
                libc::fcntl(entry.to, libc::F_SETFD, 0)
            } else {
                libc::dup2(entry.from, entry.to)
            }
        };
        check(result, (SpawnStep::Descriptor, index))?;
    }
    Ok(())
}

/// Closes every descriptor that the program was not given. On kernels without `close_range`, close-on-exec does it: all
/// descriptors that this crate opens have that flag.
fn close_others(context: &ChildContext<'_>) {
    for &(first, last) in &context.descriptors.close {
        // SAFETY: a call without a pointer.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

fn set_attributes(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    let attributes = &context.plan.attributes;
    for (index, limit) in attributes.limits.iter().enumerate() {
        let pair = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
        // SAFETY: a pointer to a complete structure.
        check(unsafe { libc::setrlimit(limit.resource, &raw const pair) }, (SpawnStep::Limit, index))?;
    }
    if let Some(mask) = attributes.umask {
        // SAFETY: a plain call that cannot fail.
        unsafe { libc::umask(mask) };
    }
    if let Some(nice) = attributes.nice {
        // SAFETY: a plain call.
        check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }, (SpawnStep::Nice, 0))?;
    }
    Ok(())
}

/// Drops the capability to trace the parent. The call fails only for a process without capabilities, which cannot trace
/// its parent anyway.
fn withhold_tracing(context: &ChildContext<'_>) {
    const CAP_SYS_PTRACE: libc::c_ulong = 19;
    if context.withhold_tracing {
        // SAFETY: a prctl without a pointer.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0) };
    }
}

/// Applies the Landlock ruleset, before its descriptor is overwritten or closed.
fn restrict_files(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    restrict_files_of_process(&context.plan.restrictions)
}

/// Gives up the right to gain privileges, and applies Landlock rulesets. Calls nothing that needs memory.
pub(super) fn restrict_files_of_process(restrictions: &Restrictions<'_>) -> Result<(), FailedStep> {
    let Restrictions { no_new_privileges, landlock, seccomp, .. } = *restrictions;
    if no_new_privileges || !landlock.is_empty() || !seccomp.is_empty() {
        // SAFETY: a prctl without a pointer.
        let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        check(result, (SpawnStep::NoNewPrivileges, 0))?;
    }
    landlock.iter().try_for_each(|&ruleset| {
        // SAFETY: a call without a pointer.
        let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) };
        check(result as i32, (SpawnStep::Landlock, 0))
    })
}

/// Applies a Landlock ruleset to this thread.
pub(crate) fn confine_thread(ruleset: RawFd) -> io::Result<()> {
    let rulesets = [ruleset];
    let restrictions = Restrictions {
        keep_tracing: true,
        no_new_privileges: true,
        network: None,
        landlock: &rulesets,
        seccomp: &[],
    };
    restrict_files_of_process(&restrictions).map_err(|_| io::Error::last_os_error())
}

/// Installs the seccomp filters. This is the last step, because a filter may forbid the others.
fn restrict_calls(context: &ChildContext<'_>) -> Result<(), FailedStep> {
    restrict_calls_of_process(context.seccomp)
}

/// Installs seccomp filters. Calls nothing that needs memory.
pub(super) fn restrict_calls_of_process(filters: &[libc::sock_fprog]) -> Result<(), FailedStep> {
    filters.iter().try_for_each(|filter| {
        let filter = std::ptr::from_ref(filter);
        // SAFETY: the filter outlives the call, which copies it.
        let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, filter) };
        check(result as i32, (SpawnStep::Seccomp, 0))
    })
}

fn check(result: i32, failed: FailedStep) -> Result<(), FailedStep> {
    if result < 0 { Err(failed) } else { Ok(()) }
}

pub(super) fn errno() -> i32 {
    // SAFETY: the pointer is to this thread's own errno.
    unsafe { *libc::__errno_location() }
}
