//! Writing through the session's descriptors.
//!
//! Output of builtins is held back as long as nobody can tell: at most one file has output held back, and it gets it
//! before the session writes to another file, starts a program or a thread, touches a file by its path, waits for
//! anything, or ends.

use std::io;
use std::sync::Arc;

use haft_process::{CancelToken, Signals};

use crate::session::Session;

impl Session {
    /// Writes to a descriptor.
    ///
    /// # Errors
    /// As `write(2)`; a number that is not open is one too.
    pub fn write(&mut self, number: u32, bytes: &[u8]) -> io::Result<i32> {
        let Some(file) = self.open_files.get(number).cloned() else {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()));
        };
        if let Some(held_back) = self.open_files.held_back()
            && !Arc::ptr_eq(held_back, &file)
        {
            let _ = self.flush();
        }
        if number == 1 && self.open_files.has_broken_pipe() {
            self.open_files.set_broken_pipe(false);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if !file.write(bytes, self.writing()).map_err(|error| self.own_fault(error))? {
            return Ok(0);
        }
        if !file.is_deferrable() {
            file.flush(self.writing()).map_err(|error| self.own_fault(error))?;
        } else if self.open_files.held_back().is_none() {
            self.open_files.hold_back(file);
        }
        Ok(0)
    }

    /// What stops a write for which there is no room. A process that is nothing but a shell is stopped by signals alone.
    fn writing(&self) -> Option<&CancelToken> {
        (!self.owns_process()).then_some(self.limits.cancel())
    }

    /// The signal that a closed pipe has caused is for the subshell that wrote to it, not for the shell it shares the process with.
    fn own_fault(&self, error: io::Error) -> io::Error {
        if !self.identity.leads_process() && error.kind() == io::ErrorKind::BrokenPipe {
            self.kernel.signals.take_signal(Signals::PIPE);
        }
        error
    }

    /// Takes over the file whose output a subshell on the same thread holds back.
    pub(crate) fn adopt_output(&mut self, child: &mut Self) {
        if let Some(file) = child.open_files.take_held_back() {
            self.open_files.hold_back(file);
        }
    }

    /// Writes what is held back once in a while, so that a loop which only computes does not keep it for long.
    #[inline]
    pub(crate) fn flush_sometimes(&mut self) {
        if self.open_files.count_iteration() {
            let _ = self.flush();
        }
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(file) = self.open_files.take_held_back() else { return Ok(()) };
        let result = file.flush(self.writing()).map_err(|error| self.own_fault(error));
        // Whoever wrote has gone on meanwhile; the next one to look learns of it.
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.open_files.set_broken_pipe(true);
        }
        result
    }
}
