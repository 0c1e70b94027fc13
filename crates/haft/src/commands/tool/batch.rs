//! `haft tool batch`: many calls, one per line.

use haft_process::{CancelToken, reason};
use haft_tools::{BatchCall, CallError, Envelope};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arguments::ToolBatchArguments;
use super::{ToolRuntime, end_record, start_record};
use crate::commands::print::print_json;
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::records::Recorder;

/// The answer to one line of `haft tool batch`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct BatchAnswer {
    /// The tool's name; null if the line has none.
    tool: Option<String>,
    /// The `id` of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// Makes the calls as they are read, and prints one answer per line in the order of the calls. Returns 1 if a call failed.
pub(super) fn run(
    arguments: &ToolBatchArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let runtime = ToolRuntime::new(process)?;
    let options = runtime.call_options(arguments.timeout, arguments.toolset.as_deref())?;
    let width = arguments
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2));
    let mut status = 0;
    let calls = InputLines::new(&runtime.signals.cancel).enumerate();
    let calls = calls.filter(|(_, line)| !line.trim_ascii().is_empty());
    let calls = calls.map(|(number, line)| {
        let ((tool, id), call) = read(number + 1, &line);
        let given = call.as_ref().ok();
        let record = given.map(|call| start_record(recorder, &call.tool, Some(call.arguments.clone())));
        ((tool, id, record), call)
    });
    runtime.registry.batch(calls, width.max(1), &options, |(tool, id, record), envelope| {
        record.iter().for_each(|record| end_record(record, &envelope));
        let failed = i32::from(!envelope.is_success());
        status = print_json(&BatchAnswer { tool, id, envelope }, failed).max(status);
    });
    Ok(if runtime.signals.cancel.is_cancelled() { haft_process::CANCELLED } else { status })
}

/// The tool's name and the id of a line, for its answer.
type Tag = (Option<String>, Option<Value>);

/// Parses a line. A line that is not a call is answered with an error.
fn read(number: usize, line: &[u8]) -> (Tag, Result<BatchCall, CallError>) {
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str::<BatchCall>(&haft_tools::exact::marked(&text)) {
        Ok(call) => ((Some(call.tool.clone()), call.id.clone()), Ok(call)),
        Err(error) => {
            let wanted = "write {\"tool\": NAME, \"arguments\": {…}} on every line";
            let given: Value = serde_json::from_slice(line).unwrap_or_default();
            let tool = given["tool"].as_str().map(ToOwned::to_owned);
            let tag = (tool, given.get("id").cloned());
            (tag, Err(CallError::invalid(format!("line {number} is not a call: {error}; {wanted}"))))
        }
    }
}

/// The lines of standard input, until its end or cancellation.
struct InputLines {
    cancel: CancelToken,
    buffer: Vec<u8>,
    ended: bool,
}

impl InputLines {
    fn new(cancel: &CancelToken) -> InputLines {
        InputLines { cancel: cancel.clone(), buffer: Vec::new(), ended: false }
    }

    /// Waits for more input.
    fn read_on(&mut self) {
        let Ok(cancelled) = self.cancel.descriptor() else {
            self.ended = true;
            return;
        };
        let stdin = rustix::stdio::stdin();
        let mut wanted = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&cancelled, PollFlags::IN)];
        let _ = poll(&mut wanted, None);
        if self.cancel.is_cancelled() {
            self.buffer.clear();
            self.ended = true;
            return;
        }
        let mut piece = [0; 64 << 10];
        match rustix::io::read(stdin, &mut piece) {
            Ok(0) => self.ended = true,
            Ok(count) => self.buffer.extend_from_slice(&piece[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => {
                print_message(format_args!("standard input cannot be read: {}", reason(&error.into())));
                self.ended = true;
            }
        }
    }
}

impl Iterator for InputLines {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.buffer[seen..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(seen + end + 1);
                return Some(std::mem::replace(&mut self.buffer, rest));
            }
            seen = self.buffer.len();
            if self.ended {
                return Some(std::mem::take(&mut self.buffer)).filter(|line| !line.is_empty());
            }
            self.read_on();
        }
    }
}
