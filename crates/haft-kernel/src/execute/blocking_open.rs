//! Opening files that may block: named pipes without another end, hosts that do not answer.

use std::io;
use std::os::fd::OwnedFd;

use haft_fs::{File, FileType, OpenOptions};

use super::network::{ConnectionAddress, ConnectionHost};
use crate::flow::Unwind;
use crate::io::BlockingCall;
use crate::session::Session;

impl Session {
    /// Whether a file is a named pipe whose opening could block and must be interruptible.
    pub(super) fn is_blocking_fifo(&self, path: &[u8]) -> bool {
        !self.signals_suffice()
            && self
                .kernel
                .files
                .metadata(haft_text::path(path))
                .is_ok_and(|metadata| metadata.kind == FileType::Fifo)
    }

    /// Whether a blocking system call is acceptable: a plain shell without traps is ended by signals alone.
    fn signals_suffice(&self) -> bool {
        self.owns_process() && !self.traps.has_actions()
    }

    /// Opens a named pipe as soon as its other end is opened.
    pub(super) fn open_fifo(
        &mut self,
        path: &[u8],
        options: OpenOptions,
    ) -> Result<io::Result<File>, Unwind> {
        let (files, owned) = (self.kernel.files.clone(), path.to_vec());
        let opening = match BlockingCall::begin(move || files.open(haft_text::path(&owned), &options)) {
            Ok(opening) => opening,
            Err(error) => return Ok(Err(error)),
        };
        self.await_blocking_call(&opening).inspect_err(|_| {
            // Opening both ends never blocks, and lets the thread finish.
            let both = OpenOptions::new().read(true).write(true).nonblocking(true);
            if self.kernel.files.open(haft_text::path(path), &both).is_ok() {
                opening.wait();
            }
        })
    }

    /// Connects to an address. A name lookup cannot be cancelled: it is abandoned and ends by itself.
    pub(super) fn connect(&mut self, address: &ConnectionAddress<'_>) -> Result<io::Result<OwnedFd>, Unwind> {
        let found = match address.host() {
            ConnectionHost::Known(addresses) => Ok(addresses),
            ConnectionHost::Named(name) if self.signals_suffice() => name.look_up(),
            ConnectionHost::Named(name) => match BlockingCall::begin(move || name.look_up()) {
                Ok(search) => self.await_blocking_call(&search)?,
                Err(error) => Err(error),
            },
        };
        let network = self.kernel.permission.private_network();
        let connected = found.and_then(|found| address.connect(&found, network, self.limits.cancel()));
        self.check_cancelled()?;
        Ok(connected)
    }

    /// Waits for a blocking call on another thread. Traps run meanwhile.
    fn await_blocking_call<T: Send + 'static>(&mut self, work: &BlockingCall<T>) -> Result<T, Unwind> {
        loop {
            if let Some(result) = work.take() {
                return Ok(result);
            }
            self.wait_for(&[work.descriptor()])?;
            if self.has_pending_signals() {
                self.run_signal_traps()?;
            }
        }
    }
}
