//! Tools that run in this process.

use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use haft_process::capture::Output;
use haft_process::{CancelToken, Environment, Host};
use serde_json::Value;

use crate::envelope::{CallError, ErrorCode, TruncatedOutput};
use crate::registry::RegistryState;
use crate::tool::ToolDescriptor;

/// A tool that runs in this process. It has a descriptor and is called through the registry like any other
/// tool. An executable tool of the same name replaces it.
pub trait NativeTool: Debug + Send + Sync {
    /// The descriptor. Called once.
    fn descriptor(&self) -> ToolDescriptor;

    /// Runs the tool. The arguments match the schema and include its defaults.
    ///
    /// # Errors
    /// Returns the error to report to the caller.
    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError>;

    /// Whether the sandbox of the programs that the host starts also confines the tool itself. Default: true. A tool that
    /// only starts programs returns false, because they are confined anyway.
    fn is_confined(&self) -> bool {
        true
    }

    /// A result as text for a model, with a line in brackets for what the text does not show. Default: `None`, so that
    /// the caller shows the JSON.
    fn text(&self, _result: &Value) -> Option<String> {
        None
    }
}

/// Progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    /// Work done so far.
    pub done: f64,
    /// Total work, if known.
    pub total: Option<f64>,
    /// Description of the current step.
    pub message: Option<String>,
}

/// Formats the progress as one line.
impl fmt::Display for CallProgress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.total, &self.message) {
            (Some(total), Some(message)) => write!(formatter, "{}/{total} {message}", self.done),
            (Some(total), None) => write!(formatter, "{}/{total}", self.done),
            (None, Some(message)) => formatter.write_str(message),
            (None, None) => write!(formatter, "{}", self.done),
        }
    }
}

/// Context of a native tool's call.
pub struct CallContext<'a> {
    /// Base directory of relative paths.
    pub directory: &'a Path,
    /// Environment of the session, for programs that the tool starts.
    pub environment: &'a Environment,
    /// Starts processes.
    pub host: &'a Host,
    /// Cancels the call.
    pub cancel: &'a CancelToken,
    /// Deadline of the call.
    pub deadline: Instant,
    /// Receives progress reports.
    pub progress: &'a (dyn Fn(&CallProgress) + Sync),
    pub(crate) registry: &'a RegistryState,
    pub(crate) truncated: Mutex<Vec<TruncatedOutput>>,
    pub(crate) content: Mutex<Option<Value>>,
}

impl fmt::Debug for CallContext<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallContext").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl CallContext<'_> {
    /// Resolves a path relative to the directory of the call.
    pub fn path(&self, path: &str) -> PathBuf {
        self.directory.join(path)
    }

    /// Passes the content blocks of an MCP result to the envelope, for callers that speak MCP.
    pub fn pass_content(&self, content: Value) {
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = Some(content);
    }

    /// Keeps a truncated output. The envelope then refers to it.
    pub fn keep(&self, stream: &'static str, output: &Output) {
        let truncated = self.registry.keep(stream, output);
        self.truncated.lock().unwrap_or_else(PoisonError::into_inner).push(truncated);
    }

    /// Finds an output that an earlier result has truncated.
    pub fn output(&self, id: &str) -> Option<Output> {
        self.registry.outputs.get(id)
    }

    /// Checks the deadline and cancellation. Long loops call this regularly.
    ///
    /// # Errors
    /// Returns the error to return from the call.
    pub fn check(&self) -> Result<(), CallError> {
        if self.cancel.is_cancelled() {
            return Err(CallError::new(ErrorCode::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= self.deadline {
            return Err(CallError::new(ErrorCode::ToolTimeout, "the time limit was reached"));
        }
        Ok(())
    }
}
