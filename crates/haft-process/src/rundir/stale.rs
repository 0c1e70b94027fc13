use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::error::Error;
use super::{CGROUPS_FILE, OWNER_FILE, RunId, private};

/// The directory of a run whose owner has ended. It is locked, so that no other cleaner takes it.
#[derive(Debug)]
pub struct StaleRun {
    id: RunId,
    path: PathBuf,
    base: OwnedFd,
    directory: OwnedFd,
    _lock: OwnedFd,
}

/// Finds the runs in `base` whose owners have ended. Skips runs that another cleaner has locked, and removes empty directories.
/// Returns none if `base` does not exist.
///
/// # Errors
/// Fails if `base` cannot be opened or read, or is owned or writable by another user.
pub fn stale(base: &Path) -> Result<Vec<StaleRun>, Error> {
    if matches!(rustix::fs::lstat(base), Err(Errno::NOENT)) {
        return Ok(Vec::new());
    }
    let base_directory = private::open_existing_base(base)?;
    let mut runs = Vec::new();
    for entry in Dir::read_from(&base_directory).map_err(|error| Error::read(base, error))? {
        let entry = entry.map_err(|error| Error::read(base, error))?;
        let Some(id) = entry.file_name().to_str().ok().and_then(RunId::parse) else { continue };
        let path = base.join(id.as_str());
        if let Some((directory, lock)) = take_over(base_directory.as_fd(), id.as_str()) {
            let base = base_directory.try_clone().map_err(|error| Error::read(&path, error))?;
            runs.push(StaleRun { id, path, base, directory, _lock: lock });
        }
    }
    Ok(runs)
}

/// Splits NUL-terminated paths. Omits a last path without a NUL.
pub(crate) fn paths(records: &[u8]) -> impl Iterator<Item = PathBuf> {
    let complete = records.split_inclusive(|byte| *byte == 0).filter_map(|record| record.strip_suffix(b"\0"));
    complete.map(|record| PathBuf::from(OsString::from_vec(record.to_vec())))
}

/// Locks the owner file of a run. Returns `None` if the owner or another cleaner has locked or removed it, and on any other
/// error.
fn take_over(base: BorrowedFd<'_>, name: &str) -> Option<(OwnedFd, OwnedFd)> {
    let directory = private::open_directory(base, name).ok()?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = match openat(&directory, OWNER_FILE, flags, Mode::empty()) {
        Ok(lock) => lock,
        Err(Errno::NOENT) => {
            // Removes only an empty directory. An owner that is just starting notices it and starts again.
            let _ = unlinkat(base, name, AtFlags::REMOVEDIR);
            return None;
        }
        Err(_) => return None,
    };
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
    let removed = fstat(&lock).ok()?.st_nlink == 0;
    (!removed).then_some((directory, lock))
}

impl StaleRun {
    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the recorded control groups, in order.
    ///
    /// # Errors
    /// Fails if the list cannot be read.
    pub fn cgroups(&self) -> Result<Vec<PathBuf>, Error> {
        let failed = |error: std::io::Error| Error::read(&self.path.join(CGROUPS_FILE), error);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, CGROUPS_FILE, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error.into())),
        };
        let mut records = Vec::new();
        File::from(file).read_to_end(&mut records).map_err(failed)?;
        // The owner ended while it wrote an incomplete record, before it created the group.
        Ok(paths(&records).collect())
    }

    /// Removes the directory and its contents.
    ///
    /// # Errors
    /// Fails if a file cannot be removed. The directory stays stale then.
    pub fn remove(self) -> Result<(), Error> {
        private::remove(self.base.as_fd(), self.directory.as_fd(), self.id.as_str())
            .map_err(|error| Error::remove(&self.path, error))
    }
}
