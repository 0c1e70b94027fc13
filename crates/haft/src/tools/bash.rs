//! `bash`: a script, run by haft itself.

use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use haft_kernel::Session;
use haft_kernel::run::{Outcome, Run, Status, Streams};
use haft_process::capture::View;
use haft_process::signal_name;
use haft_tools::{Access, Code, Descriptor, Fault, Native, Surroundings};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sessions;

/// What the script has left in the background gets so long to end by itself.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// The tool.
#[derive(Debug)]
pub(super) struct Bash;

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout: f64,
    cwd: Option<String>,
}

impl Native for Bash {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "bash".to_owned(),
            description:
                "Run a bash script in a session of its own. The answer has its output, both streams in true \
                          order, and its exit code; what it leaves in the background ends with it."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The script"},
                    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400, "default": 120, "description": "End it, with all its processes, after so many seconds"},
                    "cwd": {"type": "string", "description": "Where it starts"},
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
            returns: None,
            timeout: Some(86_400.0),
            output_limit: None,
            access: Access::Unknown,
            env: Vec::new(),
            version: None,
        }
    }

    fn call(&self, arguments: &Value, surroundings: &Surroundings<'_>) -> Result<Value, Fault> {
        let arguments = Arguments::deserialize(arguments)
            .map_err(|error| Fault::new(Code::InvalidParams, error.to_string()))?;
        let directory = surroundings.path(arguments.cwd.as_deref().unwrap_or(""));
        if !directory.is_dir() {
            let error = format!("cannot enter '{}': it is no directory", directory.display());
            return Err(Fault::new(Code::SpawnFailed, error));
        }
        let variables =
            surroundings.environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut session =
            Session::familiar(sessions::plain_kernel().build(), variables, directory.as_os_str().as_bytes());
        let left = surroundings.deadline.saturating_duration_since(Instant::now());
        let timeout = Duration::from_secs_f64(arguments.timeout).min(left);
        let outcome = Run::new(arguments.command)
            .name("bash")
            .streams(Streams::Merged)
            .timeout(timeout)
            .cancel(surroundings.cancel)
            .run(surroundings.host, &mut session)
            .map_err(|error| Fault::new(Code::SpawnFailed, error.to_string()))?;
        session.end_jobs(LEFTOVERS, LEFTOVERS);
        let output = outcome.captured.output.clone();
        let answer = answer(&outcome, timeout);
        if let (Some(output), Ok(Value::Object(fields))) = (output, &answer)
            && fields["truncated"] == true
        {
            surroundings.keep(output);
        }
        answer
    }
}

fn answer(outcome: &Outcome, timeout: Duration) -> Result<Value, Fault> {
    let output = outcome.captured.output.as_ref();
    let shown = output.and_then(|output| output.summary(&View::HeadAndTail, View::DEFAULT_BUDGET).ok());
    let text = shown.as_ref().map(|shown| shown.text.clone()).unwrap_or_default();
    let ended = |code, error: String| Err(Fault { stdout: text.clone(), ..Fault::new(code, error) });
    match outcome.status {
        Status::TimedOut => {
            ended(Code::ToolTimeout, format!("the script did not end within {} s", timeout.as_secs_f64()))
        }
        Status::Cancelled => ended(Code::Cancelled, "the script was cancelled".to_owned()),
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
                "cwd": String::from_utf8_lossy(&outcome.cwd),
                "truncated": shown.as_ref().is_some_and(|shown| shown.truncated),
                "total_bytes": shown.as_ref().map_or(0, |shown| shown.total_bytes),
                "id": shown.filter(|shown| shown.truncated).map(|shown| shown.id.to_string()),
            }))
        }
    }
}
