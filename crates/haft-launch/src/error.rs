//! Launch errors.

use std::fmt::Display;

/// A launch error with an optional hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The kind of a launch error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration is wrong.
    Configuration,
    /// A name is unknown or ambiguous.
    Name,
    /// Several agents are installed and none was chosen.
    Undecided(Vec<String>),
    /// A required role, context or task cannot be built.
    MissingText,
    /// The project's configuration runs programs or instructs the agent, and is not trusted.
    Untrusted,
    /// The prompt or role does not fit into any delivery that the agent accepts.
    Size,
    /// A file for the agent cannot be written.
    File,
    /// The agent's program does not exist.
    AgentNotFound,
    /// The agent's program cannot be executed.
    AgentNotRunnable,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Display) -> Error {
        Error { kind, message: message.to_string(), hint: None }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Display) -> Error {
        self.hint = Some(hint.to_string());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The exit status: 127 if the agent does not exist, 126 if it cannot be executed, otherwise 2.
    pub fn exit_code(&self) -> i32 {
        match self.kind {
            ErrorKind::AgentNotFound => 127,
            ErrorKind::AgentNotRunnable => 126,
            _ => 2,
        }
    }
}

impl From<haft_config::Error> for Error {
    fn from(error: haft_config::Error) -> Error {
        let hint = error.hint().map(str::to_owned);
        Error { kind: ErrorKind::Configuration, message: error.to_string(), hint }
    }
}
