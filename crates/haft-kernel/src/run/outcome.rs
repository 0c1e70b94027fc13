//! The result of a run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use haft_process::capture::{Output, OutputView};
use haft_process::{
    CANCELLED, Captured, CapturedReport, Exit, Redactor, RunLimits, StageReport, StatusReport, TIMED_OUT,
    Tree, seconds,
};
use serde::Serialize;

use crate::flow::SIGNAL_BASE;
use crate::jobs::{JobInfo, JobReport};
use crate::memory::LimitHit;
use crate::supervision::Stage;

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The identifier of the run, which its processes have in their environment.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// The stages of the script's own pipelines, in order; only the latest if there are very many.
    pub stages: Vec<Stage>,
    /// How many earlier stages are left out.
    pub stages_omitted: usize,
    /// The output.
    pub captured: Captured,
    /// The typed result of the last pipeline, if one of its commands has set one.
    pub data: Option<serde_json::Value>,
    /// The working directory at the start.
    pub started_in: PathBuf,
    /// The working directory after the run.
    pub cwd: PathBuf,
    /// Whether it was waiting for input when its time was up.
    pub needed_input: bool,
    /// The jobs of the session that still run.
    pub jobs: Vec<JobInfo>,
    /// Its processes: how many were started, ended and left.
    pub tree: Tree,
    /// Its limits: how they were enforced, and whether they were reached.
    pub limits: RunLimits,
    /// The time from start to result.
    pub duration: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Code(i32),
    /// It ended as if killed by this signal.
    Signal(i32),
    /// The timeout has passed.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// It reached a limit.
    LimitReached(LimitHit),
}

impl Status {
    /// The exit status that a shell would show: 124 after a timeout, 130 if cancelled, 128 plus the number of a signal, 137 if
    /// the memory limit was reached.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Status::Code(code) => code,
            Status::Signal(signal) => SIGNAL_BASE + signal,
            Status::TimedOut => TIMED_OUT,
            Status::Cancelled => CANCELLED,
            Status::LimitReached(hit) => hit.code(),
        }
    }
}

impl Outcome {
    /// The exit status that a shell would show.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.status.code()
    }

    /// The captured standard output, or both streams if they were merged.
    #[must_use]
    pub fn stdout(&self) -> Vec<u8> {
        whole(self.captured.stdout.as_ref().or(self.captured.output.as_ref()))
    }

    /// The captured standard error.
    #[must_use]
    pub fn stderr(&self) -> Vec<u8> {
        whole(self.captured.stderr.as_ref())
    }

    /// The outcome in its JSON form, with at most `budget` bytes of each output.
    #[must_use]
    pub fn report(&self, budget: usize) -> Report {
        Report {
            id: self.id.clone(),
            status: self.status_report(),
            stages: self.stages.iter().map(Stage::report).collect(),
            stages_omitted: self.stages_omitted,
            needed_input: self.needed_input,
            shown: self.captured.report(budget),
            data: self.data.clone(),
            started_in: self.started_in.to_string_lossy().into_owned(),
            cwd: self.cwd.to_string_lossy().into_owned(),
            jobs: self.jobs.iter().map(JobInfo::report).collect(),
            tree: self.tree.clone(),
            limits: self.limits,
            duration: self.duration,
        }
    }

    fn status_report(&self) -> StatusReport {
        let status = self.status.report();
        StatusReport { limit: status.limit.or(self.limits.hit()), ..status }
    }
}

fn whole(output: Option<&Output>) -> Vec<u8> {
    let slice = output.and_then(|output| output.slice(&OutputView::HeadAndTail, usize::MAX >> 1).ok());
    slice.map(|slice| slice.to_bytes()).unwrap_or_default()
}

impl Status {
    /// The limit that ended the run, if one did.
    #[must_use]
    pub fn limit_hit(self) -> Option<LimitHit> {
        match self {
            Status::LimitReached(hit) => Some(hit),
            _ => None,
        }
    }

    fn report(self) -> StatusReport {
        let exit = match self {
            Status::Signal(signal) => Exit::Signal(signal),
            other => Exit::Code(other.code()),
        };
        StatusReport {
            timed_out: self == Status::TimedOut,
            cancelled: self == Status::Cancelled,
            limit: self.limit_hit().map(LimitHit::kind),
            ..StatusReport::from(exit)
        }
    }
}

/// An [`Outcome`] as data.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// The name of the run.
    pub id: String,
    /// How it ended.
    pub status: StatusReport,
    /// The stages of the script's own pipelines.
    pub stages: Vec<StageReport>,
    /// How many earlier stages are left out; omitted if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub stages_omitted: usize,
    /// Whether it was waiting for input when its time was up; omitted if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needed_input: bool,
    /// The output.
    #[serde(flatten)]
    pub shown: CapturedReport,
    /// The typed result, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// The working directory at the start.
    pub started_in: String,
    /// The working directory after the run.
    pub cwd: String,
    /// The jobs that still run.
    pub jobs: Vec<JobReport>,
    /// Its processes: how many were started, ended and left.
    pub tree: Tree,
    /// Its limits; omitted if there are none.
    #[serde(skip_serializing_if = "RunLimits::is_empty")]
    pub limits: RunLimits,
    /// The time from start to result, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub duration: Duration,
}

impl Report {
    /// Masks keys in the arguments of stages and the commands of jobs.
    pub fn redact(&mut self, redactor: &Redactor) {
        self.stages.iter_mut().for_each(|stage| stage.redact(redactor));
        self.jobs.iter_mut().for_each(|job| redactor.redact(&mut job.command));
    }
}

/// A line with status, time and processes, a line for each limit that was reached, and the outputs.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} after {:.3} s; {}", self.status, self.duration.as_secs_f64(), self.tree)?;
        for message in self.limits.messages() {
            writeln!(formatter, "{message}")?;
        }
        self.shown.fmt(formatter)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
