//! Why trust could not be read or changed.

use std::io;
use std::path::Path;

use crate::printable::printable;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    #[source]
    source: Option<io::Error>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no directory for the store, since the user has no home.
    NoStateDirectory,
    /// The store cannot be read or written.
    Unreachable,
    /// The store is there but does not hold what it should.
    Damaged,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the user may do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(super) fn no_state_directory() -> Error {
        Error {
            kind: ErrorKind::NoStateDirectory,
            message: "there is no place to keep what is trusted".to_owned(),
            hint: Some("set HOME or XDG_STATE_HOME".to_owned()),
            source: None,
        }
    }

    pub(super) fn unreachable(doing: &str, path: &Path, error: io::Error) -> Error {
        let message = format!("cannot {doing} '{}': {error}", printable(path));
        Error { kind: ErrorKind::Unreachable, message, hint: None, source: Some(error) }
    }

    pub(super) fn damaged(path: &Path, error: &serde_json::Error) -> Error {
        Error {
            kind: ErrorKind::Damaged,
            message: format!("'{}' does not hold what is trusted: {error}", path.display()),
            hint: Some("move it away and trust again".to_owned()),
            source: None,
        }
    }
}
