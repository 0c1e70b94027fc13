use std::io;
use std::path::{Path, PathBuf};

/// A failure to create, list or remove run directories.
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
    /// The base directory cannot be created or opened.
    #[error("cannot use '{path}' as a run directory: {source}", path = path.display())]
    Base {
        /// The base directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The base directory belongs to another user.
    #[error("cannot use '{path}' as a run directory: it is owned by user {owner}", path = path.display())]
    ForeignBase {
        /// The base directory.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
    },
    /// Other users can write to the base directory.
    #[error("cannot use '{path}' as a run directory: other users can write to it (mode {mode:04o})", path = path.display())]
    OpenBase {
        /// The base directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A file or directory cannot be created.
    #[error("cannot create '{path}': {source}", path = path.display())]
    Create {
        /// The file or directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A file or directory cannot be read.
    #[error("cannot read '{path}': {source}", path = path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The run directory cannot be removed completely.
    #[error("cannot remove '{path}': {source}", path = path.display())]
    Remove {
        /// The run directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    pub(super) fn base(path: &Path, source: impl Into<io::Error>) -> Self {
        ErrorKind::Base { path: path.into(), source: source.into() }.into()
    }

    pub(super) fn create(path: &Path, source: io::Error) -> Self {
        ErrorKind::Create { path: path.into(), source }.into()
    }

    pub(super) fn read(path: &Path, source: impl Into<io::Error>) -> Self {
        ErrorKind::Read { path: path.into(), source: source.into() }.into()
    }

    pub(super) fn remove(path: &Path, source: impl Into<io::Error>) -> Self {
        ErrorKind::Remove { path: path.into(), source: source.into() }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}
