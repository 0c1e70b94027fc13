use std::io;

/// Why a view of an output could not be given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[error("{kind}")]
pub struct Error {
    kind: ErrorKind,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The pattern of a search is not a regular expression, or compiles to too large a one.
    #[error("cannot use the pattern: {0}")]
    Pattern(#[source] regex::Error),
    /// The spill file could not be read back.
    #[error("cannot read the spilled output: {0}")]
    Read(#[source] io::Error),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}
