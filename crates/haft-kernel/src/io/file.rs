//! One open file, shared by all its duplicates.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use haft_fs::{File, VirtualFile};
use haft_process::CancelToken;

use super::Capture;
use super::drain::{write_all, write_until};

/// The most output that is held back.
const MAX_PENDING_BYTES: usize = 32 * 1024;
/// The major number of devices such as `/dev/null`.
const MEMORY_DEVICE_MAJOR: u32 = 1;

/// An open file. Output of builtins is held back as long as this cannot be observed; see [`crate::Session::flush`].
#[derive(Debug)]
pub struct OpenFile {
    backing: Backing,
    pending: Mutex<Vec<u8>>,
    /// Whether output may be held back beyond the command that wrote it.
    deferrable: bool,
    /// Whether writing may block.
    blocks: bool,
    written: Arc<Written>,
}

/// How much this process has written to a file.
#[derive(Debug, Default)]
pub(crate) struct Written {
    bytes: AtomicU64,
    /// Whether a program has the file and may write to it.
    is_shared: AtomicBool,
}

impl Written {
    /// The number of bytes, if only this process has written.
    pub(crate) fn known(&self) -> Option<u64> {
        (!self.is_shared.load(Ordering::Relaxed)).then(|| self.bytes.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
enum Backing {
    Real(Arc<OwnedFd>),
    Virtual(Arc<dyn VirtualFile>),
    Capture(Arc<Capture>),
}

impl OpenFile {
    /// A file descriptor of the process.
    #[must_use]
    pub fn real(descriptor: OwnedFd) -> Self {
        Self::from_shared(Arc::new(descriptor))
    }

    /// A file descriptor that others hold too.
    #[must_use]
    pub fn from_shared(descriptor: Arc<OwnedFd>) -> Self {
        use rustix::fs::{FileType, fstat};
        // A device may be a terminal or may refuse output, so it gets its output at once.
        let stat = fstat(&descriptor);
        let kind = stat.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode));
        let deferrable = !matches!(kind, Ok(FileType::CharacterDevice | FileType::BlockDevice) | Err(_));
        // Devices such as `/dev/null` never block.
        let takes_all =
            stat.as_ref().is_ok_and(|stat| rustix::fs::major(stat.st_rdev) == MEMORY_DEVICE_MAJOR);
        let blocks = match kind {
            Ok(FileType::CharacterDevice) => !takes_all,
            kind => matches!(kind, Ok(FileType::Fifo | FileType::Socket)),
        };
        Self::on(Backing::Real(descriptor), deferrable, blocks)
    }

    fn on(backing: Backing, deferrable: bool, blocks: bool) -> Self {
        Self { backing, pending: Mutex::default(), deferrable, blocks, written: Arc::default() }
    }

    /// Counts the bytes that are written, without holding the file open.
    pub(crate) fn written(&self) -> &Arc<Written> {
        &self.written
    }

    /// An end of a pipe.
    #[must_use]
    pub fn pipe(descriptor: OwnedFd) -> Self {
        let backing = Backing::Real(Arc::new(descriptor));
        Self::on(backing, true, true)
    }

    /// A file that was opened by path.
    #[must_use]
    pub fn opened(file: File) -> Self {
        match file {
            File::Real(descriptor) => Self::real(descriptor),
            File::Virtual(file) => {
                let backing = Backing::Virtual(file);
                Self::on(backing, false, false)
            }
        }
    }

    /// The capture of a command substitution.
    #[must_use]
    pub fn capture(capture: Arc<Capture>) -> Self {
        let backing = Backing::Capture(capture);
        Self::on(backing, true, false)
    }

    /// The file descriptor, if it has one.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.backing {
            Backing::Real(descriptor) => Some(descriptor.as_fd()),
            Backing::Virtual(_) | Backing::Capture(_) => None,
        }
    }

    /// A file descriptor that a program can use.
    ///
    /// # Errors
    /// If the file is virtual, or the system is out of descriptors.
    pub fn for_program(&self) -> io::Result<Arc<OwnedFd>> {
        self.written.is_shared.store(true, Ordering::Relaxed);
        match &self.backing {
            Backing::Real(descriptor) => Ok(descriptor.clone()),
            Backing::Capture(capture) => capture.writer(),
            Backing::Virtual(_) => Err(io::Error::other("a virtual file cannot be handed to a program")),
        }
    }

    /// The metadata of the file. A capture of a command substitution counts as a pipe.
    ///
    /// # Errors
    /// As `fstat(2)`.
    pub fn metadata(&self) -> io::Result<haft_fs::Metadata> {
        match &self.backing {
            Backing::Real(descriptor) => haft_fs::descriptor_metadata(descriptor.as_fd()),
            Backing::Virtual(file) => file.metadata(),
            Backing::Capture(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Whether it is the capture of a command substitution.
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

    /// Writes bytes or holds them back. Returns whether output is held back now.
    ///
    /// # Errors
    /// As `write(2)`; held-back output is lost then too. [`io::ErrorKind::Interrupted`] if the token is cancelled while the
    /// file blocks.
    pub fn write(&self, bytes: &[u8], cancel: Option<&CancelToken>) -> io::Result<bool> {
        match &self.backing {
            Backing::Capture(capture) => {
                capture.append(bytes);
                Ok(false)
            }
            Backing::Virtual(file) => write_virtual(&**file, bytes).map(|()| false),
            Backing::Real(descriptor) => {
                let mut pending = self.lock();
                if pending.len() + bytes.len() <= MAX_PENDING_BYTES {
                    pending.extend_from_slice(bytes);
                    return Ok(!pending.is_empty());
                }
                let held = std::mem::take(&mut *pending);
                self.write_real(descriptor, &held, cancel)?;
                self.write_real(descriptor, bytes, cancel)?;
                Ok(false)
            }
        }
    }

    /// Writes held-back output.
    ///
    /// # Errors
    /// As for writing; held-back output is lost then.
    pub fn flush(&self, cancel: Option<&CancelToken>) -> io::Result<()> {
        let Backing::Real(descriptor) = &self.backing else { return Ok(()) };
        let mut pending = self.lock();
        if pending.is_empty() {
            return Ok(());
        }
        let result = self.write_real(descriptor, &pending, cancel);
        pending.clear();
        result
    }

    fn write_real(&self, file: &OwnedFd, bytes: &[u8], cancel: Option<&CancelToken>) -> io::Result<()> {
        match cancel.filter(|_| self.blocks) {
            Some(cancel) => write_until(file, bytes, cancel)?,
            None => write_all(file, bytes)?,
        }
        self.written.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
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
        let _ = self.flush(None);
    }
}

fn write_virtual(file: &dyn VirtualFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.write(bytes)?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}
