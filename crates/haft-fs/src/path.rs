//! Splitting paths into steps.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

use rustix::io::Errno;

use crate::error::fail;

/// Maximum number of symbolic links in a path, as in the kernel.
pub(crate) const MAX_SYMLINKS: usize = 40;

/// Fails with `EINVAL` for relative paths and paths with a NUL byte, and with `ENOENT` for the empty path.
pub(crate) fn require_absolute(path: &Path) -> io::Result<()> {
    let bytes = path.as_os_str().as_bytes();
    match bytes.first() {
        None => fail(Errno::NOENT),
        Some(b'/') if !bytes.contains(&0) => Ok(()),
        Some(_) => fail(Errno::INVAL),
    }
}

/// One component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// `..`.
    Parent,
    /// A name.
    Name(OsString),
}

/// Returns the components of a path, without the root.
pub(crate) fn steps(path: &Path) -> VecDeque<PathStep> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(PathStep::Parent),
            Component::Normal(name) => Some(PathStep::Name(OsString::from_vec(name.as_bytes().to_vec()))),
            _ => None,
        })
        .collect()
}

/// Inserts the components of a symbolic link's target before the remaining ones.
pub(crate) fn push_target(rest: &mut VecDeque<PathStep>, target: &Path) {
    for step in steps(target).into_iter().rev() {
        rest.push_front(step);
    }
}

/// Whether the path must be a directory, because it ends in a slash, `.` or `..`.
pub(crate) fn requires_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes.ends_with(b"/..")
}
