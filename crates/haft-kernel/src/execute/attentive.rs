//! Opening what may keep one waiting: a named pipe whose other end nobody has opened, a host that does not answer.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use haft_fs::{File, FileType, OpenOptions};
use rustix::fs::{Mode, OFlags};

use super::network::{Address, Host};
use crate::flow::Unwind;
use crate::io::Elsewhere;
use crate::session::Session;

impl Session {
    /// Where a named pipe is on this machine, which one must not wait for somebody to open without looking up.
    pub(super) fn waits_to_open(&self, path: &[u8]) -> Option<PathBuf> {
        if self.signals_suffice() {
            return None;
        }
        let kind = self.kernel.files.metadata(haft_text::path(path)).ok()?.kind;
        if kind == FileType::Fifo { self.kernel.files.real_path(haft_text::path(path)) } else { None }
    }

    /// Whether one may wait in the system: a process that is nothing but a shell is ended by signals alone, unless there are
    /// traps to run.
    fn signals_suffice(&self) -> bool {
        self.owns_process() && !self.traps.has_actions()
    }

    /// Opens a named pipe as soon as somebody opens its other end. `real` is where it is on this machine.
    pub(super) fn open_fifo(
        &mut self,
        real: &Path,
        path: Vec<u8>,
        options: OpenOptions,
    ) -> Result<io::Result<File>, Unwind> {
        let files = self.kernel.files.clone();
        let opening = match Elsewhere::begin(move || files.open(haft_text::path(&path), &options)) {
            Ok(opening) => opening,
            Err(error) => return Ok(Err(error)),
        };
        self.await_elsewhere(&opening).inspect_err(|_| {
            // Both ends at once, which never waits, let the thread go on to its end.
            let both = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            if rustix::fs::open(real, both, Mode::empty()).is_ok() {
                opening.wait();
            }
        })
    }

    /// Connects to an address. Nobody can cancel the search for a host's name: it is given up, and ends by itself.
    pub(super) fn connect(&mut self, address: &Address<'_>) -> Result<io::Result<OwnedFd>, Unwind> {
        let found = match address.host() {
            Host::Known(addresses) => Ok(addresses),
            Host::Named(name) if self.signals_suffice() => name.look_up(),
            Host::Named(name) => match Elsewhere::begin(move || name.look_up()) {
                Ok(search) => self.await_elsewhere(&search)?,
                Err(error) => Err(error),
            },
        };
        let connected = found.and_then(|found| address.connect(&found, self.limits.cancel()));
        self.check_cancelled()?;
        Ok(connected)
    }

    /// Waits for what is done on another thread; traps run meanwhile.
    fn await_elsewhere<T: Send + 'static>(&mut self, work: &Elsewhere<T>) -> Result<T, Unwind> {
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
