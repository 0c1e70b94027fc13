//! Waiting: for programs, for descriptors; always with an eye on cancellation, signals and captures.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::Child;

use crate::flow::Unwind;
use crate::io::{Ready, wait_readable};
use crate::session::Session;

/// How long a program has between being asked to end and being ended.
const GRACE: Duration = Duration::from_millis(500);

impl Session {
    /// Waits for a program and yields its status. When the session is to stop, the program is stopped first.
    pub(crate) fn wait_child(&mut self, child: &mut Child) -> Result<i32, Unwind> {
        if self.only_children_matter() {
            return Ok(child.wait().map_or(127, |(exit, _)| exit.code()));
        }
        loop {
            let Some(pidfd) = child.pidfd() else { return Ok(127) };
            if let Err(unwind) = self.wait_for(&[pidfd]) {
                self.stop_child(child);
                return Err(unwind);
            }
            if let Ok(Some((exit, _))) = child.try_wait() {
                return Ok(exit.code());
            }
        }
    }

    /// Whether nothing but the end of a program can happen while it is waited for: no trap, no capture to read, and
    /// nobody who could cancel.
    fn only_children_matter(&self) -> bool {
        self.kernel.plain_shell
            && self.traps.is_empty()
            && self.captures.is_empty()
            && !self.cancel.is_shared()
    }

    /// Ends a program: asks, waits a little, insists.
    pub(crate) fn stop_child(&self, child: &mut Child) {
        let _ = child.signal(15);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            match child.try_wait() {
                Ok(None) => {}
                _ => return,
            }
            if let Some(pidfd) = child.pidfd() {
                let left = deadline.saturating_duration_since(Instant::now());
                let _ = wait_readable(&[pidfd], Some(left), &haft_process::CancelToken::new());
            }
        }
        let _ = child.signal(9);
        let _ = child.wait();
    }

    /// Waits until a descriptor can be read or anything else happens that may matter to the caller, who looks again.
    pub(crate) fn wait_for_descriptor(&mut self, descriptor: &Arc<OwnedFd>) -> Result<(), Unwind> {
        self.wait_for(&[descriptor.as_fd()])
    }

    /// Waits until one of the descriptors can be read, a capture has taken something, or a signal has come.
    pub(crate) fn wait_for(&self, descriptors: &[BorrowedFd<'_>]) -> Result<(), Unwind> {
        let readers: Vec<_> =
            self.captures.iter().filter_map(|capture| Some((capture, capture.reader()?))).collect();
        let mut all: Vec<BorrowedFd<'_>> = descriptors.to_vec();
        all.extend(readers.iter().map(|(_, reader)| reader.as_fd()));
        if self.subshell == 0 && !self.traps.is_empty() {
            all.extend(self.kernel.signals.descriptor());
        }
        match wait_readable(&all, None, &self.cancel) {
            Ready::Cancelled => Err(Unwind::Cancelled),
            _ => {
                for (capture, _) in &readers {
                    let _ = capture.drain();
                }
                Ok(())
            }
        }
    }
}
