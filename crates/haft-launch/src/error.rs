//! Why an agent was not launched.

use std::fmt::Display;

/// A launch that did not come about.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration is wrong.
    Configuration,
    /// A name that nothing has, or several have.
    Name,
    /// Several agents could be meant: these.
    Undecided(Vec<String>),
    /// A role, context or task that has to be there cannot be made.
    MissingText,
    /// The project's configuration can run programs and is not trusted.
    Untrusted,
    /// The prompt or role does not fit in any way that the agent takes it.
    Size,
    /// A file for the agent cannot be made.
    File,
    /// The agent is not there.
    AgentNotFound,
    /// The agent is there and cannot be run.
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

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// What the user may do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The status to exit with: 127 for an agent that is not there, 126 for one that cannot be run, else 2.
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
