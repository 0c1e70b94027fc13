//! The result of a run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use haft_process::capture::{Output, OutputId, OutputView};
use haft_process::{
    CANCELLED, Captured, CapturedReport, Exit, Redactor, RunLimits, StageReport, StatusReport, TIMED_OUT,
    Tree, Usage, seconds,
};
use haft_text::Bytes;
use serde::Serialize;

use crate::memory::LimitHit;

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

/// A stage of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// Which pipeline of the script it belongs to, counted from 0.
    pub pipeline: usize,
    /// The command and its arguments, or the text of a compound command.
    pub argv: Vec<Bytes>,
    /// Whether `argv` is truncated because it was very long.
    pub argv_truncated: bool,
    /// The kind of command.
    pub kind: StageKind,
    /// How it ended.
    pub exit: Exit,
    /// The bytes that it wrote to standard output, if that is known.
    pub bytes_out: Option<u64>,
    /// The time from its start to its end.
    pub wall: Duration,
    /// Its resource usage, if it was a program.
    pub usage: Option<Usage>,
    /// The stage, counted from 0, that closed the pipe, if this one ended by `SIGPIPE`.
    pub closed_by: Option<usize>,
}

/// What kind of command a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StageKind {
    /// Only assignments or redirections.
    Assignment,
    /// A simple command that ended before its name was resolved, because its expansion failed or was cancelled.
    Unexpanded,
    /// A compound command: a loop, a group, a subshell.
    Compound,
    /// A function.
    Function,
    /// A builtin of the shell.
    Builtin,
    /// An added command.
    Command,
    /// A script that runs in this process.
    Script,
    /// A program.
    External,
    /// A tool of the backend.
    Tool,
}

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

impl Status {
    /// The exit status that a shell would show: 124 after a timeout, 130 if cancelled, 128 plus the number of a signal, 137 if
    /// the memory limit was reached.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Status::Code(code) => code,
            Status::Signal(signal) => 128 + signal,
            Status::TimedOut => TIMED_OUT,
            Status::Cancelled => CANCELLED,
            Status::LimitReached(hit) => hit.code(),
        }
    }
}

impl StageKind {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StageKind::Assignment => "assignment",
            StageKind::Unexpanded => "unexpanded",
            StageKind::Compound => "compound",
            StageKind::Function => "function",
            StageKind::Builtin => "builtin",
            StageKind::Command => "command",
            StageKind::Script => "script",
            StageKind::External => "external",
            StageKind::Tool => "tool",
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

impl Stage {
    fn report(&self) -> StageReport {
        StageReport {
            argv: self.argv.iter().map(|word| word.lossy().into_owned()).collect(),
            argv_truncated: self.argv_truncated,
            kind: self.kind.name(),
            status: StatusReport::from(self.exit),
            bytes_out: self.bytes_out,
            wall: self.wall,
            usage: self.usage,
            pipeline: self.pipeline,
            closed_by: self.closed_by,
        }
    }
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
