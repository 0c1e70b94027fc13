//! Reading from open files.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::{OpenFile, Ready, wait_readable};
use haft_process::{CancelToken, while_reading};

impl OpenFile {
    /// Reads available bytes, and waits until there are some. 0 means end of file.
    ///
    /// # Errors
    /// As `read(2)`; [`io::ErrorKind::TimedOut`] after the timeout, [`io::ErrorKind::Interrupted`] if the token is cancelled
    /// or a signal has arrived.
    pub fn read(
        &self,
        buffer: &mut [u8],
        timeout: Option<Duration>,
        cancel: &CancelToken,
    ) -> io::Result<usize> {
        if let Some(file) = self.backing_virtual() {
            return file.read(buffer);
        }
        let Some(descriptor) = self.descriptor() else {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()));
        };
        loop {
            match while_reading(descriptor, || wait_readable(&[descriptor], timeout, cancel)) {
                Ready::Descriptor(_) => {}
                Ready::TimedOut => return Err(io::ErrorKind::TimedOut.into()),
                Ready::Cancelled | Ready::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            }
            match rustix::io::read(descriptor, &mut *buffer) {
                Ok(length) => return Ok(length),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the file is seekable, so that bytes read ahead can be given back.
    #[must_use]
    pub fn is_seekable(&self) -> bool {
        match (self.backing_virtual(), self.descriptor()) {
            (Some(_), _) => true,
            // A device always reports position 0.
            (None, Some(descriptor)) => {
                rustix::fs::tell(descriptor).is_ok_and(|place| place > 0 || !is_device(descriptor))
            }
            (None, None) => false,
        }
    }

    /// The position of a seekable file.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        match self.backing_virtual() {
            Some(file) => file.seek(io::SeekFrom::Current(0)).ok(),
            None => self.descriptor().and_then(|descriptor| rustix::fs::tell(descriptor).ok()),
        }
    }

    /// Moves the position back by `count` bytes.
    ///
    /// # Errors
    /// As `lseek(2)`.
    pub fn unread(&self, count: usize) -> io::Result<()> {
        let back = -i64::try_from(count).map_err(|_| io::ErrorKind::InvalidInput)?;
        if let Some(file) = self.backing_virtual() {
            return file.seek(io::SeekFrom::Current(back)).map(drop);
        }
        match self.descriptor() {
            Some(descriptor) => {
                Ok(rustix::fs::seek(descriptor, rustix::fs::SeekFrom::Current(back)).map(drop)?)
            }
            None => Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error())),
        }
    }
}

fn is_device(descriptor: BorrowedFd<'_>) -> bool {
    use rustix::fs::FileType;
    rustix::fs::fstat(descriptor)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice)
}
