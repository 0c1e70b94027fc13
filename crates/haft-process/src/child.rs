//! A started process.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, pidfd_send_signal};

use crate::command::ProcessGroup;
use crate::error::Error;
use crate::ladder::Patience;
use crate::pursuit::pursue_child;
use crate::reaper;
use crate::scope::Scope;
use crate::status::{Exit, Usage};
use crate::sweep::is_stuck;
use crate::sys::{self, HeldSignals, RawExit, Spawned};

/// A process this one has started. Its pidfd is readable when it has ended, and can never mean another process.
///
/// Dropping it before it was waited for [ends](Child::end) it; [`Child::detach`] lets it go.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    group: Option<i32>,
    pidfd: Option<OwnedFd>,
    scope: Option<Scope>,
}

impl Child {
    pub(crate) fn new(spawned: Spawned, group: ProcessGroup, scope: Option<Scope>) -> Child {
        if let Some(scope) = &scope {
            scope.add(spawned.pid);
        }
        let group = match group {
            ProcessGroup::Inherit => None,
            ProcessGroup::Own | ProcessGroup::Session => Some(spawned.pid),
            ProcessGroup::Join(group) => Some(group),
        };
        Child { pid: spawned.pid, group, pidfd: Some(spawned.pidfd), scope }
    }

    /// Starts a copy of this process that does some work and ends with the status it yields, in a group of its own if
    /// that is wanted. It has the descriptors of these numbers and no others, so the work must use none that it does not
    /// name; signals to it wait until the work [listens](ForkedChild::listen). `None` if this process has other threads, which the copy would lack.
    ///
    /// Everything else is started as a program. This is for a shell that is the whole of its process, so that what it runs
    /// itself in the background outlives it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn fork(
        group: ProcessGroup,
        kept: &[RawFd],
        work: impl FnOnce(ForkedChild) -> i32,
    ) -> Result<Option<Child>, Error> {
        let own = group == ProcessGroup::Own;
        let begin = |held| {
            if own {
                let _ = rustix::process::setpgid(None, None);
            }
            work(ForkedChild { held: Some(held) })
        };
        let spawned = sys::fork(kept, begin).map_err(|error| Error::system("fork", error))?;
        if let Some(pid) = spawned.as_ref().filter(|_| own).and_then(|spawned| Pid::from_raw(spawned.pid)) {
            // Both do it, so that the group is there for whoever goes on first.
            let _ = rustix::process::setpgid(Some(pid), Some(pid));
        }
        let group = if own { ProcessGroup::Own } else { ProcessGroup::Inherit };
        Ok(spawned.map(|spawned| Child::new(spawned, group, None)))
    }

    /// Whether [`Child::fork`] can be had.
    pub fn can_fork() -> bool {
        sys::is_single_threaded()
    }

    /// The process's number.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The process group it was put into, if it was.
    pub fn group(&self) -> Option<i32> {
        self.group
    }

    /// The descriptor that becomes readable when the process ends; `None` once it was waited for.
    pub fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Waits until it ends, and reaps it.
    ///
    /// # Errors
    /// If somebody else has reaped it.
    pub fn wait(&mut self) -> Result<(Exit, Usage), Error> {
        match self.collect(true)? {
            Some(result) => Ok(result),
            None => Err(gone()),
        }
    }

    /// Whether it cannot be killed: it is of another user, frozen, or in an uninterruptible sleep.
    pub fn is_stuck(&self) -> bool {
        self.pidfd.is_some() && is_stuck(self.pid)
    }

    /// Reaps it if it has ended; `None` says that it still runs.
    ///
    /// # Errors
    /// If somebody else has reaped it.
    pub fn try_wait(&mut self) -> Result<Option<(Exit, Usage)>, Error> {
        self.collect(false)
    }

    /// Sends it a signal; one that has ended is no error.
    ///
    /// # Errors
    /// If the system refuses, or there is no such signal.
    pub fn signal(&self, signal: i32) -> Result<(), Error> {
        let Some(pidfd) = &self.pidfd else { return Ok(()) };
        let signal = Signal::from_named_raw(signal)
            .ok_or_else(|| Error::system("send the signal", rustix::io::Errno::INVAL))?;
        match pidfd_send_signal(pidfd, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(Error::system("send the signal", error)),
        }
    }

    /// Lets the process go: it is neither killed nor reaped when this value is dropped. Returns its number.
    pub fn detach(mut self) -> i32 {
        self.release();
        self.pid
    }

    /// What was known of the process by its number is no longer true.
    fn release(&mut self) {
        self.pidfd = None;
        reaper::release(self.pid);
        if let Some(scope) = self.scope.take() {
            scope.forget(self.pid);
        }
    }

    fn collect(&mut self, block: bool) -> Result<Option<(Exit, Usage)>, Error> {
        let Some(pidfd) = &self.pidfd else { return Err(gone()) };
        let raw = sys::wait_pidfd(pidfd.as_fd(), block)
            .map_err(|error| Error::system("wait for a process", error))?;
        Ok(raw.map(|raw: RawExit| {
            let (exit, usage) = (Exit::from_raw(&raw), Usage::from_raw(&raw));
            self.scope.iter().for_each(|scope| scope.note_exit(exit, usage));
            self.release();
            (exit, usage)
        }))
    }
}

/// What the work of a [copy](Child::fork) of this process is given.
#[derive(Debug)]
pub struct ForkedChild {
    held: Option<HeldSignals>,
}

impl ForkedChild {
    /// Lets signals come.
    pub fn listen(&mut self) {
        self.held = None;
    }

    /// Closes all descriptors but these, which must be all that the work still uses. What the original holds, the copy
    /// cannot let go of in another way.
    pub fn keep_only(&self, kept: &[RawFd]) {
        sys::close_others(kept);
    }
}

impl Child {
    /// Kills it, if it was not waited for, and reaps it. One that does not die is left to a thread in the background, which
    /// tries again: nobody waits for a process that cannot be killed. Yields how it ended.
    pub fn end(mut self) -> Option<(Exit, Usage)> {
        self.kill_and_reap(Patience::short())
    }

    /// The same for one that was killed, and waited for, already.
    pub(crate) fn give_up(mut self) -> Option<(Exit, Usage)> {
        self.kill_and_reap(Patience::none())
    }

    fn kill_and_reap(&mut self, patience: Patience) -> Option<(Exit, Usage)> {
        let pidfd = self.pidfd.as_ref()?;
        let refused = pidfd_send_signal(pidfd, Signal::KILL) == Err(Errno::PERM);
        let patience = if refused { Patience::none() } else { patience };
        loop {
            match self.collect(false) {
                Ok(None) => {}
                ended => return ended.ok().flatten(),
            }
            if patience.is_over(Instant::now(), || is_stuck(self.pid)) {
                let (pidfd, scope) = (self.pidfd.take()?, self.scope.take());
                pursue_child(self.pid, pidfd, scope);
                return None;
            }
            let wait = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let _ = poll(&mut [PollFd::new(self.pidfd.as_ref()?, PollFlags::IN)], Some(&wait));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_and_reap(Patience::short());
    }
}

fn gone() -> Error {
    Error::system("wait for a process that was waited for already", rustix::io::Errno::CHILD)
}

/// A process number in the form that rustix wants; `None` for what cannot be one.
pub(crate) fn pid(number: i32) -> Option<Pid> {
    Pid::from_raw(number).filter(|_| number > 0)
}
