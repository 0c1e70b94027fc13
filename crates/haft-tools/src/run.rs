//! Runs an executable tool.

use haft_process::capture::{CaptureLimits, Output, OutputView};
use haft_process::{Exit, Input, JobOutcome, Task};
use serde_json::Value;

use crate::call::CallSettings;
use crate::discover::{SealError, end_leftovers, tool_command};
use crate::envelope::{CallError, Envelope, ErrorCode, TruncatedOutput};
use crate::environment::with_tool_path;
use crate::exact;
use crate::registry::RegistryState;
use crate::text;
use crate::tool::{Tool, ToolFile};

/// Maximum size of an output in an envelope.
const MAX_SHOWN_BYTES: usize = OutputView::DEFAULT_BUDGET;

/// Runs a tool's executable and builds the envelope.
pub(crate) fn run_file(
    inner: &RegistryState,
    tool: &Tool,
    file: &ToolFile,
    arguments: &Value,
    settings: &CallSettings,
) -> Envelope {
    let sealed = match inner.sealed(file) {
        Ok(sealed) => sealed,
        Err(error) => return Envelope::failure(seal_error(tool, file, &error)),
    };
    let mut command = tool_command(&file.path, sealed);
    let environment = with_tool_path((*settings.environment).clone(), &file.path);
    command.environment(environment).working_directory(&settings.directory);
    let limit = usize::try_from(settings.output_limit).unwrap_or(usize::MAX);
    let input = exact::to_text(arguments).into_bytes();
    let task = Task::new(command)
        .input(Input::Bytes(input.into()))
        .capture_limits(CaptureLimits { head: limit.saturating_add(1), ..CaptureLimits::default() })
        .timeout(settings.timeout)
        .cancel(&settings.cancel);
    let mut outcome = match task.run(&inner.host) {
        Ok(outcome) => outcome,
        Err(error) => {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            return Envelope::failure(CallError::new(ErrorCode::SpawnFailed, format!("{error}{hint}")));
        }
    };
    end_leftovers(&mut outcome);
    ToolRun { inner, tool, settings, outcome: &outcome }.envelope()
}

/// The error if a project's tool cannot be sealed with its trusted content.
fn seal_error(tool: &Tool, file: &ToolFile, error: &SealError) -> CallError {
    let code = match error {
        SealError::Changed => ErrorCode::NotTrusted,
        SealError::Failed(_) => ErrorCode::SpawnFailed,
    };
    let path = haft_config::printable(&file.path);
    CallError::new(code, format!("cannot run tool '{}': '{path}': {error}", tool.name()))
}

/// A finished run of a tool.
struct ToolRun<'a> {
    inner: &'a RegistryState,
    tool: &'a Tool,
    settings: &'a CallSettings,
    outcome: &'a JobOutcome,
}

impl ToolRun<'_> {
    fn envelope(&self) -> Envelope {
        let mut truncated = Vec::new();
        let stderr = self.show("stderr", self.outcome.captured.stderr.as_ref(), &mut truncated);
        let outcome = self.result(&stderr).map_err(|(code, error)| CallError {
            exit_code: match self.outcome.exit {
                Exit::Code(code) if !self.was_stopped() => Some(code),
                _ => None,
            },
            signal: match self.outcome.exit {
                Exit::Signal(signal) => Some(text::signal(signal)),
                Exit::Code(_) => None,
            },
            stdout: self.show("stdout", self.outcome.captured.stdout.as_ref(), &mut truncated),
            ..CallError::new(code, error)
        });
        Envelope { stderr, truncated, ..Envelope::from(outcome) }
    }

    fn was_stopped(&self) -> bool {
        self.outcome.timed_out || self.outcome.cancelled
    }

    fn result(&self, stderr: &str) -> Result<Value, (ErrorCode, String)> {
        let name = self.tool.name();
        if self.outcome.timed_out {
            let waited = self.settings.timeout.as_secs_f64();
            return Err((ErrorCode::ToolTimeout, format!("tool '{name}' did not answer within {waited} s")));
        }
        if self.outcome.cancelled {
            return Err((ErrorCode::Cancelled, format!("the call of tool '{name}' was cancelled")));
        }
        if let Some(kind) = self.outcome.limits.ended_by {
            let message = format!("tool '{name}' was ended: {} limit exceeded", kind.name());
            return Err((ErrorCode::ToolCrashed, message));
        }
        let reason = text::last_line(stderr).map_or(String::new(), |line| format!(": {line}"));
        match self.outcome.exit {
            Exit::Code(0) => self.value(),
            Exit::Code(code) => {
                Err((ErrorCode::ToolCrashed, format!("tool '{name}' exited with {code}{reason}")))
            }
            Exit::Signal(signal) => {
                let signal = text::signal(signal);
                Err((ErrorCode::ToolCrashed, format!("tool '{name}' was killed by {signal}{reason}")))
            }
        }
    }

    /// Parses and validates the result.
    fn value(&self) -> Result<Value, (ErrorCode, String)> {
        let (name, limit) = (self.tool.name(), self.settings.output_limit);
        let Some(stdout) = &self.outcome.captured.stdout else {
            return Err((ErrorCode::InvalidOutput, format!("tool '{name}' wrote no JSON value")));
        };
        let total = stdout.total_bytes();
        if total > limit {
            return Err((
                ErrorCode::OutputLimit,
                format!("tool '{name}' wrote {total} bytes, the limit is {limit}"),
            ));
        }
        let bytes = stdout.slice(&OutputView::HeadAndTail, usize::try_from(total).unwrap_or(usize::MAX));
        let bytes = bytes.map(|slice| slice.to_bytes()).unwrap_or_default();
        let value =
            parse(&bytes).map_err(|error| (ErrorCode::InvalidOutput, format!("tool '{name}' {error}")))?;
        match self.tool.returns().map_or(Ok(()), |returns| returns.validate(&exact::rounded(&value))) {
            Ok(()) => Ok(value),
            Err(error) => Err((
                ErrorCode::InvalidOutput,
                format!("the result of tool '{name}' does not match its schema: {error}"),
            )),
        }
    }

    /// The displayed part of an output. A truncated output is kept.
    fn show(
        &self,
        stream: &'static str,
        output: Option<&Output>,
        truncated: &mut Vec<TruncatedOutput>,
    ) -> String {
        let Some(output) = output else { return String::new() };
        let Ok(slice) = output.slice(&OutputView::HeadAndTail, MAX_SHOWN_BYTES) else { return String::new() };
        if output.total_bytes() > MAX_SHOWN_BYTES as u64 {
            truncated.push(self.inner.keep(stream, output));
        }
        slice.to_text().text
    }
}

/// Parses exactly one JSON value.
fn parse(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("wrote invalid UTF-8 at byte {}", error.valid_up_to()))?;
    if text.trim().is_empty() {
        return Err("wrote no JSON value".to_owned());
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => {
            return Err(format!("wrote invalid JSON at byte {}: {error}", text::byte_of(text, &error)));
        }
        None => return Err("wrote no JSON value".to_owned()),
    };
    let end = values.byte_offset();
    if text[end..].trim().is_empty() {
        return Ok(exact::parse(text).unwrap_or(first));
    }
    Err(format!("wrote more than one JSON value: unexpected text at byte {end}"))
}
