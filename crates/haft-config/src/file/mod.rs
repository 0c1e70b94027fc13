//! Reads files that another user may have created.
//!
//! A repository can hold a `config.toml` that is a FIFO, a link to `/dev/zero`, a link to a private key, or fifty
//! gigabytes long. [`FileRules::open`] refuses all of these before a byte is read, and [`FileRules::read`] reads no more
//! than the limit and waits no longer than [`READ_TIMEOUT`].
//!
//! ```
//! use haft_config::{FileErrorKind, FileRules};
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("notes.md");
//! std::fs::write(&path, "12345")?;
//! assert_eq!(FileRules::up_to(5).read(&path)?, b"12345");
//! assert_eq!(FileRules::up_to(4).read(&path).unwrap_err().kind(), FileErrorKind::TooLarge);
//! assert_eq!(FileRules::up_to(4).read(directory.path()).unwrap_err().kind(), FileErrorKind::NotRegular);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod owner;
#[cfg(test)]
mod tests;

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

pub use error::{FileError, FileErrorKind};
pub use owner::Owners;

/// Maximum size of a configuration file.
pub const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Maximum size of a file whose text goes into a prompt.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;
/// Maximum size of a file that haft writes for itself: the trust store and caches.
pub const MAX_STATE_BYTES: u64 = 64 << 20;
/// Maximum size of a program that runs as a tool.
pub const MAX_PROGRAM_BYTES: u64 = 1 << 30;
/// Time limit for reading a file. A network file system may never answer.
pub const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for hashing a file of up to [`MAX_PROGRAM_BYTES`].
pub(crate) const HASH_TIMEOUT: Duration = Duration::from_secs(60);

/// Conditions a file must meet to be read.
#[derive(Clone, Debug)]
pub struct FileRules {
    limit: u64,
    beneath: Option<PathBuf>,
    pipe: bool,
    owners: Option<Owners>,
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub struct RegularFile {
    /// The open file.
    pub file: File,
    /// Its metadata when it was opened.
    pub metadata: Metadata,
}

impl FileRules {
    /// Accepts a regular file of at most `limit` bytes.
    pub fn up_to(limit: u64) -> FileRules {
        FileRules { limit, beneath: None, pipe: false, owners: None }
    }

    /// Requires the file to be beneath a directory after symbolic links are resolved.
    #[must_use]
    pub fn beneath(mut self, directory: &Path) -> FileRules {
        self.beneath = Some(directory.to_path_buf());
        self
    }

    /// Requires the file and every directory above it to belong to these owners and to be writable only by
    /// them.
    #[must_use]
    pub fn owned_by(mut self, owners: &Owners) -> FileRules {
        self.owners = Some(owners.clone());
        self
    }

    /// Also accepts a pipe, such as the `/dev/fd/63` of a process substitution, for a file that the user names.
    #[must_use]
    pub fn or_pipe(mut self) -> FileRules {
        self.pipe = true;
        self
    }

    /// Reads a whole file, or a pipe up to its end.
    ///
    /// # Errors
    /// If the file breaks a rule, cannot be read, or is not read within [`READ_TIMEOUT`]. A pipe has no time limit.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        if self.pipe && is_pipe(path) {
            let file = File::open(path).map_err(|error| FileError::from_io(path, error))?;
            return read_up_to(file, self.limit, Vec::new(), path);
        }
        let (rules, wanted) = (self.clone(), path.to_path_buf());
        let waited = run_with_timeout(READ_TIMEOUT, path, move || rules.read_now(&wanted));
        waited.unwrap_or_else(|| self.read_now(path))
    }

    fn read_now(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.open(path)?.read(self.limit, path)
    }

    /// Opens a file for reading. It does not wait for the other end of a FIFO, and never opens a device.
    ///
    /// # Errors
    /// If the file breaks a rule or cannot be opened.
    pub fn open(&self, path: &Path) -> Result<RegularFile, FileError> {
        let failed = |error: io::Error| FileError::from_io(path, error);
        let real = self.check(path)?;
        let file = open_exactly(&real).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        // The file may have been replaced since it was checked.
        self.check_kind(path, &metadata)?;
        Ok(RegularFile { file, metadata })
    }

    /// Checks a file without opening it. Returns its path without symbolic links.
    ///
    /// # Errors
    /// If the file breaks a rule or does not exist.
    pub fn check(&self, path: &Path) -> Result<PathBuf, FileError> {
        let real = path.canonicalize().map_err(|error| absent_or_broken(path, error))?;
        self.check_beneath(path, &real)?;
        let metadata = real.metadata().map_err(|error| FileError::from_io(path, error))?;
        self.check_kind(path, &metadata)?;
        self.owners.as_ref().map_or(Ok(()), |owners| owners.check_real(path, &real))?;
        Ok(real)
    }

    fn check_beneath(&self, path: &Path, real: &Path) -> Result<(), FileError> {
        if let Some(directory) = &self.beneath {
            let top = directory.canonicalize().map_err(|error| FileError::from_io(path, error))?;
            if !real.starts_with(&top) {
                return Err(FileError::outside(path, real));
            }
        }
        Ok(())
    }

    fn check_kind(&self, path: &Path, metadata: &Metadata) -> Result<(), FileError> {
        let kind = metadata.file_type();
        if !kind.is_file() {
            return Err(FileError::not_regular(path, describe_type(kind)));
        }
        if metadata.len() > self.limit {
            return Err(FileError::too_large(path, self.limit));
        }
        Ok(())
    }
}

impl RegularFile {
    fn read(self, limit: u64, path: &Path) -> Result<Vec<u8>, FileError> {
        let bytes = Vec::with_capacity(usize::try_from(self.metadata.len()).unwrap_or(0));
        // The file may have grown since it was opened.
        read_up_to(self.file, limit, bytes, path)
    }
}

/// Returns true if the path leads to a pipe or FIFO.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

fn read_up_to(file: File, limit: u64, mut bytes: Vec<u8>, path: &Path) -> Result<Vec<u8>, FileError> {
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| FileError::from_io(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(FileError::too_large(path, limit));
    }
    Ok(bytes)
}

/// Opens a path without symbolic links. If one has appeared since the path was resolved, the kernel refuses
/// to follow it.
fn open_exactly(real: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let opened = rustix::fs::openat2(CWD, real, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match opened {
        Ok(file) => Ok(file.into()),
        // Old kernels and some sandboxes lack `openat2`.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            Ok(rustix::fs::open(real, flags, Mode::empty())?.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn describe_type(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Distinguishes a missing file from a dangling symbolic link, which is a mistake worth reporting.
fn absent_or_broken(path: &Path, error: io::Error) -> FileError {
    if error.kind() == io::ErrorKind::NotFound && path.is_symlink() {
        return FileError::broken_link(path);
    }
    FileError::from_io(path, error)
}

/// Runs `work` on its own thread and waits at most `limit`. A system call that never returns keeps only that
/// thread. Returns `None` if no thread can be started.
pub(crate) fn run_with_timeout<T: Send + 'static>(
    limit: Duration,
    path: &Path,
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Option<Result<T, FileError>> {
    let (send, receive) = mpsc::sync_channel(1);
    let started = std::thread::Builder::new().name("read".to_owned()).spawn(move || {
        let _ = send.send(work());
    });
    let thread = started.ok()?;
    let Ok(result) = receive.recv_timeout(limit) else { return Some(Err(FileError::timed_out(path, limit))) };
    // Without joining, the ending thread could still receive signals that the caller is about to block.
    let _ = thread.join();
    Some(result)
}
