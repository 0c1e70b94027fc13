//! Writing through the session's descriptors.
//!
//! Output of builtins is held back as long as this cannot be observed. At most one file has held-back output. It is written
//! before the session writes to another file, starts a program or a thread, opens or inspects a file, waits, or ends.

use std::io;
use std::sync::Arc;

use haft_process::{CancelToken, Signals};

use crate::session::Session;

impl Session {
    /// Writes to a descriptor.
    ///
    /// # Errors
    /// As `write(2)`, also if the number is not open.
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
        if !file.write(bytes, self.writing()).map_err(|error| self.claim_broken_pipe(error))? {
            return Ok(0);
        }
        if !file.is_deferrable() {
            file.flush(self.writing()).map_err(|error| self.claim_broken_pipe(error))?;
        } else if self.open_files.held_back().is_none() {
            self.open_files.hold_back(file);
        }
        Ok(0)
    }

    /// The token that interrupts a blocked write. A plain shell is interrupted only by signals.
    fn writing(&self) -> Option<&CancelToken> {
        (!self.owns_process()).then_some(self.limits.cancel())
    }

    /// Removes the `SIGPIPE` of a failed write from the inbox of the process: it is for this subshell, not for the main shell.
    fn claim_broken_pipe(&self, error: io::Error) -> io::Error {
        if !self.identity.leads_process() && error.kind() == io::ErrorKind::BrokenPipe {
            self.kernel.signals.take_signal(Signals::PIPE);
        }
        error
    }

    /// Takes over the held-back output of a subshell on the same thread.
    pub(crate) fn adopt_output(&mut self, child: &mut Self) {
        if let Some(file) = child.open_files.take_held_back() {
            self.open_files.hold_back(file);
        }
    }

    /// Writes held-back output after some calls, so that a loop that only computes does not delay it for long.
    #[inline]
    pub(crate) fn flush_sometimes(&mut self) {
        if self.open_files.count_iteration() {
            let _ = self.flush();
        }
    }

    /// Writes held-back output.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(file) = self.open_files.take_held_back() else { return Ok(()) };
        let result = file.flush(self.writing()).map_err(|error| self.claim_broken_pipe(error));
        // The command that wrote this may have ended; the next one handles the error.
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.open_files.set_broken_pipe(true);
        }
        result
    }
}
