use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, MemfdFlags, Mode, OFlags, memfd_create, openat, unlinkat};
use rustix::process::{Resource, getrlimit};

use super::OutputId;

/// The storage for large outputs: an open directory that is private to its owner, or memory files.
///
/// A spill file is created with mode 0600 when it is needed, and removed with the last clone of its output.
#[derive(Clone, Debug)]
pub struct SpillDirectory {
    directory: Option<OpenDirectory>,
    /// Whether to use a memory file if the directory cannot be used.
    memory: bool,
}

#[derive(Clone, Debug)]
struct OpenDirectory {
    directory: Arc<OwnedFd>,
    path: Arc<Path>,
}

impl SpillDirectory {
    /// Spills into an open directory. `path` is only used to report the paths of files.
    pub fn new(directory: OwnedFd, path: impl Into<PathBuf>) -> Self {
        let directory = OpenDirectory { directory: Arc::new(directory), path: path.into().into() };
        Self { directory: Some(directory), memory: false }
    }

    /// Spills into memory files.
    #[must_use]
    pub fn memory() -> Self {
        Self { directory: None, memory: true }
    }

    /// Spills into a memory file if the directory cannot be used, for example on a full disk.
    #[must_use]
    pub fn or_memory(self) -> Self {
        Self { memory: true, ..self }
    }

    /// Opens an existing directory.
    ///
    /// # Errors
    /// Fails if the directory does not exist, is not a directory, is a symbolic link, or is not readable.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self::new(directory, path))
    }

    /// Creates a spill file that starts with these bytes. Removes it if they cannot be written.
    pub(super) fn create(&self, id: &OutputId, bytes: &[u8]) -> io::Result<SpillFile> {
        let on_disk = self.directory.as_ref().map(|directory| directory.create(id)?.filled(bytes));
        match on_disk {
            Some(Err(_)) | None if self.memory => {
                let file = memfd_create("haft-output", MemfdFlags::CLOEXEC)?;
                SpillFile { file: File::from(file), location: None }.filled(bytes)
            }
            Some(made) => made,
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl OpenDirectory {
    fn create(&self, id: &OutputId) -> io::Result<SpillFile> {
        let name = format!("{id}.out");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(self.directory.as_fd(), &name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(SpillFile { file: File::from(file), location: Some((self.clone(), name)) })
    }
}

/// A spill file. Written bytes never change, so readers need no lock.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: File,
    /// The directory and name of the file to remove, if it has a name.
    location: Option<(OpenDirectory, String)>,
}

impl SpillFile {
    /// Makes a spill file of an existing file, which is only read and not removed.
    pub(super) fn existing(file: File) -> Self {
        Self { file, location: None }
    }

    pub(super) fn path(&self) -> Option<PathBuf> {
        self.location.as_ref().map(|(directory, name)| directory.path.join(name))
    }

    fn filled(self, bytes: &[u8]) -> io::Result<Self> {
        self.write(bytes, 0).1?;
        Ok(self)
    }

    /// Writes bytes at an offset. Returns the number of bytes written, and an error if not all were.
    ///
    /// Checks the file size limit first, because exceeding it would kill the process with `SIGXFSZ`.
    pub(super) fn write(&self, mut bytes: &[u8], offset: u64) -> (usize, io::Result<()>) {
        let mut written = 0;
        let limit = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX);
        if limit < offset + bytes.len() as u64 {
            return (written, Err(io::ErrorKind::FileTooLarge.into()));
        }
        while !bytes.is_empty() {
            match self.file.write_at(bytes, offset + written as u64) {
                Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    written += count;
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }

    pub(super) fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }
}

impl Drop for SpillFile {
    /// Ignores errors: the whole directory may have been removed already.
    fn drop(&mut self) {
        if let Some((directory, name)) = &self.location {
            let _ = unlinkat(directory.directory.as_fd(), name, AtFlags::empty());
        }
    }
}
