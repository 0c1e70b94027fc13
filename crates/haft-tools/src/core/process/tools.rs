//! What can be done with processes in the background: read, write, close, kill, list.

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

/// How often somebody who waits looks whether he is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// `process_read`: what it has written.
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
            "ProcessReadTool what a background process has written: since it was read last, or its last lines, or lines by number; and whether it still runs.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "tail": {"type": "integer", "minimum": 1, "description": "Its last lines, so many"},
                    "first": {"type": "integer", "minimum": 1, "description": "Lines from this number on"},
                    "last": {"type": "integer", "minimum": 1, "description": "Lines up to this number"},
                    "wait": {"type": "number", "minimum": 0, "maximum": 600, "default": 0, "description": "Wait so many seconds at most for something new, or its end"},
                    "limit": {"type": "integer", "minimum": 1, "default": 32768, "maximum": 1_048_576, "description": "At most so many bytes"},
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
            _ => return Err(CallError::invalid("give either 'tail' or 'first' and 'last'")),
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
                let (bytes, lost) = process.read_on(arguments.limit)?;
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

/// Waits until there is something new to read, or the process has ended, or the time is up.
fn wait(process: &BackgroundProcess, limit: Duration, call: &CallContext<'_>) -> Result<(), CallError> {
    let end = Instant::now() + limit;
    while let Some(output) = process.output() {
        if output.total_bytes() > process.cursor() || !process.is_running() || Instant::now() >= end {
            break;
        }
        call.check()?;
        output.wait_since(process.cursor(), Some(end.min(Instant::now() + LOOK)));
    }
    Ok(())
}

/// `process_write`: input for it.
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
            "Give a background process input, exactly as it is: a line needs its newline.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "input": {"type": "string", "description": "The input"},
                    "close": {"type": "boolean", "default": false, "description": "End its input after that"},
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

/// `process_close`: the end of its input.
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
            "End the input of a background process.",
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

/// `process_kill`: its end.
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
            "End a background process with all it has started, and wait until they are gone; or only send it a signal.",
            ToolAccess::None,
            json!({
                "properties": {
                    "id": id(),
                    "signal": {"type": "string", "description": "Send only this signal, such as `INT` or `HUP`"},
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
        let number = signal_number(name).ok_or_else(|| {
            CallError::invalid(format!("parameter 'signal': there is no signal '{signal}'"))
        })?;
        process.controller.signal(number).map_err(|error| CallError::failed(error.to_string()))?;
        Ok(process.report())
    }
}

/// `process_list`: all of them.
#[derive(Debug)]
pub(super) struct ProcessListTool(pub(super) Arc<ProcessTable>);

impl NativeTool for ProcessListTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_list",
            "ProcessListTool the background processes: what still runs, and how the others ended.",
            ToolAccess::None,
            json!({"properties": {}}),
        )
    }

    fn call(&self, _: &Value, _: &CallContext<'_>) -> Result<Value, CallError> {
        Ok(self.0.all().iter().map(|process| process.report()).collect())
    }
}

fn id() -> Value {
    json!({"type": "string", "description": "The process, as process_start named it"})
}

fn running(table: &ProcessTable, id: &str) -> Result<Arc<BackgroundProcess>, CallError> {
    let process = table.get(id)?;
    if process.is_running() {
        Ok(process)
    } else {
        Err(CallError::invalid(format!("process '{id}' has ended")))
    }
}
