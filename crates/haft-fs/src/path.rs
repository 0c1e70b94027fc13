//! Paths taken apart.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

use rustix::io::Errno;

use crate::error::fail;

/// How many symbolic links are followed before a path is taken to be a loop.
pub(crate) const LINK_LIMIT: usize = 40;

/// Refuses what no file system can name: relative paths and paths with a zero byte; the empty path is not there.
pub(crate) fn require_absolute(path: &Path) -> io::Result<()> {
    let bytes = path.as_os_str().as_bytes();
    match bytes.first() {
        None => fail(Errno::NOENT),
        Some(b'/') if !bytes.contains(&0) => Ok(()),
        Some(_) => fail(Errno::INVAL),
    }
}

/// A step on the way along a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// `..`.
    Up,
    /// A name.
    Into(OsString),
}

/// The steps of a path, from its root.
pub(crate) fn steps(path: &Path) -> VecDeque<Step> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Into(OsString::from_vec(name.as_bytes().to_vec()))),
            _ => None,
        })
        .collect()
}

/// Puts the steps of a link's target before the rest of the way.
pub(crate) fn splice(rest: &mut VecDeque<Step>, target: &Path) {
    for step in steps(target).into_iter().rev() {
        rest.push_front(step);
    }
}

/// Whether the path demands a directory: it ends in a slash, `.` or `..`.
pub(crate) fn demands_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes.ends_with(b"/..")
}
