//! What a session knows of the run that it is in.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_process::{CancelToken, Captured, Command, Group, Limit, Scope};

use super::outcome::Stage;

/// So many stages are kept, the latest; a script may run any number.
const STAGES: usize = 256;

/// The run that a session and its subshells are in.
#[derive(Debug)]
pub(crate) struct Supervision {
    pub(crate) scope: Scope,
    pub(crate) limits: Vec<Limit>,
    pub(crate) group: Group,
    /// Cancelled when the whole run is to stop, and the ladder is on its way.
    pub(crate) stop: CancelToken,
    /// What its programs are given to end by themselves.
    pub(crate) grace: Duration,
    pub(crate) captured: Captured,
    /// The terminal that the programs are on, if the run has one.
    pub(crate) terminal: Option<Arc<OwnedFd>>,
    pub(crate) record: Mutex<Record>,
}

/// What is noted for the outcome.
#[derive(Debug, Default)]
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

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
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
