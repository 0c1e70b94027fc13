//! The answer to a call.

use std::path::PathBuf;
use std::time::Duration;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// What came of a call. Its JSON form is the contract with agents:
///
/// ```
/// use haft_tools::{ErrorCode, Envelope, CallError};
///
/// let envelope = Envelope::failure(CallError::new(ErrorCode::ToolNotFound, "there is no tool 'x'"));
/// let json = serde_json::to_value(&envelope).unwrap();
/// assert_eq!(json["tool_success"], false);
/// assert_eq!(json["error_code"], "TOOL_NOT_FOUND");
/// assert_eq!(envelope.exit_status(), 127);
/// ```
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The result, or why there is none.
    pub outcome: Result<Value, CallError>,
    /// What it wrote to standard error, as far as it is shown.
    pub stderr: String,
    /// From the call to the answer.
    pub duration: Duration,
    /// KeptOutputs of which only a part is shown here.
    pub truncated: Vec<TruncatedOutput>,
    /// What the caller should know besides, such as a tool of this name that was passed over.
    pub notes: Vec<String>,
}

/// An output that is longer than what is shown of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TruncatedOutput {
    /// `stdout`, `stderr`, or `output` for both in true order.
    pub stream: &'static str,
    /// The name under which the whole is kept: for the tool `output`, and for [`Registry::output`](crate::Registry::output).
    pub id: String,
    /// How long it is.
    pub total_bytes: u64,
    /// The file that holds it for a day, which other processes can read too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Which kind of failure it is.
    pub code: ErrorCode,
    /// What happened, to what, and what to do.
    pub message: String,
    /// What the tool's process exited with.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGSEGV`.
    pub signal: Option<String>,
    /// What it had written to standard output, as far as it is shown.
    pub stdout: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// There is no tool of this name.
    ToolNotFound,
    /// The arguments do not fit: its schema, or what there is, such as a file that does not exist. Nothing was done.
    InvalidParams,
    /// Its time was up; it was ended with all its processes.
    ToolTimeout,
    /// It failed: by its exit status, or by a signal.
    ToolCrashed,
    /// It ended well, but what it wrote is not one JSON value, or not what it promised to return.
    InvalidOutput,
    /// It wrote more than a result may have.
    OutputLimit,
    /// The call was cancelled; it was ended with all its processes.
    Cancelled,
    /// It belongs to a project that was not trusted.
    NotTrusted,
    /// It is not in the toolset, or was rejected.
    Disabled,
    /// It could not be started.
    SpawnFailed,
}

impl ErrorCode {
    /// The code as it stands in the envelope.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::ToolNotFound => "TOOL_NOT_FOUND",
            ErrorCode::InvalidParams => "INVALID_PARAMS",
            ErrorCode::ToolTimeout => "TOOL_TIMEOUT",
            ErrorCode::ToolCrashed => "TOOL_CRASHED",
            ErrorCode::InvalidOutput => "INVALID_OUTPUT",
            ErrorCode::OutputLimit => "OUTPUT_LIMIT",
            ErrorCode::Cancelled => "CANCELLED",
            ErrorCode::NotTrusted => "NOT_TRUSTED",
            ErrorCode::Disabled => "DISABLED",
            ErrorCode::SpawnFailed => "SPAWN_FAILED",
        }
    }
}

impl CallError {
    /// A failure without a process.
    pub fn new(code: ErrorCode, error: impl Into<String>) -> CallError {
        CallError { code, message: error.into(), exit_code: None, signal: None, stdout: String::new() }
    }

    /// A failure of the caller: with other arguments it might have worked, and nothing was done.
    pub fn invalid(error: impl Into<String>) -> CallError {
        CallError::new(ErrorCode::InvalidParams, error)
    }

    /// A failure of a tool that runs in this process, as if it had exited with 1: the system did not let it.
    pub fn failed(error: impl Into<String>) -> CallError {
        CallError { exit_code: Some(1), ..CallError::new(ErrorCode::ToolCrashed, error) }
    }

    /// The exit status of a command that fails this way.
    pub fn exit_status(&self) -> i32 {
        match self.code {
            ErrorCode::ToolNotFound => 127,
            ErrorCode::InvalidParams => 2,
            ErrorCode::ToolTimeout => haft_process::TIMED_OUT,
            ErrorCode::Cancelled => haft_process::CANCELLED,
            ErrorCode::ToolCrashed => {
                self.exit_code.or_else(|| self.signal_status()).filter(|code| *code != 0).unwrap_or(1)
            }
            ErrorCode::InvalidOutput | ErrorCode::OutputLimit => 1,
            ErrorCode::NotTrusted | ErrorCode::Disabled | ErrorCode::SpawnFailed => 126,
        }
    }
}

impl CallError {
    fn signal_status(&self) -> Option<i32> {
        let number = haft_process::signal_number(self.signal.as_deref()?.trim_start_matches("SIG"))?;
        Some(128 + number)
    }
}

impl Envelope {
    /// The answer of a call that did not come to anything.
    pub fn failure(fault: CallError) -> Envelope {
        Envelope::from(Err(fault))
    }

    /// Whether there is a result.
    pub fn is_success(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The code of the failure, if it is one.
    pub fn code(&self) -> Option<ErrorCode> {
        self.outcome.as_ref().err().map(|fault| fault.code)
    }

    /// The exit status of a command that ends this way.
    pub fn exit_status(&self) -> i32 {
        self.outcome.as_ref().err().map_or(0, CallError::exit_status)
    }
}

impl From<Result<Value, CallError>> for Envelope {
    fn from(outcome: Result<Value, CallError>) -> Envelope {
        Envelope {
            outcome,
            stderr: String::new(),
            duration: Duration::ZERO,
            truncated: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tool_success", &self.is_success())?;
        match &self.outcome {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(fault) => {
                map.serialize_entry("error", &fault.message)?;
                map.serialize_entry("error_code", &fault.code)?;
                map.serialize_entry("exit_code", &fault.exit_code)?;
                map.serialize_entry("signal", &fault.signal)?;
                map.serialize_entry("stdout", &fault.stdout)?;
            }
        }
        map.serialize_entry("stderr", &self.stderr)?;
        map.serialize_entry("duration", &(self.duration.as_micros() as f64 / 1e6))?;
        if !self.truncated.is_empty() {
            map.serialize_entry("truncated", &self.truncated)?;
        }
        if !self.notes.is_empty() {
            map.serialize_entry("notes", &self.notes)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_value_is_a_result() {
        for value in [json!(null), json!(false), json!("text"), json!([1]), json!({"a": 1})] {
            let envelope = Envelope::from(Ok(value.clone()));
            let shown = serde_json::to_value(&envelope).expect("JSON");
            assert_eq!(shown, json!({"tool_success": true, "result": value, "stderr": "", "duration": 0.0}));
        }
    }

    #[test]
    fn codes_are_what_they_say() {
        for code in [ErrorCode::ToolNotFound, ErrorCode::OutputLimit, ErrorCode::NotTrusted] {
            assert_eq!(serde_json::to_value(code).expect("JSON"), code.as_str());
        }
    }
}
