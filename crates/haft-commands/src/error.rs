//! Errors in the arguments of a command.

use std::fmt;

/// An error in the arguments of a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// The message of GNU's programs.
    gnu_message: Option<String>,
    hint: Option<String>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An unknown parameter or an unexpected argument.
    Unknown,
    /// A required parameter or its value is missing.
    Missing,
    /// A value has the wrong type.
    Value,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), gnu_message: None, hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Adds the message of GNU's programs.
    pub(crate) fn in_words_of_gnu(mut self, message: impl fmt::Display) -> Self {
        self.gnu_message = Some(message.to_string());
        self
    }

    /// The same, unless it has one.
    pub(crate) fn or_in_words_of_gnu(mut self, message: impl FnOnce() -> String) -> Self {
        self.gnu_message.get_or_insert_with(message);
        self
    }

    /// The message of GNU's programs, if it is known, else haft's own.
    pub(crate) fn gnu_message(&self) -> &str {
        self.gnu_message.as_deref().unwrap_or(&self.message)
    }

    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// How to fix it, if that is known.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
