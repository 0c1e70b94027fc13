//! The result of a job.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::capture::render::VirtualTerminal;
use crate::capture::{Output, OutputSummary, OutputView};
use crate::enforce::{LimitKind, RunLimits};
use crate::job::JobHandle;
use crate::pty::TerminalSize;
use crate::secret::Redactor;
use crate::signal::signal_name;
use crate::status::{Exit, Usage, seconds};
use crate::survivors::Tree;

/// The status of a command that was ended because its time was up.
pub const TIMED_OUT: i32 = 124;
/// The status of a command that was cancelled.
pub const CANCELLED: i32 = 130;
/// The status of a run that was ended because it exceeded a limit: that of `SIGKILL`, as the kernel does it.
pub const LIMIT_EXCEEDED: i32 = 128 + libc::SIGKILL;

/// What became of a job.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobOutcome {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// How the process ended that was asked for.
    pub exit: Exit,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// Whether it was ended because somebody cancelled it.
    pub cancelled: bool,
    /// Whether one of its processes was blocked waiting for input when its time was up.
    pub needed_input: bool,
    /// From its start to its end.
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
    /// What it wrote.
    pub captured: Captured,
    /// The directory it ran in, where one was set.
    pub working_directory: Option<PathBuf>,
    /// What became of its processes.
    pub tree: Tree,
    /// Its limits: who enforced them, and whether they were reached.
    pub limits: RunLimits,
    /// What still runs, or still holds the output open, after the process that was asked for has ended.
    pub adopted: Option<JobHandle>,
    /// From the start of the job to this result.
    pub duration: Duration,
}

/// What a job's processes wrote.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// Standard output.
    pub stdout: Option<Output>,
    /// Standard error.
    pub stderr: Option<Output>,
    /// Both, in the order they were written: through one pipe, or on a terminal.
    pub output: Option<Output>,
    /// The terminal that `output` was sent to, if it was: its bytes are raw, with whatever moves the cursor.
    pub terminal: Option<TerminalSize>,
}

impl Captured {
    /// What a terminal shows of `output`, as text, under the name of the raw output.
    fn rendered(&self, budget: usize) -> Option<OutputSummary> {
        let (size, raw) = (self.terminal?, self.output.as_ref()?);
        let rendered = raw.rendered(VirtualTerminal::new(size.rows, size.columns)).ok()?;
        let mut summary = rendered.summary(&OutputView::HeadAndTail, budget).ok()?;
        summary.id = raw.id().clone();
        Some(summary)
    }

    /// The outputs as data, with so many bytes of each.
    pub fn show(&self, budget: usize) -> CapturedReport {
        let show = |output: &Option<Output>| output.as_ref()?.summary(&OutputView::HeadAndTail, budget).ok();
        CapturedReport {
            stdout: show(&self.stdout),
            stderr: show(&self.stderr),
            output: self.rendered(budget).or_else(|| show(&self.output)),
        }
    }

    /// All the outputs there are.
    pub fn all(&self) -> impl Iterator<Item = &Output> {
        [&self.stdout, &self.stderr, &self.output].into_iter().flatten()
    }
}

impl JobOutcome {
    /// The status a shell would show: 124 if the time was up, 130 if cancelled, else the process's own.
    pub fn code(&self) -> i32 {
        if self.timed_out {
            TIMED_OUT
        } else if self.cancelled {
            CANCELLED
        } else if self.limits.ended_by.is_some() {
            LIMIT_EXCEEDED
        } else {
            self.exit.code()
        }
    }

    /// The outcome in its JSON form, with so many bytes of each output.
    pub fn report(&self, budget: usize) -> JobOutcomeReport {
        let status = self.status();
        JobOutcomeReport {
            stages: vec![StageReport {
                argv: self.argv.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
                kind: "external",
                status: status.clone(),
                bytes_out: self
                    .captured
                    .stdout
                    .as_ref()
                    .or(self.captured.output.as_ref())
                    .map(Output::total_bytes),
                wall: self.wall,
                usage: Some(self.usage),
                pipeline: 0,
                closed_by: None,
                argv_truncated: false,
            }],
            status,
            needed_input: self.needed_input,
            shown: self.captured.show(budget),
            cwd: self.working_directory.clone(),
            jobs: self.adopted.iter().map(JobHandle::report).collect(),
            tree: self.tree.clone(),
            limits: self.limits,
            duration: self.duration,
        }
    }

    fn status(&self) -> StatusReport {
        let killed = self.limits.ended_by.map(|_| Exit::Signal(libc::SIGKILL));
        StatusReport {
            code: self.code(),
            timed_out: self.timed_out,
            cancelled: self.cancelled,
            limit: self.limits.hit(),
            ..StatusReport::from(killed.unwrap_or(self.exit))
        }
    }
}

/// An [`JobOutcome`] as data.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct JobOutcomeReport {
    /// How it ended.
    pub status: StatusReport,
    /// Every process of the pipeline: here the one.
    pub stages: Vec<StageReport>,
    /// Whether it was waiting for input when its time was up; only if it was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needed_input: bool,
    /// What it wrote.
    #[serde(flatten)]
    pub shown: CapturedReport,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// What still runs.
    pub jobs: Vec<RunningJobReport>,
    /// What became of the processes.
    pub tree: Tree,
    /// Its limits; only if there are any.
    #[serde(skip_serializing_if = "RunLimits::is_empty")]
    pub limits: RunLimits,
    /// From start to result, in seconds.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
}

impl JobOutcomeReport {
    /// Masks keys in the arguments.
    pub fn redact(&mut self, redactor: &Redactor) {
        self.stages.iter_mut().for_each(|stage| stage.redact(redactor));
    }
}

impl StageReport {
    /// Masks keys in the arguments.
    pub fn redact(&mut self, redactor: &Redactor) {
        self.argv.iter_mut().for_each(|word| redactor.redact(word));
    }
}

/// What a job's processes wrote, as data.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct CapturedReport {
    /// Standard output, if it was captured on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<OutputSummary>,
    /// Standard error, if it was captured on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<OutputSummary>,
    /// Both in true order, if they were merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSummary>,
}

/// How a command ended, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusReport {
    /// The status a shell would show.
    pub code: i32,
    /// The signal that killed it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The limit that ended it, or for which some of its processes were refused or killed; only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitKind>,
}

impl From<Exit> for StatusReport {
    fn from(exit: Exit) -> StatusReport {
        let signal = match exit {
            Exit::Signal(number) => {
                Some(signal_name(number).map_or(number.to_string(), |name| format!("SIG{name}")))
            }
            Exit::Code(_) => None,
        };
        StatusReport { code: exit.code(), signal, timed_out: false, cancelled: false, limit: None }
    }
}

/// A stage of a pipeline, as data.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Whether there were more of them than are kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub argv_truncated: bool,
    /// What kind of command it is.
    pub kind: &'static str,
    /// How it ended.
    pub status: StatusReport,
    /// What it wrote to its standard output, in bytes, where that was captured.
    pub bytes_out: Option<u64>,
    /// From its start to its end, in seconds.
    #[serde(serialize_with = "seconds")]
    pub wall: Duration,
    /// What it used, where the system tells.
    #[serde(flatten)]
    pub usage: Option<Usage>,
    /// Which pipeline of the script it belongs to, counted from 0.
    pub pipeline: usize,
    /// The stage of the same pipeline, counted from 0, whose end this one wrote to a closed pipe for, if it died of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<usize>,
}

/// A job that still runs, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunningJobReport {
    /// Its name.
    pub id: String,
    /// Its processes.
    pub pids: Vec<i32>,
}
