//! A started process.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal};

use crate::command::ProcessGroup;
use crate::error::Error;
use crate::kill_retry::kill_child_until_gone;
use crate::ladder::KillDeadline;
use crate::reaper;
use crate::scope::Scope;
use crate::scope_kill::is_stuck;
use crate::status::{Exit, Usage};
use crate::sys::{self, HeldSignals, RawExit, Spawned};

/// A child process. Its pidfd becomes readable when the process ends, and never refers to another process.
///
/// Dropping a child that was not waited for [kills](Child::end) it, unless it is [detached](Child::detach) first.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    group: Option<i32>,
    /// Empty until it is needed, if the command asked for that.
    pidfd: OnceLock<OwnedFd>,
    is_reaped: bool,
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
        let pidfd = spawned.pidfd.map(OnceLock::from).unwrap_or_default();
        Child { pid: spawned.pid, group, pidfd, is_reaped: false, scope }
    }

    /// Forks a child that runs `work` and exits with the status that it returns. The child keeps only the descriptors in
    /// `kept`. Signals are blocked until `work` calls [`unblock_signals`](ForkedChild::unblock_signals). Returns `None` if
    /// this process has other threads, because the child would not have them.
    ///
    /// Only for a plain shell, whose background work must outlive it.
    ///
    /// # Errors
    /// Fails if the system call fails.
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
            // Parent and child both set the group, so that it exists whichever of them runs first.
            let _ = rustix::process::setpgid(Some(pid), Some(pid));
        }
        let group = if own { ProcessGroup::Own } else { ProcessGroup::Inherit };
        Ok(spawned.map(|spawned| Child::new(spawned, group, None)))
    }

    /// Whether [`Child::fork`] is possible: this process has a single thread.
    pub fn can_fork() -> bool {
        sys::is_single_threaded()
    }

    /// Returns the pid.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns its process group, unless it inherited that of this process.
    pub fn group(&self) -> Option<i32> {
        self.group
    }

    /// Returns the pidfd, which becomes readable when the process ends; `None` after it was reaped. If the pidfd was to be
    /// opened [on demand](crate::Command::pidfd_on_demand), this opens it, and returns `None` if no descriptor is left:
    /// [`wait`](Child::wait) works then.
    pub fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        if self.is_reaped {
            return None;
        }
        if self.pidfd.get().is_none() {
            sys::child_state(self.pid)?;
            let _ = self.pidfd.set(sys::open_pidfd(self.pid).ok()?);
        }
        self.pidfd.get().map(OwnedFd::as_fd)
    }

    /// Waits until the process ends, and reaps it.
    ///
    /// # Errors
    /// Fails if the process was reaped already.
    pub fn wait(&mut self) -> Result<(Exit, Usage), Error> {
        match self.collect(true)? {
            Some(result) => Ok(result),
            None => Err(already_reaped()),
        }
    }

    /// Whether the process cannot be killed: it belongs to another user, is frozen, or is in uninterruptible sleep.
    pub fn is_stuck(&self) -> bool {
        !self.is_reaped && is_stuck(self.pid)
    }

    /// Reaps the process if it has ended. Returns `None` if it is still running.
    ///
    /// # Errors
    /// Fails if the process was reaped already.
    pub fn try_wait(&mut self) -> Result<Option<(Exit, Usage)>, Error> {
        self.collect(false)
    }

    /// Sends a signal. Has no effect if the process has ended.
    ///
    /// # Errors
    /// Fails if the signal number is invalid or the system call fails.
    pub fn signal(&self, signal: i32) -> Result<(), Error> {
        if self.is_reaped {
            return Ok(());
        }
        let signal = Signal::from_named_raw(signal)
            .ok_or_else(|| Error::system("send the signal", rustix::io::Errno::INVAL))?;
        match self.send(signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(Error::system("send the signal", error)),
        }
    }

    /// Sends a signal to the process, which is not reaped. As long as it is a child of this process, which a [copy](Child::fork)
    /// of its parent is not, its pid cannot have been reused.
    fn send(&self, signal: Signal) -> rustix::io::Result<()> {
        if let Some(pidfd) = self.pidfd.get() {
            return pidfd_send_signal(pidfd, signal);
        }
        match (pid(self.pid), sys::child_state(self.pid)) {
            (Some(pid), Some(_)) => kill_process(pid, signal),
            _ => Err(Errno::SRCH),
        }
    }

    /// Detaches the process, so that it is neither killed nor reaped. Returns its pid.
    pub fn detach(mut self) -> i32 {
        self.release();
        self.pid
    }

    /// Removes the pid from all tables, because it may be reused.
    fn release(&mut self) {
        self.is_reaped = true;
        self.pidfd.take();
        reaper::release(self.pid);
        if let Some(scope) = self.scope.take() {
            scope.forget(self.pid);
        }
    }

    fn collect(&mut self, block: bool) -> Result<Option<(Exit, Usage)>, Error> {
        if self.is_reaped {
            return Err(already_reaped());
        }
        let raw = match self.pidfd.get() {
            Some(pidfd) => sys::wait_pidfd(pidfd.as_fd(), block),
            None => sys::wait_pid(self.pid, block),
        };
        let raw = raw.map_err(|error| Error::system("wait for a process", error))?;
        Ok(raw.map(|raw: RawExit| {
            let (exit, usage) = (Exit::from_raw(&raw), Usage::from_raw(&raw));
            self.scope.iter().for_each(|scope| scope.note_exit(exit, usage));
            self.release();
            (exit, usage)
        }))
    }
}

/// The context of work in a [forked](Child::fork) child.
#[derive(Debug)]
pub struct ForkedChild {
    held: Option<HeldSignals>,
}

impl ForkedChild {
    /// Unblocks signals.
    pub fn unblock_signals(&mut self) {
        self.held = None;
    }

    /// Closes all descriptors except those in `kept`, which must be all that the work still uses. Descriptors copied from the
    /// parent cannot be closed in another way.
    pub fn keep_only(&self, kept: &[RawFd]) {
        sys::close_others(kept);
    }
}

impl Child {
    /// Kills the process, if it is running, reaps it, and returns its status. If it does not die, returns `None`, and a
    /// background thread tries again.
    pub fn end(mut self) -> Option<(Exit, Usage)> {
        self.kill_and_reap(KillDeadline::short())
    }

    /// Like [`end`](Child::end), but does not wait for a process that does not die at once.
    pub(crate) fn give_up(mut self) -> Option<(Exit, Usage)> {
        self.kill_and_reap(KillDeadline::passed())
    }

    fn kill_and_reap(&mut self, deadline: KillDeadline) -> Option<(Exit, Usage)> {
        if self.is_reaped {
            return None;
        }
        let refused = self.send(Signal::KILL) == Err(Errno::PERM);
        let deadline = if refused { KillDeadline::passed() } else { deadline };
        loop {
            match self.collect(false) {
                Ok(None) => {}
                ended => return ended.ok().flatten(),
            }
            let _ = self.pidfd();
            if deadline.is_over(Instant::now(), || is_stuck(self.pid)) {
                let (pidfd, scope) = (self.pidfd.take(), self.scope.take());
                self.is_reaped = true;
                // Without a free descriptor for the pidfd, only the pending `SIGKILL` is left.
                if let Some(pidfd) = pidfd {
                    kill_child_until_gone(self.pid, pidfd, scope);
                }
                return None;
            }
            let wait = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let mut ended = self.pidfd.get().map(|pidfd| PollFd::new(pidfd, PollFlags::IN));
            let _ = poll(ended.as_mut_slice(), Some(&wait));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_and_reap(KillDeadline::short());
    }
}

fn already_reaped() -> Error {
    Error::system("wait for a process that was reaped already", rustix::io::Errno::CHILD)
}

/// Converts a pid for rustix. Returns `None` for numbers that are not pids.
pub(crate) fn pid(number: i32) -> Option<Pid> {
    Pid::from_raw(number).filter(|_| number > 0)
}
