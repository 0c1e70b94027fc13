//! Completion of file names.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use haft_kernel::Session;
use rustix::fs::{Access, access};

use super::quoting::TypedWord;

/// Which files to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFilter {
    All,
    Directories,
    /// Executables, and directories.
    Programs,
}

/// A file of a directory.
pub(super) struct MatchingFile {
    pub(super) name: Vec<u8>,
    pub(super) is_directory: bool,
}

/// The files that match a typed word. Hidden files match only a prefix with a dot.
pub(super) fn matching(session: &Session, typed: &TypedWord, wanted: FileFilter) -> Vec<MatchingFile> {
    let directory = session.resolve(typed.directory());
    let prefix = typed.name();
    let mut found = Vec::new();
    for (name, path) in entries(&directory, prefix) {
        let is_directory = path.is_dir();
        let fits = match wanted {
            FileFilter::All => true,
            FileFilter::Directories => is_directory,
            FileFilter::Programs => is_directory || is_program(&path),
        };
        if fits {
            found.push(MatchingFile { name, is_directory });
        }
    }
    found
}

/// The executables in a directory with a prefix.
pub(super) fn programs(directory: &[u8], prefix: &[u8]) -> Vec<Vec<u8>> {
    let programs = entries(directory, prefix).filter(|(_, path)| is_program(path) && !path.is_dir());
    programs.map(|(name, _)| name).collect()
}

fn entries(directory: &[u8], prefix: &[u8]) -> impl Iterator<Item = (Vec<u8>, std::path::PathBuf)> {
    let read = std::fs::read_dir(Path::new(OsStr::from_bytes(directory)));
    let named =
        read.into_iter().flatten().flatten().map(|entry| (entry.file_name().into_vec(), entry.path()));
    named.filter(move |(name, _)| {
        name.starts_with(prefix) && (prefix.starts_with(b".") || !name.starts_with(b"."))
    })
}

fn is_program(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}
