//! Writing through the session's descriptors.
//!
//! Output of builtins is held back as long as nobody can tell: at most one file has output held back, and it gets it
//! before the session writes to another file, starts a program or a thread, touches a file by its path, waits for
//! anything, or ends.

use std::io;
use std::sync::Arc;

use crate::session::Session;

impl Session {
    /// Writes to a descriptor.
    ///
    /// # Errors
    /// As `write(2)`; a number that is not open is one too.
    pub fn write(&mut self, number: u32, bytes: &[u8]) -> io::Result<i32> {
        let Some(file) = self.descriptors.get(number) else {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()));
        };
        if let Some(dirty) = &self.dirty
            && !Arc::ptr_eq(dirty, file)
        {
            let _ = dirty.flush();
            self.dirty = None;
        }
        if !file.write(bytes)? {
            return Ok(0);
        }
        if !file.is_deferrable() {
            file.flush()?;
        } else if self.dirty.is_none() {
            self.dirty = Some(file.clone());
        }
        Ok(0)
    }

    /// Takes over the file whose output a subshell on the same thread holds back.
    pub(crate) fn take_dirty(&mut self, child: &mut Self) {
        if let Some(dirty) = child.dirty.take() {
            self.dirty = Some(dirty);
        }
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn flush(&mut self) -> io::Result<()> {
        match self.dirty.take() {
            Some(dirty) => dirty.flush(),
            None => Ok(()),
        }
    }
}
