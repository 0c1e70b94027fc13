use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::error::Error;
use super::{CGROUPS, OWNER, RunId, private};

/// The directory of a run whose owner is dead. While this exists no other cleaner sees it.
#[derive(Debug)]
pub struct StaleRun {
    id: RunId,
    path: PathBuf,
    base: OwnedFd,
    directory: OwnedFd,
    _lock: OwnedFd,
}

/// Finds the runs below `base` whose owners are dead, however they died. Those another cleaner is at are left to it, and
/// directories without anything in them are removed on the way. A base that does not exist has none.
///
/// # Errors
/// When the base cannot be opened or read, belongs to somebody else or can be written by others.
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

/// The paths that stand one after another, each ended by a zero byte; one without its end is left out.
pub(crate) fn paths(notes: &[u8]) -> impl Iterator<Item = PathBuf> {
    let whole = notes.split_inclusive(|byte| *byte == 0).filter_map(|note| note.strip_suffix(b"\0"));
    whole.map(|note| PathBuf::from(OsString::from_vec(note.to_vec())))
}

/// Locks the owner file of a run, unless its owner or another cleaner has it, or has just removed it. Whatever goes
/// wrong here means that the run is not ours to clean.
fn take_over(base: BorrowedFd<'_>, name: &str) -> Option<(OwnedFd, OwnedFd)> {
    let directory = private::open_directory(base, name).ok()?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = match openat(&directory, OWNER, flags, Mode::empty()) {
        Ok(lock) => lock,
        Err(Errno::NOENT) => {
            // Only an empty directory goes this way: an owner that is just starting notices, and begins anew.
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
    /// The name of the run, which its processes carry as well.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Where its directory is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The cgroups it noted, in that order.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn cgroups(&self) -> Result<Vec<PathBuf>, Error> {
        let failed = |error: std::io::Error| Error::read(&self.path.join(CGROUPS), error);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, CGROUPS, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error.into())),
        };
        let mut notes = Vec::new();
        File::from(file).read_to_end(&mut notes).map_err(failed)?;
        // A note without its end was being written when the owner died, before the cgroup was made.
        Ok(paths(&notes).collect())
    }

    /// Removes the directory with everything in it.
    ///
    /// # Errors
    /// When something in it cannot be removed; it stays stale then.
    pub fn remove(self) -> Result<(), Error> {
        private::remove(self.base.as_fd(), self.directory.as_fd(), self.id.as_str())
            .map_err(|error| Error::remove(&self.path, error))
    }
}
