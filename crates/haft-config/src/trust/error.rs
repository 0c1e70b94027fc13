//! Errors of the trust store.

use std::io;
use std::path::Path;

use crate::printable::printable;

/// A failure to read or change the trust store.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    #[source]
    source: Option<io::Error>,
}

/// The kind of a trust store error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The state directory is unknown, because neither `HOME` nor `XDG_STATE_HOME` is set.
    NoStateDirectory,
    /// The trust store cannot be read or written.
    Io,
    /// The trust store is not valid.
    Corrupt,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(super) fn no_state_directory() -> Error {
        Error {
            kind: ErrorKind::NoStateDirectory,
            message: "no directory for the trust store".to_owned(),
            hint: Some("set HOME or XDG_STATE_HOME".to_owned()),
            source: None,
        }
    }

    pub(super) fn io(doing: &str, path: &Path, error: io::Error) -> Error {
        let message = format!("cannot {doing} '{}': {error}", printable(path));
        Error { kind: ErrorKind::Io, message, hint: None, source: Some(error) }
    }

    pub(super) fn corrupt(path: &Path, error: &serde_json::Error) -> Error {
        Error {
            kind: ErrorKind::Corrupt,
            message: format!("the trust store '{}' is not valid: {error}", path.display()),
            hint: Some("move it away and run `haft trust` again".to_owned()),
            source: None,
        }
    }
}
