//! Walks directories and respects ignore files.

use std::path::{Component, Path, PathBuf};

use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};

use crate::envelope::CallError;
use crate::native::CallContext;

/// Which files to visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileFilter<'a> {
    /// Include hidden files.
    pub(super) hidden: bool,
    /// Include files that ignore files exclude.
    pub(super) ignored: bool,
    /// Glob pattern that names must match, in `.gitignore` syntax.
    pub(super) matching: Option<&'a str>,
}

/// Removes `.` components from a path.
pub(super) fn clean(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// Calls `visit` with every file, sorted by name, until it returns false. Returns how many entries could not
/// be read.
pub(super) fn files(
    root: &Path,
    filter: FileFilter<'_>,
    call: &CallContext<'_>,
    mut visit: impl FnMut(&DirEntry) -> Result<bool, CallError>,
) -> Result<usize, CallError> {
    let mut unreadable = 0;
    if let Err(error) = root.metadata() {
        return Err(super::failed("open", root, &error));
    }
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!filter.hidden)
        .standard_filters(false)
        .hidden(!filter.hidden)
        .ignore(!filter.ignored)
        .git_ignore(!filter.ignored)
        .git_exclude(!filter.ignored)
        .git_global(false)
        .parents(!filter.ignored)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    if let Some(pattern) = filter.matching {
        let bad = |error: ignore::Error| CallError::invalid(format!("parameter 'glob': {error}"));
        let mut overrides = OverrideBuilder::new(root);
        overrides.add(pattern).map_err(bad)?;
        builder.overrides(overrides.build().map_err(bad)?);
    }
    for entry in builder.build() {
        call.check()?;
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) && !visit(&entry)? {
            break;
        }
    }
    Ok(unreadable)
}

/// The path relative to the directory of the call, if it is beneath it.
pub(super) fn shown(path: &Path, call: &CallContext<'_>) -> String {
    path.strip_prefix(call.directory).unwrap_or(path).to_string_lossy().into_owned()
}
