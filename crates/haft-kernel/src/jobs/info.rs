//! A job as the result of a run shows it.

use haft_process::Captured;
use haft_process::capture::OutputId;
use haft_text::Bytes;
use serde::Serialize;

/// A job of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JobInfo {
    /// Its identifier, valid as long as the session.
    pub id: String,
    /// Its number, as in `%1`. None for processes that have left their job.
    pub number: Option<u32>,
    /// Its exit status, if it has ended.
    pub status: Option<i32>,
    /// Its source text, if it is known.
    pub command: Bytes,
    /// Its processes. Work on threads of this process has none.
    pub pids: Vec<i32>,
    /// The output of the run it was started in, where its output goes unless it is redirected.
    pub captured: Captured,
}

impl JobInfo {
    /// Whether it was started in the run with this identifier.
    pub(crate) fn belongs_to(&self, run: &str) -> bool {
        self.id.strip_prefix(run).is_some_and(|rest| rest.is_empty() || rest.starts_with('%'))
    }

    /// The job as data.
    #[must_use]
    pub fn report(&self) -> JobReport {
        JobReport {
            id: self.id.clone(),
            number: self.number,
            status: self.status,
            command: self.command.lossy().into_owned(),
            pids: self.pids.clone(),
            outputs: self.captured.all().map(|output| output.id().clone()).collect(),
        }
    }
}

/// A job of a session, as data.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct JobReport {
    /// Its identifier.
    pub id: String,
    /// Its number in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Its exit status, if it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// Its source text.
    pub command: String,
    /// Its processes.
    pub pids: Vec<i32>,
    /// The identifiers of the outputs it writes to.
    pub outputs: Vec<OutputId>,
}
