//! Removal of files and trees, for `rm` and `mv`.

use std::io;

use super::run::{join, without_trailing_slashes};
use crate::text::streams::{Stop, TextRun};

/// The options of a removal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removal {
    pub(crate) recursive: bool,
    /// Missing files are not errors.
    pub(crate) force: bool,
    /// Empty directories are removed too.
    pub(crate) empty_directories: bool,
    pub(crate) verbose: bool,
}

impl Removal {
    /// Removes everything silently.
    pub(crate) fn all() -> Self {
        Self { recursive: true, force: false, empty_directories: false, verbose: false }
    }
}

/// Removes a file, or a tree if the removal is recursive. Returns whether it is gone.
pub(crate) fn remove_tree(run: &mut TextRun<'_, '_>, name: &[u8], removal: &Removal) -> Result<bool, Stop> {
    run.context.check()?;
    let metadata = match run.lstat(name) {
        Ok(metadata) => metadata,
        Err(error) if removal.force && is_missing(&error) => return Ok(true),
        Err(error) => return Ok(failed(run, name, &error)),
    };
    if !metadata.is_dir() {
        return remove_one(run, name, removal, "removed");
    }
    if !removal.recursive {
        if removal.empty_directories {
            let is_full = run.names_in(name)?.is_ok_and(|names| !names.is_empty());
            if is_full {
                return Ok(failed(run, name, &rustix::io::Errno::NOTEMPTY.into()));
            }
            return remove_one(run, name, removal, "removed directory");
        }
        return Ok(failed(run, name, &rustix::io::Errno::ISDIR.into()));
    }
    let names = match run.names_in(name)? {
        Ok(names) => names,
        // An unreadable directory can be removed if it is empty.
        Err(error) => match run.files().remove_dir(&run.path(name)) {
            Ok(()) => return report(run, name, removal, "removed directory").map(|()| true),
            Err(_) => return Ok(failed(run, name, &error)),
        },
    };
    let mut all = true;
    for entry in names {
        all &= remove_tree(run, &join(name, &entry), removal)?;
    }
    match all {
        true => remove_one(run, name, removal, "removed directory"),
        false => Ok(false),
    }
}

/// Whether an error says that there is no such file.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn failed(run: &mut TextRun<'_, '_>, name: &[u8], error: &io::Error) -> bool {
    run.name_failed("cannot remove", name, error);
    false
}

fn remove_one(run: &mut TextRun<'_, '_>, name: &[u8], removal: &Removal, verb: &str) -> Result<bool, Stop> {
    // The system would follow a symbolic link with a slash after its name.
    let is_link = name.ends_with(b"/")
        && run.lstat(without_trailing_slashes(name)).is_ok_and(|found| found.is_symlink());
    let result = match is_link {
        true => Err(rustix::io::Errno::NOTDIR.into()),
        false => run.files().remove(&run.path(name)),
    };
    match result {
        Ok(()) => report(run, name, removal, verb).map(|()| true),
        Err(error) if removal.force && is_missing(&error) => Ok(true),
        Err(error) => Ok(failed(run, name, &error)),
    }
}

fn report(run: &mut TextRun<'_, '_>, name: &[u8], removal: &Removal, verb: &str) -> Result<(), Stop> {
    if !removal.verbose {
        return Ok(());
    }
    let shown = run.shown(name);
    run.write(format!("{verb} {shown}\n").as_bytes())
}
