//! Run directories: private directories that exist as long as their owner runs.
//!
//! Each run has a directory in a base directory, named by its [`RunId`]. It contains spilled outputs, a list of the control
//! groups that the run created, and a file that the owner keeps locked. The kernel releases the lock when the owner ends,
//! for whatever reason, even if its pid is reused. A directory whose lock can be taken is therefore [stale].
//!
//! Other users cannot interfere: the base must be owned by this user and not writable by others, symbolic links are not
//! followed, and all files are accessible to the owner only.
//!
//! A directory without a lock may belong to an owner that is just starting. If a cleaner removes it, the owner notices:
//! it checks after locking that the file still exists, and starts again with another name if it does not.

mod error;
mod id;
mod private;
mod stale;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat};
use rustix::io::Errno;

use crate::capture::SpillDirectory;

pub use error::{Error, ErrorKind};
pub use id::RunId;
pub(crate) use private::{private_bases, remove_private_base};
pub(crate) use stale::paths;
pub use stale::{StaleRun, stale};

/// The file that the owner keeps locked.
const OWNER_FILE: &str = "owner";
/// The list of control groups.
const CGROUPS_FILE: &str = "cgroups";

/// The directory of an active run. Dropping it removes the directory and its contents.
#[derive(Debug)]
pub struct RunDirectory {
    id: RunId,
    path: PathBuf,
    base: OwnedFd,
    /// The path of the base, if it was created for this run and must be removed with it.
    own_base: Option<PathBuf>,
    directory: OwnedFd,
    /// Close-on-exec, so that no child keeps the lock.
    _lock: OwnedFd,
}

impl RunDirectory {
    /// Creates a run directory in `base`. Creates `base` if only its last component is missing.
    ///
    /// # Errors
    /// Fails if `base` cannot be created or opened, is owned or writable by another user, or if no directory can be created
    /// and locked in it.
    pub fn create(base: &Path) -> Result<Self, Error> {
        /// An attempt fails only if a cleaner removes the directory between two system calls. On a busy machine that can
        /// happen several times in a row.
        const MAX_ATTEMPTS: usize = 1000;
        let base_directory = private::open_base(base)?;
        for _ in 0..MAX_ATTEMPTS {
            let id = RunId::new();
            let path = base.join(id.as_str());
            if let Some((directory, lock)) =
                claim(&base_directory, &id).map_err(|error| Error::create(&path, error))?
            {
                return Ok(Self { id, path, base: base_directory, directory, own_base: None, _lock: lock });
            }
            std::thread::yield_now();
        }
        Err(Error::create(base, io::ErrorKind::ResourceBusy.into()))
    }

    /// Creates a run directory in a new base with a random name in `parent`, which is removed with it.
    ///
    /// # Errors
    /// Fails if no directory can be created and locked in `parent`.
    pub fn create_private(parent: &Path) -> Result<Self, Error> {
        let base = parent.join(private::base_name());
        let mut run = Self::create(&base).inspect_err(|_| remove_private_base(&base))?;
        run.own_base = Some(base);
        Ok(run)
    }

    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory for spilled outputs.
    ///
    /// # Errors
    /// Fails if the system has no descriptors left.
    pub fn spill_directory(&self) -> Result<SpillDirectory, Error> {
        let directory = self.directory.try_clone().map_err(|error| Error::create(&self.path, error))?;
        Ok(SpillDirectory::new(directory, &self.path))
    }

    /// Records a control group, so that it can be emptied and removed after the owner was killed. Must be called before the
    /// group is created.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn record_cgroup(&self, cgroup: &Path) -> Result<(), Error> {
        let record = [cgroup.as_os_str().as_bytes(), b"\0"].concat();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = openat(&self.directory, CGROUPS_FILE, flags, Mode::RUSR | Mode::WUSR)
            .and_then(|file| rustix::io::write(file, &record));
        match written {
            Ok(count) if count == record.len() => Ok(()),
            Ok(_) => Err(Error::create(&self.path.join(CGROUPS_FILE), io::ErrorKind::WriteZero.into())),
            Err(error) => Err(Error::create(&self.path.join(CGROUPS_FILE), error.into())),
        }
    }

    /// Removes the directory and its contents. Dropping does the same, but ignores errors.
    ///
    /// # Errors
    /// Fails if a file cannot be removed.
    pub fn remove(self) -> Result<(), Error> {
        self.clear()
    }

    fn clear(&self) -> Result<(), Error> {
        private::remove(self.base.as_fd(), self.directory.as_fd(), self.id.as_str())
            .map_err(|error| Error::remove(&self.path, error))?;
        self.own_base.iter().for_each(|base| remove_private_base(base));
        Ok(())
    }
}

impl Drop for RunDirectory {
    /// Ignores errors, because the next start removes stale directories.
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

/// Creates the directory and locks its owner file. Returns `None` if a cleaner has removed it meanwhile.
fn claim(base: &OwnedFd, id: &RunId) -> io::Result<Option<(OwnedFd, OwnedFd)>> {
    mkdirat(base, id.as_str(), Mode::RWXU)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = private::open_directory(base.as_fd(), id.as_str()).and_then(|directory| {
        Ok((openat(&directory, OWNER_FILE, flags, Mode::RUSR | Mode::WUSR)?, directory))
    });
    let (lock, directory) = match opened {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if fstat(&lock)?.st_nlink > 0 => Ok(Some((directory, lock))),
        Ok(()) | Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
