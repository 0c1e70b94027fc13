//! `process_start`: starts a program in the background.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{Command, Input, Streams, Task, TerminalSize, find_program};
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::ProcessTable;
use crate::access::ToolAccess;
use crate::core::{describe, read_arguments};
use crate::envelope::{CallError, ErrorCode};
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

#[derive(Debug)]
pub(super) struct ProcessStartTool {
    pub(super) table: Arc<ProcessTable>,
    pub(super) shell: Vec<OsString>,
}

#[derive(Deserialize)]
struct ProcessStartArguments {
    command: Option<String>,
    argv: Option<Vec<String>>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    ttl: f64,
    terminal: bool,
}

impl NativeTool for ProcessStartTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "process_start",
            "Start a background process, such as a server or a long build. It is terminated with all its descendants when its time to live expires or the session ends.",
            ToolAccess::Unknown,
            json!({
                "properties": {
                    "command": {"type": "string", "description": "Shell script to run"},
                    "argv": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Program and arguments to run without a shell, instead of command"},
                    "cwd": {"type": "string", "description": "Working directory"},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Additional environment variables"},
                    "ttl": {"type": "number", "exclusiveMinimum": 0, "maximum": 604_800, "default": 1800, "description": "Time to live in seconds"},
                    "terminal": {"type": "boolean", "default": false, "description": "Run it in a pseudo-terminal"},
                },
            }),
        )
    }

    fn is_confined(&self) -> bool {
        false
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: ProcessStartArguments = read_arguments(arguments)?;
        let words = self.words(&arguments)?;
        let directory = call.path(arguments.cwd.as_deref().unwrap_or(""));
        let mut environment = call.environment.clone();
        for (name, value) in &arguments.env {
            environment.set(name, value).map_err(|error| CallError::invalid(error.to_string()))?;
        }
        let failed = |error: haft_process::Error| CallError::new(ErrorCode::SpawnFailed, error.to_string());
        let program = find_program(&words[0], environment.get("PATH"), Some(&directory)).map_err(failed)?;
        let mut command = Command::new(program);
        command
            .argument_zero(&words[0])
            .arguments(&words[1..])
            .environment(environment)
            .working_directory(directory);
        let streams =
            if arguments.terminal { Streams::Terminal(TerminalSize::default()) } else { Streams::Merged };
        let time_to_live = Duration::from_secs_f64(arguments.ttl);
        let task = Task::new(command).input(Input::Pipe).streams(streams).timeout(time_to_live);
        let handle = task.start(call.host).and_then(haft_process::Job::background).map_err(failed)?;
        let asked = match arguments.command {
            Some(text) => Value::from(text),
            None => Value::from(arguments.argv),
        };
        Ok(self.table.add(asked, time_to_live, handle).report())
    }
}

impl ProcessStartTool {
    fn words(&self, arguments: &ProcessStartArguments) -> Result<Vec<OsString>, CallError> {
        match (&arguments.command, &arguments.argv) {
            (Some(text), None) if !self.shell.is_empty() => {
                Ok(self.shell.iter().cloned().chain([OsString::from(text)]).collect())
            }
            (Some(_), None) => Err(CallError::invalid("no shell is available; use 'argv'")),
            (None, Some(argv)) => Ok(argv.iter().map(OsString::from).collect()),
            _ => Err(CallError::invalid("set either 'command' or 'argv'")),
        }
    }
}
