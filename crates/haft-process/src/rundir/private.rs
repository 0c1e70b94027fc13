//! Access to directories that only this user can change, without following symbolic links.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::error::{Error, ErrorKind};
use super::{CGROUPS_FILE, OWNER_FILE};
use crate::capture::random_word;

/// Opens the base directory, and creates it if it does not exist. Fails if it is not private.
pub(super) fn open_base(path: &Path) -> Result<OwnedFd, Error> {
    match mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(Error::base(path, error)),
    }
    open_existing_base(path)
}

/// Opens an existing base directory. Fails if it is not private.
pub(super) fn open_existing_base(path: &Path) -> Result<OwnedFd, Error> {
    let base = openat(CWD, path, DIRECTORY_FLAGS, Mode::empty()).map_err(|error| Error::base(path, error))?;
    let status = fstat(&base).map_err(|error| Error::base(path, error))?;
    if status.st_uid != geteuid().as_raw() {
        return Err(ErrorKind::ForeignBase { path: path.into(), owner: status.st_uid }.into());
    }
    let mode = status.st_mode & 0o7777;
    if mode & 0o022 != 0 {
        return Err(ErrorKind::OpenBase { path: path.into(), mode }.into());
    }
    Ok(base)
}

/// The prefix of the names of bases that are created for a single run.
fn base_prefix() -> String {
    format!("haft-{}-", geteuid().as_raw())
}

/// Returns an unpredictable name for a base.
pub(super) fn base_name() -> String {
    base_prefix() + &random_word(12)
}

/// Returns the bases in `parent` that this user created for single runs.
pub(crate) fn private_bases(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_private_base(path)).collect()
}

/// Removes a base that was created for a single run, if it is empty.
pub(crate) fn remove_private_base(path: &Path) {
    if is_private_base(path) {
        let _ = std::fs::remove_dir(path);
    }
}

fn is_private_base(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.and_then(|name| name.strip_prefix(&base_prefix())).is_some_and(|word| {
        word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

const DIRECTORY_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

pub(super) fn open_directory(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    openat(parent, name, DIRECTORY_FLAGS, Mode::empty())
}

/// Removes a run directory and its contents. Removes the list of control groups and the owner file last, so that a partly
/// removed directory is still recognised as stale.
pub(super) fn remove(base: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let last = [CGROUPS_FILE, OWNER_FILE];
    remove_contents(directory, MAX_DEPTH, &|name| last.iter().any(|kept| kept.as_bytes() == name))?;
    for name in last {
        ignore_missing(unlinkat(directory, name, AtFlags::empty()))?;
    }
    ignore_missing(unlinkat(base, name, AtFlags::REMOVEDIR))
}

/// Maximum depth of nested directories. haft does not nest them, and each level needs a descriptor.
const MAX_DEPTH: usize = 64;

fn remove_contents(
    directory: BorrowedFd<'_>,
    depth: usize,
    keep: &dyn Fn(&[u8]) -> bool,
) -> Result<(), Errno> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || keep(name.to_bytes()) {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            let status = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            kind = FileType::from_raw_mode(status.st_mode);
        }
        if kind == FileType::Directory {
            let depth = depth.checked_sub(1).ok_or(Errno::NAMETOOLONG)?;
            remove_contents(open_directory(directory, name)?.as_fd(), depth, &|_| false)?;
            ignore_missing(unlinkat(directory, name, AtFlags::REMOVEDIR))?;
        } else {
            ignore_missing(unlinkat(directory, name, AtFlags::empty()))?;
        }
    }
    Ok(())
}

/// Ignores the error for a file that does not exist.
fn ignore_missing(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
