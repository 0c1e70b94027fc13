//! The result of a call.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::exact;

/// The result of a call. Its JSON form is the contract with agents:
///
/// ```
/// use haft_tools::{ErrorCode, Envelope, CallError};
///
/// let envelope = Envelope::failure(CallError::new(ErrorCode::ToolNotFound, "unknown tool 'x'"));
/// let json = serde_json::to_value(&envelope).unwrap();
/// assert_eq!(json["tool_success"], false);
/// assert_eq!(json["error_code"], "TOOL_NOT_FOUND");
/// assert_eq!(envelope.exit_status(), 127);
/// ```
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The result, or the error.
    pub outcome: Result<Value, CallError>,
    /// Standard error of the tool, possibly truncated.
    pub stderr: String,
    /// Duration of the call.
    pub duration: Duration,
    /// Outputs that are truncated here.
    pub truncated: Vec<TruncatedOutput>,
    /// Further information, such as a tool of the same name that was skipped.
    pub notes: Vec<String>,
    /// The content blocks of an MCP server, if some are not plain text: images, audio, resources, annotations. Not part of
    /// the JSON form, whose result has them.
    pub content: Option<Value>,
}

/// An output that is truncated in the envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TruncatedOutput {
    /// `stdout`, `stderr`, or `output` for both in order.
    pub stream: &'static str,
    /// Identifier of the whole output, for the tool `output` and
    /// [`Registry::output`](crate::Registry::output).
    pub id: String,
    /// Total size in bytes.
    pub total_bytes: u64,
    /// File with the whole output, kept for a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The error code.
    pub code: ErrorCode,
    /// The failure, its subject, and a remedy.
    pub message: String,
    /// Exit status of the tool.
    pub exit_code: Option<i32>,
    /// Signal that killed the tool, such as `SIGSEGV`.
    pub signal: Option<String>,
    /// Standard output of the tool, possibly truncated.
    pub stdout: String,
    /// Names of tools or parameters that are similar to an unknown one.
    pub nearest: Box<[String]>,
    /// A remedy, if it does not follow from the code.
    pub hint: Option<Box<str>>,
}

/// Error codes of tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// No tool has this name.
    ToolNotFound,
    /// The arguments do not match the schema, or refer to something that does not exist, such as a missing
    /// file. Nothing was changed.
    InvalidParams,
    /// The time limit was reached. The tool and all its processes were killed.
    ToolTimeout,
    /// The tool failed with a nonzero exit status or a signal.
    ToolCrashed,
    /// The tool exited with 0, but its output is not one JSON value or does not match its `returns` schema.
    InvalidOutput,
    /// The result is larger than allowed.
    OutputLimit,
    /// The call was cancelled. The tool and all its processes were killed.
    Cancelled,
    /// The tool belongs to a project and is not trusted.
    NotTrusted,
    /// The tool is not in the toolset, or was rejected.
    Disabled,
    /// The tool could not be started.
    SpawnFailed,
}

impl ErrorCode {
    /// The code as it appears in JSON.
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
    /// Creates an error without a process.
    pub fn new(code: ErrorCode, error: impl Into<String>) -> CallError {
        CallError {
            code,
            message: error.into(),
            exit_code: None,
            signal: None,
            stdout: String::new(),
            nearest: Box::default(),
            hint: None,
        }
    }

    /// Creates an [`ErrorCode::InvalidParams`] error: nothing was changed, and the call may work with other
    /// arguments.
    pub fn invalid(error: impl Into<String>) -> CallError {
        CallError::new(ErrorCode::InvalidParams, error)
    }

    /// Creates the error of a native tool that could not do its work. It counts as exit status 1.
    pub fn failed(error: impl Into<String>) -> CallError {
        CallError { exit_code: Some(1), ..CallError::new(ErrorCode::ToolCrashed, error) }
    }

    /// Adds names that are similar to an unknown one.
    #[must_use]
    pub fn with_nearest<'n>(mut self, nearest: impl IntoIterator<Item = &'n str>) -> CallError {
        self.nearest = nearest.into_iter().map(str::to_owned).collect();
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> CallError {
        self.hint = Some(hint.into().into_boxed_str());
        self
    }

    /// Returns the next step: the error's own hint, a similar name, or the usual remedy for its code.
    pub fn hint(&self) -> Option<String> {
        if let Some(hint) = &self.hint {
            return Some(hint.to_string());
        }
        if !self.nearest.is_empty() {
            return Some(format!("did you mean '{}'?", self.nearest.join("' or '")));
        }
        let hint = match self.code {
            ErrorCode::ToolNotFound => "`haft tool list` lists all tools",
            ErrorCode::InvalidParams => "`haft tool show NAME` shows the parameters",
            ErrorCode::ToolTimeout => {
                "allow more time with `--timeout`, or with \"timeout\" in the tool's schema"
            }
            ErrorCode::InvalidOutput => "`haft tool check NAME` tests the tool",
            ErrorCode::OutputLimit => {
                "allow more with `--limit-output`, or with \"output_limit\" in the tool's schema"
            }
            ErrorCode::NotTrusted => "`haft trust` shows the project's files and asks",
            ErrorCode::Disabled => "`haft tool list` shows rejected tools with the reason",
            ErrorCode::ToolCrashed | ErrorCode::Cancelled | ErrorCode::SpawnFailed => return None,
        };
        Some(hint.to_owned())
    }

    /// The exit status of a command that fails with this error.
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

    fn signal_status(&self) -> Option<i32> {
        let number = haft_process::signal_number(self.signal.as_deref()?.trim_start_matches("SIG"))?;
        Some(128 + number)
    }
}

impl Envelope {
    /// Creates the envelope of a failed call.
    pub fn failure(error: CallError) -> Envelope {
        Envelope::from(Err(error))
    }

    /// Returns true if the call succeeded.
    pub fn is_success(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The error code, if the call failed.
    pub fn code(&self) -> Option<ErrorCode> {
        self.outcome.as_ref().err().map(|error| error.code)
    }

    /// The exit status of a command with this result.
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
            content: None,
        }
    }
}

/// An [`Envelope`] as JSON: either `result`, or `error` and the fields up to `stdout`.
#[derive(Serialize, schemars::JsonSchema)]
struct SerializedEnvelope<'a> {
    /// Whether the call has a result.
    tool_success: bool,
    /// The tool's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    result: Option<Box<serde_json::value::RawValue>>,
    /// The failure and its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<ErrorCode>,
    /// The exit status of the tool's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<Option<i32>>,
    /// The signal that killed the tool's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<Option<&'a str>>,
    /// Standard output of a call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<&'a str>,
    /// Names of tools or parameters that are similar to an unknown one.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    nearest: &'a [String],
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Standard error of the tool.
    stderr: &'a str,
    /// Seconds from the call to the answer.
    duration: f64,
    /// Outputs that are shown only in part.
    #[serde(skip_serializing_if = "<[TruncatedOutput]>::is_empty")]
    truncated: &'a [TruncatedOutput],
    /// Remarks for the caller, such as a rejected tool of the same name.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

impl schemars::JsonSchema for Envelope {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Envelope".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SerializedEnvelope::json_schema(generator)
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = self.outcome.as_ref().err();
        let envelope = SerializedEnvelope {
            tool_success: self.is_success(),
            result: self.outcome.as_ref().ok().and_then(exact::raw),
            error: error.map(|error| error.message.as_str()),
            error_code: error.map(|error| error.code),
            exit_code: error.map(|error| error.exit_code),
            signal: error.map(|error| error.signal.as_deref()),
            stdout: error.map(|error| error.stdout.as_str()),
            nearest: error.map(|error| &*error.nearest).unwrap_or_default(),
            hint: error.and_then(CallError::hint),
            stderr: &self.stderr,
            duration: self.duration.as_micros() as f64 / 1e6,
            truncated: &self.truncated,
            notes: &self.notes,
        };
        envelope.serialize(serializer)
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
    fn codes_serialize_as_their_names() {
        for code in [ErrorCode::ToolNotFound, ErrorCode::OutputLimit, ErrorCode::NotTrusted] {
            assert_eq!(serde_json::to_value(code).expect("JSON"), code.as_str());
        }
    }
}
