//! Builder of a job.

use std::sync::Arc;

use crate::command::Command;
use crate::error::Error;
use crate::host::Host;
use crate::job::in_process::template_command;
use crate::job::{InProcessJob, InProcessWork, Job, SupervisionOptions};
use crate::outcome::JobOutcome;
use crate::scope::Scope;

/// A command and the options for its supervision.
#[must_use = "a task does nothing until it is started or run"]
#[derive(Debug)]
pub struct Task {
    pub(super) command: Command,
    pub(super) work: Option<Arc<dyn InProcessWork>>,
    pub(super) within: Option<Scope>,
    pub(super) options: SupervisionOptions,
}

impl Task {
    /// Makes a task for a command, with the default options: no input, both streams captured, no deadline.
    pub fn new(command: Command) -> Task {
        Task { command, work: None, within: None, options: SupervisionOptions::default() }
    }

    /// Makes a task whose foreground is work of the calling process. Start it with [`Task::start_in_process`].
    pub fn in_process(work: Arc<dyn InProcessWork>) -> Task {
        Task { work: Some(work), ..Task::new(template_command()) }
    }

    crate::supervision_setters!(options);

    /// Makes the job's processes members of an existing scope as well.
    pub fn within(mut self, scope: &Scope) -> Task {
        self.within = Some(scope.clone());
        self
    }

    /// Starts the program.
    ///
    /// # Errors
    /// Returns the reason if the program cannot be started.
    pub fn start(self, host: &Host) -> Result<Job, Error> {
        Job::start(self, host)
    }

    /// Starts a job whose foreground is work of the calling process, for a task made by [`Task::in_process`]. Starts no
    /// program: the returned [`InProcessJob`] has everything the caller needs to start programs that belong to the job.
    ///
    /// # Errors
    /// Fails if the system has no descriptors left.
    pub fn start_in_process(self, host: &Host) -> Result<(Job, InProcessJob), Error> {
        Job::start_in_process(self, host)
    }

    /// Starts the program and waits for its end.
    ///
    /// # Errors
    /// Returns the reason if the program cannot be started.
    pub fn run(self, host: &Host) -> Result<JobOutcome, Error> {
        Ok(self.start(host)?.wait())
    }
}
