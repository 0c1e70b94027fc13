//! Errors of reading a file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_fs::ByteSize;

use crate::printable::printable;

/// A file cannot be read, with the reason and an optional hint.
#[derive(Clone, Debug)]
pub struct FileError {
    kind: FileErrorKind,
    path: PathBuf,
    reason: String,
    hint: Option<String>,
}

/// Why a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// It does not exist.
    NotFound,
    /// It is a directory, a FIFO, a socket or a device.
    NotRegular,
    /// It is larger than the limit.
    TooLarge,
    /// It is outside the directory that it must be in.
    OutsideDirectory,
    /// It or a parent directory belongs to another user, or other users may write to it.
    Unsafe,
    /// The file system did not answer in time.
    TimedOut,
    /// The system denies access, or reading failed.
    Unreadable,
}

impl FileError {
    fn new(kind: FileErrorKind, path: &Path, reason: String) -> FileError {
        FileError { kind, path: path.to_path_buf(), reason, hint: None }
    }

    /// Creates an error from a system error.
    #[expect(clippy::needless_pass_by_value, reason = "passed to `map_err`")]
    pub fn from_io(path: &Path, error: io::Error) -> FileError {
        let kind = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileErrorKind::NotFound,
            _ => FileErrorKind::Unreadable,
        };
        FileError::new(kind, path, system_message(&error))
    }

    pub(super) fn not_regular(path: &Path, word: &str) -> FileError {
        FileError::new(FileErrorKind::NotRegular, path, format!("it is {word}, not a regular file"))
    }

    pub(crate) fn too_large(path: &Path, limit: u64) -> FileError {
        let reason = format!("it is larger than {:.0}", ByteSize(limit));
        FileError::new(FileErrorKind::TooLarge, path, reason)
    }

    pub(super) fn outside(path: &Path, real: &Path) -> FileError {
        let reason = format!("it points outside the project, to '{}'", printable(real));
        FileError::new(FileErrorKind::OutsideDirectory, path, reason)
    }

    pub(super) fn broken_link(path: &Path) -> FileError {
        let reason = "it is a symbolic link to a file that does not exist".to_owned();
        FileError::new(FileErrorKind::Unreadable, path, reason)
    }

    pub(crate) fn timed_out(path: &Path, limit: Duration) -> FileError {
        let reason = format!("the file system did not answer within {} s", limit.as_secs());
        FileError::new(FileErrorKind::TimedOut, path, reason)
    }

    pub(super) fn unsafe_file(path: &Path, reason: String, hint: String) -> FileError {
        FileError { hint: Some(hint), ..FileError::new(FileErrorKind::Unsafe, path, reason) }
    }

    /// The kind of error.
    pub fn kind(&self) -> FileErrorKind {
        self.kind
    }

    /// The reason, without the name of the file.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// A command that would make the file readable.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Writes `cannot read "PATH": reason`.
impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot read '{}': {}", printable(&self.path), self.reason)
    }
}

impl std::error::Error for FileError {}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        let kind = match error.kind {
            FileErrorKind::NotFound => io::ErrorKind::NotFound,
            FileErrorKind::TimedOut => io::ErrorKind::TimedOut,
            FileErrorKind::TooLarge => io::ErrorKind::FileTooLarge,
            _ => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, error.reason)
    }
}

/// The system's message without the error number, starting in lower case.
fn system_message(error: &io::Error) -> String {
    let text = haft_fs::message(error);
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}
