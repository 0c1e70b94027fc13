//! Replacing this process by another program.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;

use super::child::{self, FailedStep, errno};
use super::descriptors::DescriptorMoves;
use super::namespace;
use super::plan::{Executable, NamespaceJoin, ProcessAttributes, RawLimit, Restrictions};
use super::signal::{self, SignalSet};
use super::spawn::{pointers, seccomp_programs};
use super::{SpawnError, SpawnStep};

/// The program that replaces this process.
pub(crate) struct ProcessReplacement<'a> {
    pub(crate) program: Executable<'a>,
    /// Pairs of the number in this process and the number in the program.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    pub(crate) namespaces: Option<NamespaceJoin>,
    pub(crate) attributes: ProcessAttributes<'a>,
    pub(crate) restrictions: Restrictions<'a>,
}

/// Replaces this process by the program. Returns only on failure, with all changes undone except for restrictions, which
/// cannot be undone.
///
/// Other descriptors are marked close-on-exec instead of being closed, because a failed exec must not change this process.
pub(crate) fn replace(replacement: &ProcessReplacement<'_>) -> SpawnError {
    let directory = match SavedDirectory::change_to(replacement.program.working_directory) {
        Ok(directory) => directory,
        Err(error) => return SpawnError { step: SpawnStep::WorkingDirectory, index: 0, error },
    };
    let moves = DescriptorMoves::new(replacement.descriptors);
    close_on_exec(&moves.close);
    let mut saved = SavedDescriptors::default();
    // The descriptors of Landlock rulesets may be overwritten.
    let restrictions = &replacement.restrictions;
    if let Some(Err(error)) = replacement.namespaces.map(join_here) {
        directory.restore();
        return SpawnError { step: SpawnStep::Namespace, index: 0, error };
    }
    let restricted = child::join_network(restrictions)
        .and_then(|()| child::restrict_files_of_process(restrictions))
        .map_err(restriction_error);
    let error = match restricted.and_then(|()| saved.apply(moves)) {
        Ok(()) => execute_with_limits(replacement),
        Err(error) => error,
    };
    saved.restore();
    directory.restore();
    error
}

/// Joins a mount namespace and stays in the same directory.
fn join_here(join: NamespaceJoin) -> io::Result<()> {
    let directory = rustix::process::getcwd(Vec::new())?;
    namespace::join(join.user, join.mount)?;
    Ok(rustix::process::chdir(directory.as_c_str())?)
}

/// Sets the limits and executes the program. A hard limit that was lowered stays lowered if exec fails.
fn execute_with_limits(replacement: &ProcessReplacement<'_>) -> SpawnError {
    let limits = replacement.attributes.limits;
    let mut before = Vec::with_capacity(limits.len());
    let mut failed = None;
    for (index, limit) in limits.iter().enumerate() {
        match change_limit(limit) {
            Ok(old) => before.push(old),
            Err(error) => {
                failed = Some(SpawnError { step: SpawnStep::Limit, index, error });
                break;
            }
        }
    }
    let filters = seccomp_programs(replacement.restrictions.seccomp);
    let error = failed.unwrap_or_else(|| match child::restrict_calls_of_process(&filters) {
        Ok(()) => SpawnError { step: SpawnStep::Exec, index: 0, error: execute(replacement) },
        Err(failed) => restriction_error(failed),
    });
    before.iter().rev().for_each(|limit| drop(change_limit(limit)));
    error
}

/// Sets a limit of this process and returns the previous one.
fn change_limit(limit: &RawLimit) -> io::Result<RawLimit> {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes one complete structure.
    check(unsafe { libc::getrlimit(limit.resource, &raw mut old) })?;
    let new = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
    // SAFETY: the call reads one complete structure.
    check(unsafe { libc::setrlimit(limit.resource, &raw const new) })?;
    Ok(RawLimit { resource: limit.resource, soft: old.rlim_cur, hard: old.rlim_max })
}

fn execute(replacement: &ProcessReplacement<'_>) -> io::Error {
    let ProcessReplacement { program, attributes, .. } = replacement;
    let argv = pointers(program.argv.iter().map(CString::as_c_str));
    let envp = pointers(program.environment.iter().copied());
    let before = signal::ignored_signals();
    let changed = SignalSet(before.0 ^ attributes.ignored_signals.0);
    signal::set_dispositions(changed, attributes.ignored_signals);
    // SAFETY: a plain call that cannot fail.
    let old_umask = attributes.umask.map(|mask| unsafe { libc::umask(mask) });
    let old_mask = signal::set_mask(SignalSet::EMPTY);
    // SAFETY: path and arrays are NUL-terminated and outlive the call.
    unsafe { libc::execve(program.path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    let error = io::Error::last_os_error();
    signal::set_mask(old_mask);
    if let Some(mask) = old_umask {
        // SAFETY: as above.
        unsafe { libc::umask(mask) };
    }
    signal::set_dispositions(changed, before);
    error
}

fn close_on_exec(ranges: &[(u32, u32)]) {
    for &(first, last) in ranges {
        // SAFETY: a call without a pointer.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    }
}

/// The working directory before a change.
struct SavedDirectory(Option<RawFd>);

impl SavedDirectory {
    fn change_to(directory: Option<&CStr>) -> io::Result<SavedDirectory> {
        let Some(directory) = directory else { return Ok(SavedDirectory(None)) };
        // SAFETY: a constant, NUL-terminated path.
        let back = unsafe { libc::open(c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        // SAFETY: a NUL-terminated path.
        if unsafe { libc::chdir(directory.as_ptr()) } < 0 {
            let error = io::Error::last_os_error();
            close(back);
            return Err(error);
        }
        Ok(SavedDirectory(Some(back)))
    }

    fn restore(self) {
        if let Some(back) = self.0 {
            // SAFETY: this value owns the descriptor.
            unsafe { libc::fchdir(back) };
            close(back);
        }
    }
}

/// Copies of the descriptors that were overwritten.
#[derive(Default)]
struct SavedDescriptors {
    /// Overwritten numbers, with a copy of the descriptor if one was open.
    saved: Vec<(RawFd, Option<RawFd>)>,
    lifted: Vec<RawFd>,
}

impl SavedDescriptors {
    fn apply(&mut self, descriptors: DescriptorMoves) -> Result<(), SpawnError> {
        let DescriptorMoves { mut moves, floor, .. } = descriptors;
        for (index, entry) in moves.iter_mut().enumerate().filter(|(_, entry)| entry.lift) {
            entry.from = duplicate(entry.from, floor).map_err(|error| descriptor_error(index, error))?;
            self.lifted.push(entry.from);
        }
        for (index, entry) in moves.iter().enumerate() {
            if entry.from != entry.to {
                self.saved.push((entry.to, duplicate(entry.to, floor).ok()));
            }
            move_descriptor(entry.from, entry.to).map_err(|error| descriptor_error(index, error))?;
        }
        Ok(())
    }

    fn restore(self) {
        for (number, saved) in self.saved {
            match saved {
                Some(saved) => {
                    let _ = move_descriptor(saved, number);
                    close(saved);
                }
                None => close(number),
            }
        }
        self.lifted.into_iter().for_each(close);
    }
}

fn restriction_error((step, index): FailedStep) -> SpawnError {
    SpawnError { step, index, error: io::Error::from_raw_os_error(errno()) }
}

fn descriptor_error(index: usize, error: io::Error) -> SpawnError {
    SpawnError { step: SpawnStep::Descriptor, index, error }
}

fn duplicate(number: RawFd, floor: RawFd) -> io::Result<RawFd> {
    // SAFETY: a plain call.
    check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, floor) })
}

/// Duplicates a descriptor onto a number without close-on-exec.
fn move_descriptor(from: RawFd, to: RawFd) -> io::Result<RawFd> {
    // SAFETY: plain calls. The caller owns both numbers.
    check(unsafe { if from == to { libc::fcntl(to, libc::F_SETFD, 0) } else { libc::dup2(from, to) } })
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn close(number: RawFd) {
    // SAFETY: this module opened the descriptor, or must close it.
    unsafe { libc::close(number) };
}
