//! A stage of a pipeline, as the result of a run shows it.

use std::time::Duration;

use haft_process::{Exit, StageReport, StatusReport, Usage};
use haft_text::Bytes;

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
    /// Whether it ended because its own timeout expired.
    pub timed_out: bool,
    /// The bytes that it wrote to standard output, if that is known.
    pub bytes_out: Option<u64>,
    /// The time from its start to its end.
    pub wall: Duration,
    /// Its resource usage, if it was a program.
    pub usage: Option<Usage>,
    /// The stage, counted from 0, that closed the pipe, if this one ended by `SIGPIPE`.
    pub closed_by: Option<usize>,
}

/// The kind of command of a stage.
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

impl Stage {
    pub(crate) fn report(&self) -> StageReport {
        StageReport {
            argv: self.argv.iter().map(|word| word.lossy().into_owned()).collect(),
            argv_truncated: self.argv_truncated,
            kind: self.kind.name(),
            status: StatusReport { timed_out: self.timed_out, ..StatusReport::from(self.exit) },
            bytes_out: self.bytes_out,
            wall: self.wall,
            usage: self.usage,
            pipeline: self.pipeline,
            closed_by: self.closed_by,
        }
    }
}
