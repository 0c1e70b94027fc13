use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, MemfdFlags, Mode, OFlags, memfd_create, openat, unlinkat};
use rustix::process::{Resource, getrlimit};

use super::OutputId;

/// Where outputs that outgrow their head and tail go: an open directory, private to its owner, or memory files.
///
/// Each spill file is created only when needed, with mode 0600, and is removed with the last handle to its output.
#[derive(Clone, Debug)]
pub struct SpillDirectory {
    directory: Option<OpenDirectory>,
    /// Whether a memory file is made where the directory takes none.
    memory: bool,
}

#[derive(Clone, Debug)]
struct OpenDirectory {
    directory: Arc<OwnedFd>,
    path: Arc<Path>,
}

impl SpillDirectory {
    /// Spills into the open directory, whose name `path` only serves to tell users where a file is.
    pub fn new(directory: OwnedFd, path: impl Into<PathBuf>) -> Self {
        let directory = OpenDirectory { directory: Arc::new(directory), path: path.into().into() };
        Self { directory: Some(directory), memory: false }
    }

    /// Spills into memory files: for where there is no directory.
    #[must_use]
    pub fn memory() -> Self {
        Self { directory: None, memory: true }
    }

    /// Spills into a memory file when the directory cannot take a file, on a full disk for instance.
    #[must_use]
    pub fn or_memory(self) -> Self {
        Self { memory: true, ..self }
    }

    /// Opens an existing directory.
    ///
    /// # Errors
    /// Whatever opening it says: it is missing, no directory, a symbolic link, not readable.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self::new(directory, path))
    }

    /// Makes a spill file that begins with these bytes. One that cannot even take them is removed again.
    pub(super) fn create(&self, id: &OutputId, bytes: &[u8]) -> io::Result<SpillFile> {
        let on_disk = self.directory.as_ref().map(|directory| directory.create(id)?.filled(bytes));
        match on_disk {
            Some(Err(_)) | None if self.memory => {
                let file = memfd_create("haft-output", MemfdFlags::CLOEXEC)?;
                SpillFile { file: File::from(file), place: None }.filled(bytes)
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
        Ok(SpillFile { file: File::from(file), place: Some((self.clone(), name)) })
    }
}

/// One spill file. It is only ever extended: what was written once stays as it is, so that readers need no lock.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: File,
    /// The name to be removed with it, if it has one.
    place: Option<(OpenDirectory, String)>,
}

impl SpillFile {
    /// A file that is only read, and stays.
    pub(super) fn existing(file: File) -> Self {
        Self { file, place: None }
    }

    pub(super) fn path(&self) -> Option<PathBuf> {
        self.place.as_ref().map(|(directory, name)| directory.path.join(name))
    }

    fn filled(self, bytes: &[u8]) -> io::Result<Self> {
        self.write(bytes, 0).1?;
        Ok(self)
    }

    /// Writes as much as the file system takes: the number of bytes that arrived, and why it were not all.
    ///
    /// Going over the limit on the size of files is an error here. Left to the system, it would end the process.
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
    /// The file is gone already when the whole directory was removed first, and there is nobody to tell any other reason.
    fn drop(&mut self) {
        if let Some((directory, name)) = &self.place {
            let _ = unlinkat(directory.directory.as_fd(), name, AtFlags::empty());
        }
    }
}
