//! The core tool `bash`: runs a script in haft.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_kernel::Session;
use haft_kernel::run::{Outcome, Run, Status, Streams};
use haft_process::capture::{OutputSummary, OutputView};
use haft_process::signal_name;
use haft_tools::{CallContext, CallError, ErrorCode, NativeTool, ToolAccess, ToolDescriptor};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process_context::ProcessContext;
use crate::sessions;

/// How long background processes may go on after the script.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

const MAX_NAMED_SESSIONS: usize = 64;

/// The tool, with its named sessions, which keep their state between scripts.
#[derive(Debug)]
pub(super) struct BashTool {
    process: ProcessContext,
    sessions: Mutex<HashMap<String, Arc<Mutex<Session>>>>,
}

#[derive(Deserialize)]
struct BashArguments {
    command: String,
    timeout: f64,
    cwd: Option<String>,
    session: Option<String>,
}

impl NativeTool for BashTool {
    fn descriptor(&self) -> ToolDescriptor {
        ToolDescriptor {
            name: "bash".to_owned(),
            description:
                "Run a bash script, in a session of its own or a named one. The answer has its output, both streams \
                 in true order, and its exit code; what it leaves in the background ends with it."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The script"},
                    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400, "default": 120, "description": "End it, with all its processes, after so many seconds"},
                    "cwd": {"type": "string", "description": "Where it starts"},
                    "session": {"type": "string", "minLength": 1, "description": "Keep directory, variables and functions under this name for the next script of the same name, as long as this haft runs"},
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
            returns: None,
            timeout: Some(86_400.0),
            output_limit: None,
            access: ToolAccess::Unknown,
            env: Vec::new(),
            title: None,
        annotations: None,
        version: None,
        }
    }

    fn is_confined(&self) -> bool {
        false
    }

    fn call(&self, arguments: &Value, surroundings: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments =
            BashArguments::deserialize(arguments).map_err(|error| CallError::invalid(error.to_string()))?;
        match &arguments.session {
            None => run(&arguments, &mut self.fresh(surroundings), surroundings),
            Some(name) => {
                let session = self.named(name, surroundings)?;
                let mut session = session.try_lock().map_err(|_| {
                    CallError::invalid(format!(
                        "session '{name}' is busy with another script; use another name"
                    ))
                })?;
                run(&arguments, &mut session, surroundings)
            }
        }
    }

    /// The output, and a line with the exit status.
    fn text(&self, result: &Value) -> Option<String> {
        let mut text = result["output"].as_str()?.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[exit {}", result["exit_code"]));
        if let (Some(id), Some(bytes)) = (result["id"].as_str(), result["total_bytes"].as_u64()) {
            text.push_str(&format!(" · {bytes} bytes in all; full output: output(id=\"{id}\")"));
        }
        text.push_str("]\n");
        Some(text)
    }
}

impl BashTool {
    /// The tool, whose sessions use the configuration of this process.
    pub(super) fn new(process: &ProcessContext) -> Self {
        Self { process: process.clone(), sessions: Mutex::default() }
    }

    /// The session with a name; a new one is created.
    fn named(&self, name: &str, surroundings: &CallContext<'_>) -> Result<Arc<Mutex<Session>>, CallError> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_NAMED_SESSIONS && !sessions.contains_key(name) {
            let names: Vec<&str> = sessions.keys().map(String::as_str).collect();
            return Err(CallError::invalid(format!("too many named sessions: {}", names.join(", "))));
        }
        let make = || Arc::new(Mutex::new(self.fresh(surroundings)));
        Ok(sessions.entry(name.to_owned()).or_insert_with(make).clone())
    }

    /// A new session with the caller's environment and directory.
    fn fresh(&self, surroundings: &CallContext<'_>) -> Session {
        let variables =
            surroundings.environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let kernel = sessions::plain_kernel(&self.process).permission(surroundings.host.permission());
        Session::with_environment(kernel.build(), variables, surroundings.directory)
    }
}

fn run(
    arguments: &BashArguments,
    session: &mut Session,
    surroundings: &CallContext<'_>,
) -> Result<Value, CallError> {
    if let Some(cwd) = &arguments.cwd {
        let directory = session.directory().join(cwd);
        if !directory.is_dir() {
            let error = format!("parameter 'cwd': cannot enter '{}': not a directory", directory.display());
            return Err(CallError::invalid(error));
        }
        session.set_directory(directory);
    }
    let left = surroundings.deadline.saturating_duration_since(Instant::now());
    let timeout = Duration::from_secs_f64(arguments.timeout).min(left);
    let outcome = Run::new(arguments.command.clone())
        .name("bash")
        .streams(Streams::Merged)
        .timeout(timeout)
        .cancel(surroundings.cancel)
        .run(surroundings.host, session)
        .map_err(|error| CallError::new(ErrorCode::SpawnFailed, error.to_string()))?;
    session.end_jobs(LEFTOVER_GRACE, LEFTOVER_GRACE);
    let output = outcome.captured.output.as_ref();
    let shown =
        output.and_then(|output| output.summary(&OutputView::HeadAndTail, OutputView::DEFAULT_BUDGET).ok());
    if let Some(output) = output.filter(|_| shown.as_ref().is_some_and(|shown| shown.truncated)) {
        surroundings.keep("output", output);
    }
    answer(&outcome, shown, timeout)
}

fn answer(outcome: &Outcome, shown: Option<OutputSummary>, timeout: Duration) -> Result<Value, CallError> {
    let text = shown.as_ref().map(|shown| shown.text.clone()).unwrap_or_default();
    let ended = |code, error: String| Err(CallError { stdout: text.clone(), ..CallError::new(code, error) });
    if let (Status::Signal(_), Some(kind)) = (outcome.status, outcome.limits.ended_by) {
        return ended(
            ErrorCode::ToolCrashed,
            format!("the script was ended: {} limit exceeded", kind.name()),
        );
    }
    match outcome.status {
        Status::TimedOut => ended(
            ErrorCode::ToolTimeout,
            format!("the script did not end within {} s", timeout.as_secs_f64()),
        ),
        Status::Cancelled => ended(ErrorCode::Cancelled, "the script was cancelled".to_owned()),
        Status::LimitReached(hit) => ended(ErrorCode::ToolCrashed, format!("the script was ended: {hit}")),
        Status::Code(_) | Status::Signal(_) => {
            let signal = match outcome.status {
                Status::Signal(number) => {
                    Some(signal_name(number).map_or(number.to_string(), |name| format!("SIG{name}")))
                }
                _ => None,
            };
            Ok(json!({
                "output": text,
                "exit_code": outcome.code(),
                "signal": signal,
                "cwd": outcome.cwd.to_string_lossy(),
                "truncated": shown.as_ref().is_some_and(|shown| shown.truncated),
                "total_bytes": shown.as_ref().map_or(0, |shown| shown.total_bytes),
                "id": shown.filter(|shown| shown.truncated).map(|shown| shown.id.to_string()),
            }))
        }
    }
}
