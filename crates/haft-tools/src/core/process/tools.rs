//! Tools that read, write to, close, kill and list background processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::capture::{DecodedText, OutputView};
use haft_process::signal_number;
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::{BackgroundProcess, ProcessTable};
use crate::access::ToolAccess;
use crate::core::{describe, read_arguments};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

/// Interval between checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// `process_read`: reads the output.
#[derive(Debug)]
pub(super) struct ProcessReadTool(pub(super) Arc<ProcessTable>);

#[derive(Deserialize)]
struct ReadArguments {
    id: String,
    tail: Option<u64>,
    first: Option<u64>,
    last: Option<u64>,
    wait: f64,
    limit: usize,
}

impl NativeTool for ProcessReadTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_read",
            "Read the output of a background process: everything new since the last read, the last lines, or a range of lines. Also reports whether it still runs.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "tail": {"type": "integer", "minimum": 1, "description": "Number of last lines"},
                    "first": {"type": "integer", "minimum": 1, "description": "First line of a range"},
                    "last": {"type": "integer", "minimum": 1, "description": "Last line of a range"},
                    "wait": {"type": "number", "minimum": 0, "maximum": 600, "default": 0, "description": "Seconds to wait for new output or the end of the process"},
                    "limit": {"type": "integer", "minimum": 1, "default": 32768, "maximum": 1_048_576, "description": "Maximum number of bytes"},
                },
                "required": ["id"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: ReadArguments = read_arguments(arguments)?;
        let process = self.0.get(&arguments.id)?;
        wait(&process, Duration::from_secs_f64(arguments.wait), call)?;
        let mut report = process.report();
        let Some(output) = process.output() else { return Ok(report) };
        let view = match (arguments.tail, arguments.first, arguments.last) {
            (Some(count), None, None) => Some(OutputView::TailLines(count)),
            (None, None, None) => None,
            (None, first, last) => {
                Some(OutputView::Lines { first: first.unwrap_or(1), last: last.unwrap_or(u64::MAX - 1) })
            }
            _ => return Err(CallError::invalid("use either 'tail' or 'first'/'last'")),
        };
        match view {
            Some(view) => {
                let slice = output
                    .slice(&view, arguments.limit)
                    .map_err(|error| CallError::failed(error.to_string()))?;
                report["output"] = slice.to_text().text.into();
                report["truncated"] = (!slice.omissions.is_empty()).into();
            }
            None => {
                let (bytes, lost) = process.read_new(arguments.limit)?;
                report["output"] = DecodedText::decode(&bytes).text.into();
                report["more"] = (process.cursor() < output.total_bytes()).into();
                if lost > 0 {
                    report["lost_bytes"] = lost.into();
                }
            }
        }
        report["total_lines"] = output.total_lines().into();
        Ok(report)
    }
}

/// Waits for new output, the end of the process or the time limit.
fn wait(process: &BackgroundProcess, limit: Duration, call: &CallContext<'_>) -> Result<(), CallError> {
    let end = Instant::now() + limit;
    while let Some(output) = process.output() {
        if output.total_bytes() > process.cursor() || !process.is_running() || Instant::now() >= end {
            break;
        }
        call.check()?;
        output.wait_since(process.cursor(), Some(end.min(Instant::now() + CANCEL_CHECK_INTERVAL)));
    }
    Ok(())
}

/// `process_write`: writes to standard input.
#[derive(Debug)]
pub(super) struct ProcessWriteTool(pub(super) Arc<ProcessTable>);

#[derive(Deserialize)]
struct WriteArguments {
    id: String,
    input: String,
    close: bool,
}

impl NativeTool for ProcessWriteTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_write",
            "Write to the standard input of a background process. The text is sent unchanged, so end a line with a newline.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "input": {"type": "string", "description": "Text to write"},
                    "close": {"type": "boolean", "default": false, "description": "Close standard input afterwards"},
                },
                "required": ["id", "input"],
            }),
        )
    }

    fn call(&self, arguments: &Value, _: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: WriteArguments = read_arguments(arguments)?;
        let process = running(&self.0, &arguments.id)?;
        process.controller.write(arguments.input.into_bytes());
        if arguments.close {
            process.controller.close_input();
        }
        Ok(process.report())
    }
}

/// `process_close`: closes standard input.
#[derive(Debug)]
pub(super) struct ProcessCloseTool(pub(super) Arc<ProcessTable>);

#[derive(Deserialize)]
struct ProcessIdArguments {
    id: String,
}

impl NativeTool for ProcessCloseTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_close",
            "Close the standard input of a background process.",
            ToolAccess::None,
            json!({"properties": {"id": id()}, "required": ["id"]}),
        )
    }

    fn call(&self, arguments: &Value, _: &CallContext<'_>) -> Result<Value, CallError> {
        let process = running(&self.0, &read_arguments::<ProcessIdArguments>(arguments)?.id)?;
        process.controller.close_input();
        Ok(process.report())
    }
}

/// `process_kill`: terminates the process or sends a signal.
#[derive(Debug)]
pub(super) struct ProcessKillTool(pub(super) Arc<ProcessTable>);

#[derive(Deserialize)]
struct KillArguments {
    id: String,
    signal: Option<String>,
}

impl NativeTool for ProcessKillTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_kill",
            "Terminate a background process and all its descendants, and wait until they have ended. With signal, only send that signal.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "signal": {"type": "string", "description": "Signal to send instead, such as `INT` or `HUP`"},
                },
                "required": ["id"],
            }),
        )
    }

    fn call(&self, arguments: &Value, _: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: KillArguments = read_arguments(arguments)?;
        let Some(signal) = arguments.signal else {
            let process = self.0.get(&arguments.id)?;
            process.end();
            return Ok(process.report());
        };
        let process = running(&self.0, &arguments.id)?;
        let name = signal.trim_start_matches("SIG");
        let number = signal_number(name)
            .ok_or_else(|| CallError::invalid(format!("parameter 'signal': unknown signal '{signal}'")))?;
        process.controller.signal(number).map_err(|error| CallError::failed(error.to_string()))?;
        Ok(process.report())
    }
}

/// `process_list`: lists all processes.
#[derive(Debug)]
pub(super) struct ProcessListTool(pub(super) Arc<ProcessTable>);

impl NativeTool for ProcessListTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_list",
            "List background processes: those that run, and how the others ended.",
            ToolAccess::None,
            json!({"properties": {}}),
        )
    }

    fn call(&self, _: &Value, _: &CallContext<'_>) -> Result<Value, CallError> {
        Ok(self.0.all().iter().map(|process| process.report()).collect())
    }
}

fn id() -> Value {
    json!({"type": "string", "description": "Id of the process, from process_start"})
}

fn running(table: &ProcessTable, id: &str) -> Result<Arc<BackgroundProcess>, CallError> {
    let process = table.get(id)?;
    if process.is_running() {
        Ok(process)
    } else {
        Err(CallError::invalid(format!("process '{id}' has ended")))
    }
}
