//! A private directory for as long as its owner lives, and what dead owners left behind.
//!
//! Each run has a directory of its own below a base directory, named by the [`RunId`]. It holds the spilled outputs, a
//! list of the cgroups the run has made and a file that its owner keeps locked. The kernel drops the lock with the owner,
//! however it dies and whoever gets its process id afterwards: a directory whose lock can be taken is [stale].
//!
//! Nobody else can have a hand in it: the base must belong to this user and be writable by no other, no symbolic link is
//! followed on the way, and everything is made for the owner alone.
//!
//! A directory without a locked file may be one whose owner is just starting. No cleaner takes such a one away from it
//! unnoticed: the owner checks, once it has the lock, that the file is still there, and begins anew with another name if
//! it is not.

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

const OWNER: &str = "owner";
const CGROUPS: &str = "cgroups";

/// The directory of a living run. It is removed, with everything in it, when this is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    id: RunId,
    path: PathBuf,
    base: OwnedFd,
    /// Where the base is, if it was made for this run alone and goes with it.
    own_base: Option<PathBuf>,
    directory: OwnedFd,
    /// Closed on `exec`, so that the lock never outlives the owner in a child.
    _lock: OwnedFd,
}

impl RunDirectory {
    /// Makes a new one below `base`, which is made as well if only its last component is missing.
    ///
    /// # Errors
    /// When the base cannot be made or opened, belongs to somebody else or can be written by others, or when nothing can
    /// be created or locked in it.
    pub fn create(base: &Path) -> Result<Self, Error> {
        /// Each attempt fails only if a cleaner came by in the very moment between two calls of it, which on a busy machine
        /// may be a long one.
        const ATTEMPTS: usize = 1000;
        let base_directory = private::open_base(base)?;
        for _ in 0..ATTEMPTS {
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

    /// Makes a new one below a base of its own, which has a random name in `parent` and is removed with it.
    ///
    /// # Errors
    /// When nothing can be created or locked in `parent`.
    pub fn create_private(parent: &Path) -> Result<Self, Error> {
        let base = parent.join(private::base_name());
        let mut run = Self::create(&base).inspect_err(|_| remove_private_base(&base))?;
        run.own_base = Some(base);
        Ok(run)
    }

    /// The name of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Where the directory is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory as a place for outputs that outgrow memory.
    ///
    /// # Errors
    /// When no descriptor is to be had.
    pub fn spill_directory(&self) -> Result<SpillDirectory, Error> {
        let directory = self.directory.try_clone().map_err(|error| Error::create(&self.path, error))?;
        Ok(SpillDirectory::new(directory, &self.path))
    }

    /// Notes a cgroup, so that it can be emptied and removed even if the owner dies. To be called before it is made.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn note_cgroup(&self, cgroup: &Path) -> Result<(), Error> {
        let note = [cgroup.as_os_str().as_bytes(), b"\0"].concat();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = openat(&self.directory, CGROUPS, flags, Mode::RUSR | Mode::WUSR)
            .and_then(|file| rustix::io::write(file, &note));
        match written {
            Ok(count) if count == note.len() => Ok(()),
            Ok(_) => Err(Error::create(&self.path.join(CGROUPS), io::ErrorKind::WriteZero.into())),
            Err(error) => Err(Error::create(&self.path.join(CGROUPS), error.into())),
        }
    }

    /// Removes the directory with everything in it, as dropping it does, and says when that did not work.
    ///
    /// # Errors
    /// When something in it cannot be removed.
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
    /// What cannot be removed now, the next start cleans.
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

/// Makes the directory and locks its owner file; `None` if a cleaner took it away meanwhile.
fn claim(base: &OwnedFd, id: &RunId) -> io::Result<Option<(OwnedFd, OwnedFd)>> {
    mkdirat(base, id.as_str(), Mode::RWXU)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = private::open_directory(base.as_fd(), id.as_str())
        .and_then(|directory| Ok((openat(&directory, OWNER, flags, Mode::RUSR | Mode::WUSR)?, directory)));
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
