//! One open file, shared by all descriptors that were made of it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use haft_fs::{File, VirtualFile};

use super::Capture;

/// How much output is held back at most.
const PENDING: usize = 32 * 1024;

/// An open file. What builtins write is held back until somebody could notice; see [`crate::Session::flush`].
#[derive(Debug)]
pub struct OpenFile {
    backing: Backing,
    pending: Mutex<Vec<u8>>,
    /// Whether output may be held back beyond the command that wrote it.
    deferrable: bool,
}

#[derive(Debug)]
enum Backing {
    Real(Arc<OwnedFd>),
    Virtual(Arc<dyn VirtualFile>),
    Capture(Arc<Capture>),
}

impl OpenFile {
    /// A file of the system.
    #[must_use]
    pub fn real(descriptor: OwnedFd) -> Self {
        Self::from_shared(Arc::new(descriptor))
    }

    /// A file of the system that others hold too.
    #[must_use]
    pub fn from_shared(descriptor: Arc<OwnedFd>) -> Self {
        use rustix::fs::{FileType, fstat};
        // A device may be a terminal somebody looks at, or refuse what is written to it: it gets its output at once.
        let deferrable = fstat(&descriptor).is_ok_and(|stat| {
            !matches!(
                FileType::from_raw_mode(stat.st_mode),
                FileType::CharacterDevice | FileType::BlockDevice
            )
        });
        Self { backing: Backing::Real(descriptor), pending: Mutex::default(), deferrable }
    }

    /// An end of a pipe.
    #[must_use]
    pub fn pipe(descriptor: OwnedFd) -> Self {
        Self { backing: Backing::Real(Arc::new(descriptor)), pending: Mutex::default(), deferrable: true }
    }

    /// What was opened by path.
    #[must_use]
    pub fn opened(file: File) -> Self {
        match file {
            File::Real(descriptor) => Self::real(descriptor),
            File::Virtual(file) => {
                Self { backing: Backing::Virtual(file), pending: Mutex::default(), deferrable: false }
            }
        }
    }

    /// What collects the output of a substitution.
    #[must_use]
    pub fn capture(capture: Arc<Capture>) -> Self {
        Self { backing: Backing::Capture(capture), pending: Mutex::default(), deferrable: true }
    }

    /// The descriptor of the system, if it is one as it stands.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.backing {
            Backing::Real(descriptor) => Some(descriptor.as_fd()),
            Backing::Virtual(_) | Backing::Capture(_) => None,
        }
    }

    /// A descriptor of the system for a program to use in place of the file, if there can be one.
    ///
    /// # Errors
    /// If the file is virtual, or the system is out of descriptors.
    pub fn for_program(&self) -> io::Result<Arc<OwnedFd>> {
        match &self.backing {
            Backing::Real(descriptor) => Ok(descriptor.clone()),
            Backing::Capture(capture) => capture.writer(),
            Backing::Virtual(_) => Err(io::Error::other("a virtual file cannot be handed to a program")),
        }
    }

    /// Whether it collects the output of a substitution.
    #[must_use]
    pub fn is_capture(&self) -> bool {
        matches!(self.backing, Backing::Capture(_))
    }

    /// Whether it is a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.descriptor().is_some_and(rustix::termios::isatty)
    }

    /// Whether output may be held back beyond the command that wrote it.
    #[must_use]
    pub(crate) fn is_deferrable(&self) -> bool {
        self.deferrable
    }

    /// Writes bytes, or holds them back. Yields whether some are held back now.
    ///
    /// # Errors
    /// As `write(2)`; what was held back before is gone then too.
    pub fn write(&self, bytes: &[u8]) -> io::Result<bool> {
        match &self.backing {
            Backing::Capture(capture) => {
                capture.append(bytes);
                Ok(false)
            }
            Backing::Virtual(file) => write_virtual(&**file, bytes).map(|()| false),
            Backing::Real(descriptor) => {
                let mut pending = self.lock();
                if pending.len() + bytes.len() <= PENDING {
                    pending.extend_from_slice(bytes);
                    return Ok(!pending.is_empty());
                }
                let held = std::mem::take(&mut *pending);
                write_real(descriptor, &held)?;
                write_real(descriptor, bytes)?;
                Ok(false)
            }
        }
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// As `write(2)`; what was held back is gone then.
    pub fn flush(&self) -> io::Result<()> {
        let Backing::Real(descriptor) = &self.backing else { return Ok(()) };
        let mut pending = self.lock();
        if pending.is_empty() {
            return Ok(());
        }
        let result = write_real(descriptor, &pending);
        pending.clear();
        result
    }

    pub(super) fn backing_virtual(&self) -> Option<&dyn VirtualFile> {
        match &self.backing {
            Backing::Virtual(file) => Some(&**file),
            _ => None,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

fn write_real(descriptor: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    while !bytes.is_empty() {
        match rustix::io::write(descriptor, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(descriptor, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn write_virtual(file: &dyn VirtualFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.write(bytes)?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}
