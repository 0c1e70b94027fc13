//! The supervised run that a session belongs to: its processes and threads, and the record of its stages.
//!
//! The module `run` starts runs and makes their results of this.

mod leftovers;
mod observer;
mod part;
mod stage;
mod stage_recorder;
mod stopping;

use std::collections::VecDeque;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use haft_process::{Captured, Command, InProcessWork as _, ProcessGroup, ResourceLimit, Scope};

use crate::io::wait_readable;

pub use leftovers::EndedJobs;
pub(crate) use leftovers::Leftovers;
pub use observer::RunObserver;
pub use part::RunPart;
pub use stage::{Stage, StageKind};
pub(crate) use stage_recorder::StageRecorder;
pub(crate) use stopping::Stopping;

/// So many stages are kept, the latest; a script may run any number.
const STAGES: usize = 256;

/// The run that a session and its subshells are in.
#[derive(Debug)]
pub(crate) struct Supervision {
    pub(crate) scope: Scope,
    pub(crate) limits: Vec<ResourceLimit>,
    pub(crate) group: ProcessGroup,
    /// How the work of this process that belongs to it is ended.
    pub(crate) stopping: Arc<Stopping>,
    /// The grace period of its programs.
    pub(crate) grace: Duration,
    pub(crate) captured: Captured,
    /// The working directory that it began in.
    pub(crate) started_in: PathBuf,
    /// The pipe that is its standard output, if that is captured. It is not held open by this.
    pub(crate) stdout: Weak<OwnedFd>,
    /// The terminal that the programs are on, if the run has one.
    pub(crate) terminal: Option<Arc<OwnedFd>>,
    pub(crate) record: Arc<Mutex<Record>>,
    pub(crate) observer: Option<Arc<dyn RunObserver>>,
    /// Cancels the whole run.
    pub(crate) job: haft_process::JobController,
}

/// How long the end of a run that has reached a limit may take to begin.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Records for the outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) stages: VecDeque<Stage>,
    /// How many stages are no longer among them.
    pub(crate) omitted: usize,
    /// How many pipelines there were.
    pub(crate) pipelines: usize,
    pub(crate) data: Option<serde_json::Value>,
}

impl Supervision {
    /// Makes a program one of the run's.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.scope(&self.scope).group(self.group);
        if let Some(terminal) = &self.terminal {
            command.controlling_terminal(terminal.as_raw_fd());
        }
        for limit in &self.limits {
            command.limit(*limit);
        }
    }

    /// Sends a signal to the script.
    pub(crate) fn signal_script(&self, signal: i32) {
        self.stopping.outermost().main.signal(signal);
    }

    /// Sends a signal to all its programs and to all subshells of the script that run on threads; not to the script.
    pub(crate) fn signal_all(&self, signal: i32) {
        self.scope.signal(signal);
        self.stopping.signal(signal);
    }

    /// Whether it is a part that can be ended on its own.
    pub(crate) fn is_part(&self) -> bool {
        self.stopping.is_part()
    }

    /// Ends everything because a limit was reached, and returns when that has begun. The first time, traps run as
    /// after a cancellation; after that nothing runs any more.
    pub(crate) fn end_for_limit(&self, first: bool) {
        if !first {
            return self.stopping.outermost().stop();
        }
        self.job.cancel();
        let _ = wait_readable(&[], Some(END_TIMEOUT), &self.stopping.outermost().main.cancel);
    }

    /// A part of it that can be ended on its own.
    fn part(&self) -> Supervision {
        Supervision {
            scope: self.scope.part(),
            limits: self.limits.clone(),
            group: self.group,
            stopping: self.stopping.part(),
            grace: self.grace,
            captured: self.captured.clone(),
            started_in: self.started_in.clone(),
            stdout: self.stdout.clone(),
            terminal: self.terminal.clone(),
            record: self.record.clone(),
            observer: self.observer.clone(),
            job: self.job.clone(),
        }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// The stages of all pipelines after the first ones, as far as they are kept.
    pub(crate) fn stages_after(&self, pipelines: usize) -> Vec<Stage> {
        self.stages.iter().skip_while(|stage| stage.pipeline < pipelines).cloned().collect()
    }

    /// Adds the stages of a pipeline.
    pub(crate) fn add(&mut self, stages: Vec<Stage>) {
        let pipeline = self.pipelines;
        self.pipelines += 1;
        for stage in stages {
            if self.stages.len() == STAGES {
                self.stages.pop_front();
                self.omitted += 1;
            }
            self.stages.push_back(Stage { pipeline, ..stage });
        }
    }
}
