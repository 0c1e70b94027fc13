//! Becoming another program.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;

use super::child::{Move, RawLimit};
use super::signal::{self, SignalSet};
use super::spawn::{arrange, pointers};
use super::{Fault, Step};

/// What this process shall become, every decision made.
pub(crate) struct Replacement<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) argv: &'a [CString],
    pub(crate) environment: &'a [&'a CStr],
    pub(crate) working_directory: Option<&'a CStr>,
    /// Pairs of the number now and the number for the program.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    pub(crate) ignored: SignalSet,
    pub(crate) umask: Option<u32>,
    pub(crate) limits: &'a [RawLimit],
}

/// Replaces this process by the program; returns only with the reason why not, and everything undone.
///
/// All other descriptors are marked close-on-exec rather than closed, so that a failed exec leaves this process whole.
pub(crate) fn replace(replacement: &Replacement<'_>) -> Fault {
    let directory = match Directory::enter(replacement.working_directory) {
        Ok(directory) => directory,
        Err(error) => return Fault { step: Step::WorkingDirectory, index: 0, error },
    };
    let (moves, close) = arrange(replacement.descriptors);
    close_on_exec(&close);
    let mut places = Places::default();
    let fault = match places.fill(moves) {
        Ok(()) => limited(replacement),
        Err(fault) => fault,
    };
    places.restore();
    directory.leave();
    fault
}

/// Executes the program within its limits. A hard limit that was lowered stays so if that fails.
fn limited(replacement: &Replacement<'_>) -> Fault {
    let mut before = Vec::with_capacity(replacement.limits.len());
    let mut fault = None;
    for (index, limit) in replacement.limits.iter().enumerate() {
        match change_limit(limit) {
            Ok(old) => before.push(old),
            Err(error) => {
                fault = Some(Fault { step: Step::Limit, index, error });
                break;
            }
        }
    }
    let fault = fault.unwrap_or_else(|| Fault { step: Step::Exec, index: 0, error: execute(replacement) });
    before.iter().rev().for_each(|limit| drop(change_limit(limit)));
    fault
}

/// Sets a limit of this process; yields what it was.
fn change_limit(limit: &RawLimit) -> io::Result<RawLimit> {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain calls that read and write the structures given.
    check(unsafe { libc::getrlimit(limit.resource, &raw mut old) })?;
    let new = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
    // SAFETY: as above.
    check(unsafe { libc::setrlimit(limit.resource, &raw const new) })?;
    Ok(RawLimit { resource: limit.resource, soft: old.rlim_cur, hard: old.rlim_max })
}

fn execute(replacement: &Replacement<'_>) -> io::Error {
    let argv = pointers(replacement.argv.iter().map(CString::as_c_str));
    let envp = pointers(replacement.environment.iter().copied());
    let before = signal::ignored_signals();
    let changed = SignalSet(before.0 ^ replacement.ignored.0);
    signal::set_dispositions(changed, replacement.ignored);
    // SAFETY: plain calls that cannot fail.
    let creation = replacement.umask.map(|mask| unsafe { libc::umask(mask) });
    let mask = signal::set_mask(SignalSet::EMPTY);
    // SAFETY: path and arrays are NUL-terminated and outlive the call.
    unsafe { libc::execve(replacement.path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    let error = io::Error::last_os_error();
    signal::set_mask(mask);
    if let Some(creation) = creation {
        // SAFETY: as above.
        unsafe { libc::umask(creation) };
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

/// The working directory to go back to.
struct Directory(Option<RawFd>);

impl Directory {
    fn enter(directory: Option<&CStr>) -> io::Result<Directory> {
        let Some(directory) = directory else { return Ok(Directory(None)) };
        // SAFETY: constant and NUL-terminated paths.
        let back = unsafe { libc::open(c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        // SAFETY: a NUL-terminated path.
        if unsafe { libc::chdir(directory.as_ptr()) } < 0 {
            let error = io::Error::last_os_error();
            close(back);
            return Err(error);
        }
        Ok(Directory(Some(back)))
    }

    fn leave(self) {
        if let Some(back) = self.0 {
            // SAFETY: a descriptor that this value owns.
            unsafe { libc::fchdir(back) };
            close(back);
        }
    }
}

/// The descriptors whose places were taken, each with a copy of what was there.
#[derive(Default)]
struct Places {
    saved: Vec<(RawFd, Option<RawFd>)>,
    lifted: Vec<RawFd>,
}

impl Places {
    fn fill(&mut self, mut moves: Vec<Move>) -> Result<(), Fault> {
        let floor = moves.iter().map(|entry| entry.to).max().unwrap_or(2).max(2) + 1;
        for (index, entry) in moves.iter_mut().enumerate().filter(|(_, entry)| entry.lift) {
            entry.from = duplicate(entry.from, floor).map_err(|error| descriptor_fault(index, error))?;
            self.lifted.push(entry.from);
        }
        for (index, entry) in moves.iter().enumerate() {
            if entry.from != entry.to {
                self.saved.push((entry.to, duplicate(entry.to, floor).ok()));
            }
            put(entry.from, entry.to).map_err(|error| descriptor_fault(index, error))?;
        }
        Ok(())
    }

    fn restore(self) {
        for (place, saved) in self.saved {
            match saved {
                Some(saved) => {
                    let _ = put(saved, place);
                    close(saved);
                }
                None => close(place),
            }
        }
        self.lifted.into_iter().for_each(close);
    }
}

fn descriptor_fault(index: usize, error: io::Error) -> Fault {
    Fault { step: Step::Descriptor, index, error }
}

fn duplicate(number: RawFd, floor: RawFd) -> io::Result<RawFd> {
    // SAFETY: a plain call.
    check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, floor) })
}

/// Puts a descriptor into a place where it survives an exec.
fn put(from: RawFd, to: RawFd) -> io::Result<RawFd> {
    // SAFETY: plain calls; the numbers were given by the owner of both.
    check(unsafe { if from == to { libc::fcntl(to, libc::F_SETFD, 0) } else { libc::dup2(from, to) } })
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn close(number: RawFd) {
    // SAFETY: only numbers that this module opened or was told to empty are passed.
    unsafe { libc::close(number) };
}
