//! A job whose foreground is work of this process instead of a process: an interpreter that starts programs.
//!
//! It is supervised like any other. The work gets the job's descriptors and starts its programs in the job's scope; when its
//! time is up or it is cancelled, it goes down the same ladder as they do: it is asked to end, and stopped when its grace is
//! over.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, eventfd};

use crate::cancel::notify;
use crate::child::Child;
use crate::command::{Command, DescriptorSource, ProcessGroup};
use crate::error::Error;
use crate::scope::Scope;
use crate::status::{Exit, Usage};

/// What a job does to the work of this process that belongs to it.
pub trait InProcessWork: fmt::Debug + Send + Sync {
    /// Asks it to end, as `SIGTERM` asks a program. From now on it starts no programs.
    fn request_end(&self);
    /// Lets it do what it has to do at its end, which may start programs: all others were asked to end.
    fn allow_cleanup(&self);
    /// Stops it: its grace is over.
    fn stop(&self);
    /// Whether some of it goes on beside the foreground, or after it.
    fn is_busy(&self) -> bool;
}

/// The work's side of a job that [`Task::start_in_process`](crate::Task::start_in_process) has made. The job's foreground ends when it is
/// [finished](InProcessJob::finish), or dropped.
#[derive(Debug)]
pub struct InProcessJob {
    pub(super) scope: Scope,
    /// What the job has wired up: a command that is never started.
    pub(super) wired: Command,
    pub(super) done: Arc<Done>,
}

impl InProcessJob {
    /// Where the programs of the work belong.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The file for one of the three standard descriptors; `None` if the work keeps its own.
    pub fn standard(&self, number: i32) -> Option<Arc<OwnedFd>> {
        match self.wired.wired(number)? {
            DescriptorSource::Open(file) => Some(file.clone()),
            DescriptorSource::Inherit(_) => None,
        }
    }

    /// The limits that each program of the work has to be started with.
    pub fn limits(&self) -> &[crate::ResourceLimit] {
        self.wired.limits()
    }

    /// Ends the foreground. Everything of the job's that it held must have been let go before.
    pub fn finish(self, exit: Exit) {
        self.done.complete(exit);
    }
}

impl Drop for InProcessJob {
    fn drop(&mut self) {
        self.done.complete(Exit::Signal(libc::SIGKILL));
    }
}

/// Whether the work has ended, and how.
#[derive(Debug)]
pub(super) struct Done {
    exit: OnceLock<Exit>,
    event: OwnedFd,
}

impl Done {
    pub(super) fn new() -> Result<Arc<Done>, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("make a wake-up descriptor", error))?;
        Ok(Arc::new(Done { exit: OnceLock::new(), event }))
    }

    fn complete(&self, exit: Exit) {
        if self.exit.set(exit).is_ok() {
            notify(&self.event);
        }
    }
}

/// What was asked for.
#[derive(Debug)]
pub(super) enum Foreground {
    /// A process, not reaped yet.
    Process(Child),
    /// Work of this process.
    Work(Arc<Done>),
    /// It has ended.
    Gone,
}

impl Foreground {
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Foreground::Gone)
    }

    /// A descriptor that is readable when it has ended.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Foreground::Process(child) => child.pidfd(),
            Foreground::Work(done) => Some(done.event.as_fd()),
            Foreground::Gone => None,
        }
    }

    /// How it ended; a process that has not is killed, and is reaped. `None` for one of these survivors.
    pub(super) fn reap(self, survivors: &[i32]) -> Option<(Exit, Usage)> {
        match self {
            Foreground::Process(child) if survivors.contains(&child.pid()) => child.give_up(),
            Foreground::Process(child) => child.end(),
            Foreground::Work(done) => Some((*done.exit.get()?, Usage::default())),
            Foreground::Gone => None,
        }
    }
}

/// A command that stands for the work, to be wired up.
pub(super) fn stand_in() -> Command {
    let mut command = Command::new("");
    command.group(ProcessGroup::Session);
    command
}
