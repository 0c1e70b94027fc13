//! Jobs whose foreground is work of the calling process, such as an interpreter that starts programs.
//!
//! They are supervised like all other jobs. The work uses the job's descriptors and starts its programs in the job's scope.
//! At a timeout or cancellation it is asked to end, and stopped after the grace period, like a program.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, eventfd};

use crate::cancel::notify;
use crate::child::Child;
use crate::command::{Command, DescriptorSource, ProcessGroup};
use crate::error::Error;
use crate::limit::ResourceLimit;
use crate::scope::Scope;
use crate::status::{Exit, Usage};

/// Work of the calling process that a job ends like a program.
pub trait InProcessWork: fmt::Debug + Send + Sync {
    /// Asks the work to end, as `SIGTERM` asks a program. It must not start programs until
    /// [`allow_cleanup`](InProcessWork::allow_cleanup).
    fn request_end(&self);
    /// Lets the work clean up, which may start programs. Called after all programs were asked to end.
    fn allow_cleanup(&self);
    /// Stops the work. Called when the grace period is over.
    fn stop(&self);
    /// Whether parts of the work run in parallel to the foreground, or after it.
    fn is_busy(&self) -> bool;
    /// Returns the memory that the work uses, in bytes. It counts towards the job's memory limit.
    fn memory(&self) -> u64 {
        0
    }
    /// Receives the memory that the job's programs use, in bytes, each time it was measured.
    fn set_program_memory(&self, _bytes: u64) {}
}

/// The caller's side of a job that [`Task::start_in_process`](crate::Task::start_in_process) started. The job's foreground
/// ends with [`finish`](InProcessJob::finish), or when this value is dropped.
#[derive(Debug)]
pub struct InProcessJob {
    pub(super) scope: Scope,
    /// Holds the job's descriptors and limits. It is never started.
    pub(super) template: Command,
    pub(super) completion: Arc<WorkCompletion>,
}

impl InProcessJob {
    /// Returns the scope in which the work must start its programs.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the file for one of the three standard descriptors, or `None` if the work keeps its own.
    pub fn standard(&self, number: i32) -> Option<Arc<OwnedFd>> {
        match self.template.descriptor_source(number)? {
            DescriptorSource::Open(file) => Some(file.clone()),
            DescriptorSource::Inherit(_) => None,
        }
    }

    /// Returns the limits that each program of the work must be started with.
    pub fn limits(&self) -> &[ResourceLimit] {
        self.template.limits()
    }

    /// Ends the foreground. The caller must have closed all descriptors of the job before.
    pub fn finish(self, exit: Exit) {
        self.completion.complete(exit);
    }
}

impl Drop for InProcessJob {
    fn drop(&mut self) {
        self.completion.complete(Exit::Signal(libc::SIGKILL));
    }
}

/// The exit status of in-process work, and an eventfd that becomes readable when it is set.
#[derive(Debug)]
pub(super) struct WorkCompletion {
    exit: OnceLock<Exit>,
    event: OwnedFd,
}

impl WorkCompletion {
    pub(super) fn new() -> Result<Arc<WorkCompletion>, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("create an eventfd", error))?;
        Ok(Arc::new(WorkCompletion { exit: OnceLock::new(), event }))
    }

    fn complete(&self, exit: Exit) {
        if self.exit.set(exit).is_ok() {
            notify(&self.event);
        }
    }
}

/// The process or work that a job was started for.
#[derive(Debug)]
pub(super) enum JobForeground {
    /// A process that is not reaped yet.
    Process(Child),
    /// Work of the calling process.
    InProcess(Arc<WorkCompletion>),
    /// It has ended and was reaped.
    Gone,
}

impl JobForeground {
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, JobForeground::Gone)
    }

    /// Returns a descriptor that becomes readable when the foreground ends.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            JobForeground::Process(child) => child.pidfd(),
            JobForeground::InProcess(completion) => Some(completion.event.as_fd()),
            JobForeground::Gone => None,
        }
    }

    /// Kills a process that still runs, reaps it and returns its status. Returns `None` for a process in `survivors`, which
    /// cannot be killed.
    pub(super) fn reap(self, survivors: &[i32]) -> Option<(Exit, Usage)> {
        match self {
            JobForeground::Process(child) if survivors.contains(&child.pid()) => child.give_up(),
            JobForeground::Process(child) => child.end(),
            JobForeground::InProcess(completion) => Some((*completion.exit.get()?, Usage::default())),
            JobForeground::Gone => None,
        }
    }
}

/// Makes a command that collects the descriptors and limits of in-process work.
pub(super) fn template_command() -> Command {
    let mut command = Command::new("");
    command.group(ProcessGroup::Session);
    command
}
