//! The records of a journal.
//!
//! Readers ignore fields that they do not know, so fields can be added.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JournalRecord {
    /// The first line of a file.
    Header(JournalHeader),
    /// A run has started.
    Start(RunStart),
    /// A stage of a pipeline has ended.
    Stage(StageEnd),
    /// A run has ended.
    End(RunEnd),
    /// Records were lost here.
    Gap(Gap),
}

/// The first line of a journal file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalHeader {
    /// The version of the format: 1.
    pub version: u32,
    /// The session.
    pub session: String,
    /// The name of the file.
    pub file: String,
}

/// The command that started a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// `haft run`.
    #[default]
    Run,
    /// `haft spawn`.
    Spawn,
    /// `haft tool call`.
    Tool,
    /// A tool call of an MCP client.
    Mcp,
    /// `haft launch`.
    Launch,
    /// A call that an agent asked `haft hook` about. Haft does not run it.
    Hook,
}

impl RunKind {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RunKind::Run => "run",
            RunKind::Spawn => "spawn",
            RunKind::Tool => "tool",
            RunKind::Mcp => "mcp",
            RunKind::Launch => "launch",
            RunKind::Hook => "hook",
        }
    }
}

/// An MCP client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A process, identified beyond the reuse of its pid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedProcess {
    /// Its pid.
    pub pid: i32,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
    /// Identifies the boot and the PID namespace in which pid and start time are valid.
    pub boot: String,
}

/// The start of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunStart {
    /// The run's id.
    pub run: String,
    /// The time, in milliseconds since 1970.
    pub time: u64,
    /// The command that started it.
    pub kind: RunKind,
    /// The session that it belongs to.
    pub session: String,
    /// The agent that asked for it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The MCP client that asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientIdentity>,
    /// The run that it was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The program and its arguments, or the arguments of the script.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Whether the script or an argument was too long and is cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The working directory.
    pub cwd: String,
    /// The haft process that supervises it.
    pub process: RecordedProcess,
}

impl RunStart {
    /// The start of a run with this id, at a time in milliseconds since 1970.
    #[must_use]
    pub fn new(run: impl Into<String>, time: u64) -> RunStart {
        RunStart { run: run.into(), time, ..RunStart::default() }
    }

    /// The text that a search looks at: the script, the command line, or the tool with its arguments.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.script.iter().chain(&self.tool).chain(&self.argv).map(String::as_str);
        let mut text = words.collect::<Vec<_>>().join(" ");
        if let Some(arguments) = &self.arguments {
            text.push(' ');
            text.push_str(&arguments.to_string());
        }
        text
    }
}

/// The end of a stage of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StageEnd {
    /// The run's id.
    pub run: String,
    /// Its pipeline, counted from 0.
    pub pipeline: usize,
    /// The kind of command, as in the result of 'haft run --json'.
    pub kind: String,
    /// The command and its arguments, or the beginning of a compound command's text.
    pub argv: Vec<String>,
    /// Whether arguments are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The exit status that a shell would show.
    pub code: i32,
    /// The signal that killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The time from its start to its end, in seconds.
    pub wall: f64,
    /// User and system CPU time, in seconds, if it was a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Maximum resident set size, in bytes, if it was a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rss: Option<u64>,
    /// Bytes that it wrote to standard output, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
}

/// An output of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputReference {
    /// The stream: `stdout`, `stderr`, `output` or `late`.
    pub stream: String,
    /// Its id, for 'haft output ID' or the MCP tool `output`.
    pub id: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Files that a run changed in its overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFiles {
    /// The overlay's id.
    pub overlay: String,
    /// The number of changed paths.
    pub count: u64,
    /// The first changed paths.
    pub paths: Vec<String>,
}

/// The processes of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessCounts {
    /// Processes that haft started, without their descendants.
    pub started: u64,
    /// Processes that were killed.
    pub killed: u64,
    /// Processes that are left; null if that is unknown.
    pub survivors: Option<u64>,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunEnd {
    /// The run's id.
    pub run: String,
    /// The time, in milliseconds since 1970.
    pub time: u64,
    /// The exit status that a shell would show.
    pub code: i32,
    /// The signal that killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Whether it timed out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether it was cancelled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// The limit that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The reason why it could not start, or the error that a tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time from start to end, in seconds.
    pub duration: f64,
    /// User and system CPU time of its programs, in seconds.
    pub cpu: f64,
    /// The largest resident set size of one of its programs, in bytes.
    pub max_rss: u64,
    /// Its outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputReference>,
    /// The files that it changed, if it ran in an overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedFiles>,
    /// Its processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<ProcessCounts>,
    /// Decisions of the policy other than to allow something without a question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<String>,
}

impl RunEnd {
    /// The end of a run with this id, at a time in milliseconds since 1970.
    #[must_use]
    pub fn new(run: impl Into<String>, time: u64) -> RunEnd {
        RunEnd { run: run.into(), time, ..RunEnd::default() }
    }
}

/// Records that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The number of lost records.
    pub lost: u64,
    /// The reason.
    pub reason: String,
}
