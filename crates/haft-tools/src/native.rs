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

/// A tool without an executable. It is described by the same data as any other and called through the same registry;
/// a tool in a file of the same name takes its place.
pub trait NativeTool: Debug + Send + Sync {
    /// What it says of itself. Asked once.
    fn descriptor(&self) -> ToolDescriptor;

    /// Does its work, with arguments that fit its schema and have their defaults.
    ///
    /// # Errors
    /// Why it could not.
    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError>;
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    /// So much is done.
    pub done: f64,
    /// Of so much, where that is known.
    pub total: Option<f64>,
    /// What it does, in words.
    pub message: Option<String>,
}

/// CallProgress as a line for a person.
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

/// What a call in this process has around it.
pub struct CallContext<'a> {
    /// The directory that paths start from.
    pub directory: &'a Path,
    /// What the session exports, for programs that it starts.
    pub environment: &'a Environment,
    /// How processes are started.
    pub host: &'a Host,
    /// Cancelled when nobody wants the result any more.
    pub cancel: &'a CancelToken,
    /// When it has to be done.
    pub deadline: Instant,
    /// Is told how far the call is, where it can say.
    pub progress: &'a dyn Fn(&CallProgress),
    pub(crate) registry: &'a RegistryState,
    pub(crate) truncated: Mutex<Vec<TruncatedOutput>>,
}

impl fmt::Debug for CallContext<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallContext").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl CallContext<'_> {
    /// A path from the directory of the call.
    pub fn path(&self, path: &str) -> PathBuf {
        self.directory.join(path)
    }

    /// Keeps an output of which the result shows only a part: it is there under its name for a while, and the envelope
    /// tells of it.
    pub fn keep(&self, stream: &'static str, output: &Output) {
        let truncated = self.registry.keep(stream, output);
        self.truncated.lock().unwrap_or_else(PoisonError::into_inner).push(truncated);
    }

    /// An output that an earlier answer did not show whole.
    pub fn output(&self, id: &str) -> Option<Output> {
        self.registry.outputs.get(id)
    }

    /// Whether there is still time and somebody who wants the result; loops ask in every round.
    ///
    /// # Errors
    /// The failure to return.
    pub fn check(&self) -> Result<(), CallError> {
        if self.cancel.is_cancelled() {
            return Err(CallError::new(ErrorCode::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= self.deadline {
            return Err(CallError::new(ErrorCode::ToolTimeout, "its time was up"));
        }
        Ok(())
    }
}
