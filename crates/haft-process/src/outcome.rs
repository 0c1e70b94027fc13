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
use crate::status::{Exit, SIGNAL_STATUS_BASE, Usage, seconds};
use crate::survivors::Tree;

/// Exit status after a timeout.
pub const TIMED_OUT: i32 = 124;
/// Exit status after a cancellation.
pub const CANCELLED: i32 = 130;
/// Exit status of a run that was ended because it exceeded a limit: that of `SIGKILL`, as if the kernel had killed it.
pub const LIMIT_EXCEEDED: i32 = SIGNAL_STATUS_BASE + libc::SIGKILL;

/// The result of a job.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobOutcome {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The exit status of the foreground process.
    pub exit: Exit,
    /// Whether the deadline ended the job.
    pub timed_out: bool,
    /// Whether a cancellation ended the job.
    pub cancelled: bool,
    /// Whether a process of the job was waiting for input at the deadline.
    pub needed_input: bool,
    /// Time from the start of the foreground process to its end.
    pub wall: Duration,
    /// Resource usage of the foreground process.
    pub usage: Usage,
    /// The captured output.
    pub captured: Captured,
    /// The working directory, if the command set one.
    pub working_directory: Option<PathBuf>,
    /// Processes started, killed and left.
    pub tree: Tree,
    /// The limits, how they were enforced, and whether they were reached.
    pub limits: RunLimits,
    /// The job of processes that still run, or still have the output open, after the foreground process ended.
    pub adopted: Option<JobHandle>,
    /// Time from the start of the job to this result.
    pub duration: Duration,
}

/// The captured outputs of a job.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// Standard output, if it was captured separately.
    pub stdout: Option<Output>,
    /// Standard error, if it was captured separately.
    pub stderr: Option<Output>,
    /// Both streams in the order in which they were written, through one pipe or on a terminal.
    pub output: Option<Output>,
    /// Bytes that background jobs of a script's substitution wrote after the substitution had ended. Only in-process work has
    /// this output.
    pub late: Option<Output>,
    /// The size of the terminal, if the job had one. `output` contains raw bytes with control sequences then.
    pub terminal: Option<TerminalSize>,
}

impl Captured {
    /// Whether an output of the program is captured.
    pub fn is_captured(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some() || self.output.is_some()
    }

    /// Returns the text that a terminal shows for `output`, with the id of the raw output.
    fn rendered(&self, budget: usize) -> Option<OutputSummary> {
        let (size, raw) = (self.terminal?, self.output.as_ref()?);
        let rendered = raw.rendered(VirtualTerminal::new(size.rows, size.columns)).ok()?;
        let mut summary = rendered.summary(&OutputView::HeadAndTail, budget).ok()?;
        summary.id = raw.id().clone();
        Some(summary)
    }

    /// Returns the outputs in their JSON form, with at most `budget` bytes of each.
    pub fn report(&self, budget: usize) -> CapturedReport {
        let summary =
            |output: &Option<Output>| output.as_ref()?.summary(&OutputView::HeadAndTail, budget).ok();
        CapturedReport {
            stdout: summary(&self.stdout),
            stderr: summary(&self.stderr),
            output: self.rendered(budget).or_else(|| summary(&self.output)),
            late: summary(&self.late_output().cloned()),
        }
    }

    /// Returns all captured outputs.
    pub fn all(&self) -> impl Iterator<Item = &Output> {
        [&self.stdout, &self.stderr, &self.output].into_iter().flatten().chain(self.late_output())
    }

    /// Returns the late output, unless it is empty.
    pub fn late_output(&self) -> Option<&Output> {
        self.late.as_ref().filter(|output| output.total_bytes() > 0)
    }
}

impl JobOutcome {
    /// Returns the status that a shell would show: 124 after a timeout, 130 after a cancellation, 137 if a limit ended the job,
    /// else that of the foreground process.
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

    /// Returns the outcome in its JSON form, with at most `budget` bytes of each output.
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
            outputs: self.captured.report(budget),
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

/// The JSON form of a [`JobOutcome`].
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct JobOutcomeReport {
    /// The exit status.
    pub status: StatusReport,
    /// The stages of the pipeline: one.
    pub stages: Vec<StageReport>,
    /// Whether it was waiting for input at the deadline; omitted if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needed_input: bool,
    /// The captured outputs.
    #[serde(flatten)]
    pub outputs: CapturedReport,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// Jobs that are still running.
    pub jobs: Vec<RunningJobReport>,
    /// Processes started, killed and left.
    pub tree: Tree,
    /// The limits; omitted if there are none.
    #[serde(skip_serializing_if = "RunLimits::is_empty")]
    pub limits: RunLimits,
    /// Time from start to result, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub duration: Duration,
}

impl JobOutcomeReport {
    /// Masks secrets in the arguments.
    pub fn redact(&mut self, redactor: &Redactor) {
        self.stages.iter_mut().for_each(|stage| stage.redact(redactor));
    }
}

impl StageReport {
    /// Masks secrets in the arguments.
    pub fn redact(&mut self, redactor: &Redactor) {
        self.argv.iter_mut().for_each(|word| redactor.redact(word));
    }
}

/// The JSON form of captured outputs.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct CapturedReport {
    /// Standard output, if it was captured separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<OutputSummary>,
    /// Standard error, if it was captured separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<OutputSummary>,
    /// Both streams in the order in which they were written, if they were merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSummary>,
    /// Output that background jobs of a substitution wrote after the substitution had ended; omitted if they wrote nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<OutputSummary>,
}

/// The JSON form of an exit status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StatusReport {
    /// The status that a shell would show.
    pub code: i32,
    /// The signal that killed the process, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Whether it timed out.
    pub timed_out: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The limit that ended it, or because of which processes were refused or killed; omitted if there is none.
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

/// The JSON form of a stage of a pipeline.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StageReport {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Whether arguments were omitted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub argv_truncated: bool,
    /// The kind of command.
    pub kind: &'static str,
    /// The exit status.
    pub status: StatusReport,
    /// Bytes written to standard output, if it was captured.
    pub bytes_out: Option<u64>,
    /// Time from its start to its end, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub wall: Duration,
    /// Resource usage, if known.
    #[serde(flatten)]
    pub usage: Option<Usage>,
    /// Index of its pipeline in the script.
    pub pipeline: usize,
    /// Index of the stage that had closed the pipe, if this stage was killed by `SIGPIPE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<usize>,
}

/// The JSON form of a job that is still running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RunningJobReport {
    /// The job's id.
    pub id: String,
    /// The pids of its processes.
    pub pids: Vec<i32>,
}
