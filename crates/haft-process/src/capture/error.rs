use std::io;

/// A failure to read an output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[error("{kind}")]
pub struct Error {
    kind: ErrorKind,
}

/// The kind of an [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The pattern of a search is invalid, or its compiled form is too large.
    #[error("invalid pattern: {0}")]
    Pattern(#[source] regex::Error),
    /// The spill file cannot be read.
    #[error("cannot read the spilled output: {0}")]
    Read(#[source] io::Error),
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}
