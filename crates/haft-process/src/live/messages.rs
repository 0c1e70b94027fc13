//! The messages between a process with live runs and its clients: one line of JSON each.

use serde::{Deserialize, Serialize};

use crate::capture::{Output, OutputView, OutputWindow, Recording};
use crate::{Captured, JobController};

/// The most bytes of the last line of an output.
const LAST_LINE_BYTES: usize = 400;

/// A request, the first line on a connection.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub(super) enum LiveRequest {
    /// The state of a run.
    Status { run: String },
    /// The state of a run, again each time its output has grown, until it has ended.
    Follow { run: String },
    /// Lines of an output.
    Window { output: String, first: u64, count: u64 },
    /// Bytes of an output, which follow the reply.
    Read { output: String, from: u64, limit: usize },
    /// When the bytes of an output arrived, if it is that of a terminal.
    Recording { output: String },
    /// Ends a run.
    Kill { run: String },
    /// Types text on the terminal of a run.
    Input { run: String, text: String },
}

/// A reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LiveReply {
    Status(LiveStatus),
    Window(OutputWindow),
    /// This many bytes follow.
    Bytes {
        length: usize,
        next: u64,
        lost: u64,
        finished: bool,
    },
    Recording(Option<Recording>),
    Done,
    Error(String),
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveStatus {
    /// Whether it still runs.
    pub running: bool,
    /// Its captured outputs.
    pub streams: Vec<LiveStream>,
    /// Whether it runs on a terminal of its own, so that it takes input.
    pub terminal: bool,
    /// Whether one of its processes waits for input.
    pub needs_input: bool,
}

/// A captured output of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveStream {
    /// `stdout`, `stderr`, `output` or `late`.
    pub stream: String,
    /// The id of the output.
    pub id: String,
    /// Its size so far.
    pub bytes: u64,
    /// Its lines so far.
    pub lines: u64,
    /// Its last line that is not empty.
    pub last_line: String,
}

impl LiveStatus {
    /// The state of a run whose controller exists as long as it runs.
    pub(super) fn new(run: Option<&JobController>, outputs: &[(&'static str, Output)]) -> LiveStatus {
        LiveStatus {
            running: run.is_some(),
            streams: outputs.iter().map(|(stream, output)| LiveStream::new(stream, output)).collect(),
            terminal: run.is_some_and(|run| run.captured().terminal.is_some()),
            needs_input: run.is_some_and(|run| run.needs_input().is_some()),
        }
    }
}

impl LiveStream {
    fn new(stream: &str, output: &Output) -> LiveStream {
        LiveStream {
            stream: stream.to_owned(),
            id: output.id().to_string(),
            bytes: output.total_bytes(),
            lines: output.total_lines(),
            last_line: last_line(output),
        }
    }
}

/// The last line of an output that is not empty.
fn last_line(output: &Output) -> String {
    let end = output.slice(&OutputView::TailLines(2), LAST_LINE_BYTES).map(|slice| slice.to_bytes());
    let end = end.unwrap_or_default();
    let mut lines = end.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    String::from_utf8_lossy(line).into_owned()
}

/// The captured outputs with the names of their streams.
pub(super) fn streams(captured: &Captured) -> Vec<(&'static str, Output)> {
    let Captured { stdout, stderr, output, late, .. } = captured;
    let all = [("stdout", stdout), ("stderr", stderr), ("output", output), ("late", late)];
    all.into_iter().filter_map(|(stream, output)| Some((stream, output.clone()?))).collect()
}
