//! Open files.

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::Metadata;
use crate::metadata::descriptor_metadata;

/// An open file without a descriptor. It is the equivalent of an open file description: clones share the position.
pub trait VirtualFile: Debug + Send + Sync {
    /// Reads at the current position and advances it.
    ///
    /// # Errors
    /// Fails like `read(2)`.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes at the current position, or at the end in append mode, and advances it.
    ///
    /// # Errors
    /// Fails like `write(2)`.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Sets the position.
    ///
    /// # Errors
    /// Fails like `lseek(2)`.
    fn seek(&self, to: SeekFrom) -> io::Result<u64>;

    /// Sets the size: the file is cut off, or continued with zeros.
    ///
    /// # Errors
    /// Fails like `ftruncate(2)`.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Returns the metadata.
    ///
    /// # Errors
    /// Fails like `fstat(2)`.
    fn metadata(&self) -> io::Result<Metadata>;
}

/// An open file.
#[derive(Debug)]
pub enum File {
    /// A descriptor.
    Real(OwnedFd),
    /// A virtual file.
    Virtual(Arc<dyn VirtualFile>),
}

impl File {
    /// Duplicates the open file. Both share the position.
    ///
    /// # Errors
    /// Fails if the system has no descriptors left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Real(descriptor) => Self::Real(descriptor.try_clone()?),
            Self::Virtual(file) => Self::Virtual(Arc::clone(file)),
        })
    }

    /// Returns the metadata.
    ///
    /// # Errors
    /// Fails like `fstat(2)`.
    pub fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::Real(descriptor) => descriptor_metadata(descriptor.as_fd()),
            Self::Virtual(file) => file.metadata(),
        }
    }

    /// Sets the size: the file is cut off, or continued with zeros.
    ///
    /// # Errors
    /// Fails like `ftruncate(2)`.
    pub fn set_size(&self, size: u64) -> io::Result<()> {
        match self {
            Self::Real(descriptor) => Ok(rustix::fs::ftruncate(descriptor, size)?),
            Self::Virtual(file) => file.set_size(size),
        }
    }

    /// Returns the descriptor of a real file.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Real(descriptor) => Some(descriptor.as_fd()),
            Self::Virtual(_) => None,
        }
    }
}

impl Read for &File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            File::Real(descriptor) => Ok(rustix::io::read(descriptor, buffer)?),
            File::Virtual(file) => file.read(buffer),
        }
    }
}

impl Write for &File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            File::Real(descriptor) => Ok(rustix::io::write(descriptor, bytes)?),
            File::Virtual(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            File::Real(descriptor) => Ok(rustix::fs::seek(descriptor, system_seek(to))?),
            File::Virtual(file) => file.seek(to),
        }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }
}

fn system_seek(to: SeekFrom) -> rustix::fs::SeekFrom {
    match to {
        SeekFrom::Start(offset) => rustix::fs::SeekFrom::Start(offset),
        SeekFrom::End(offset) => rustix::fs::SeekFrom::End(offset),
        SeekFrom::Current(offset) => rustix::fs::SeekFrom::Current(offset),
    }
}
