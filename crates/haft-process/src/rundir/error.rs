use std::io;
use std::path::{Path, PathBuf};

/// Why a run directory could not be made, listed or removed.
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
    /// The base directory cannot be made or opened.
    #[error("cannot use '{path}' as a run directory: {source}", path = path.display())]
    Base {
        /// The base directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The base directory belongs to another user.
    #[error("cannot use '{path}' as a run directory: it belongs to user {owner}", path = path.display())]
    ForeignBase {
        /// The base directory.
        path: PathBuf,
        /// The user it belongs to.
        owner: u32,
    },
    /// Others may write into the base directory.
    #[error("cannot use '{path}' as a run directory: others can write to it (mode {mode:04o})", path = path.display())]
    OpenBase {
        /// The base directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Something in the run directory cannot be made.
    #[error("cannot create '{path}': {source}", path = path.display())]
    Create {
        /// What was to be made.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something in the run directory cannot be read.
    #[error("cannot read '{path}': {source}", path = path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The run directory cannot be removed as a whole.
    #[error("cannot remove '{path}': {source}", path = path.display())]
    Remove {
        /// The run directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// What went wrong.
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
