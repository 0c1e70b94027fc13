//! Errors of overlays.

use std::io;
use std::path::{Path, PathBuf};

use haft_process::reason;

use crate::conflict::Conflict;

/// Why an operation on an overlay failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed. The text completes "cannot …".
    #[error("cannot {doing} '{}': {}", path.display(), reason(source))]
    File {
        /// The operation that failed, such as "open".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The namespace cannot be created.
    #[error(transparent)]
    Namespace(#[from] haft_process::Error),
    /// No overlay has this id or name.
    #[error("no overlay '{0}'")]
    Unknown(String),
    /// The overlay cannot be opened over this directory.
    #[error("cannot open an overlay of '{}': {why}", tree.display())]
    Unsuitable {
        /// The directory.
        tree: PathBuf,
        /// The reason.
        why: String,
    },
    /// The directory is overlaid only if it is named.
    #[error("'{}' is overlaid only if it is named", .0.display())]
    TooBroad(PathBuf),
    /// A process uses the overlay.
    #[error("overlay '{0}' is in use")]
    InUse(String),
    /// The operation does not fit the overlay's state.
    #[error("overlay '{id}' {why}")]
    State {
        /// The id.
        id: String,
        /// Its state, as "is …".
        why: &'static str,
    },
    /// Files of the real tree have changed since the overlay was opened.
    #[error("{}", describe(.0))]
    Conflicts(Vec<Conflict>),
    /// A pattern is not valid.
    #[error("invalid pattern '{pattern}': {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// A record in the state directory cannot be read.
    #[error("the record '{}' is damaged: {why}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

impl Error {
    /// Makes a function that turns an error of the system into an [`Error::File`].
    pub(crate) fn file<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> Error {
        move |source| Error::File { doing, path: path.to_owned(), source: source.into() }
    }

    /// A suggestion for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Namespace(error) => error.hint().map(str::to_owned),
            Error::Unknown(_) => Some("'haft changes' lists all overlays".to_owned()),
            Error::Conflicts(_) => {
                Some("'--force' overwrites them; '--except PATTERN' leaves them out".to_owned())
            }
            _ => None,
        }
    }
}

fn describe(conflicts: &[Conflict]) -> String {
    let count = conflicts.len();
    let files = if count == 1 { "1 file has".to_owned() } else { format!("{count} files have") };
    let mut text = format!("{files} changed outside of the overlay:");
    for conflict in conflicts.iter().take(10) {
        text.push_str(&format!("\n  {conflict}"));
    }
    if count > 10 {
        text.push_str(&format!("\n  and {} more", count - 10));
    }
    text
}
