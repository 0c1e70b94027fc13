//! Controlling a run from any thread.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use haft_process::capture::Output;
use haft_process::{Captured, Error, TerminalSize};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::supervision::Supervision;

/// Controls a run. Clones control the same run. It does not keep the run alive.
#[derive(Clone, Debug)]
pub struct Controller {
    job: haft_process::JobController,
    finished: Arc<FinishedEvent>,
    supervision: Weak<Supervision>,
}

/// The result of [`Controller::wait_change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The bytes written so far on all streams, to pass to the next wait.
    pub bytes: u64,
    /// Whether the run has ended.
    pub finished: bool,
}

/// Whether a run has ended: an event descriptor that stays readable from then on.
#[derive(Debug)]
pub(super) struct FinishedEvent(OwnedFd);

impl FinishedEvent {
    pub(super) fn new() -> Result<Arc<FinishedEvent>, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        event
            .map(|event| Arc::new(FinishedEvent(event)))
            .map_err(|error| Error::system("make a wake-up descriptor", error))
    }

    pub(super) fn set(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub(super) fn wait(&self, limit: Option<Duration>) -> bool {
        let mut set = [PollFd::new(&self.0, PollFlags::IN)];
        wait(&mut set, limit.and_then(|limit| Instant::now().checked_add(limit)));
        !set[0].revents().is_empty()
    }
}

impl Controller {
    pub(super) fn new(
        job: haft_process::JobController,
        finished: Arc<FinishedEvent>,
        supervision: &Arc<Supervision>,
    ) -> Controller {
        Controller { job, finished, supervision: Arc::downgrade(supervision) }
    }

    /// The identifier of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.job.id()
    }

    /// The processes of the run that are alive.
    #[must_use]
    pub fn members(&self) -> Vec<i32> {
        self.job.members()
    }

    /// The output so far.
    #[must_use]
    pub fn captured(&self) -> &Captured {
        self.job.captured()
    }

    /// Writes input, if the run has [`Input::Pipe`](super::Input::Pipe) or a terminal.
    pub fn write(&self, bytes: impl Into<Arc<[u8]>>) {
        self.job.write(bytes);
    }

    /// Closes the input after everything that was written.
    pub fn close_input(&self) {
        self.job.close_input();
    }

    /// Changes the size of the run's terminal, if it has one.
    pub fn resize(&self, size: TerminalSize) {
        self.job.resize(size);
    }

    /// Sends a signal to all programs of the run.
    ///
    /// # Errors
    /// If the signal is invalid, or no program runs.
    pub fn signal(&self, signal: i32) -> Result<(), Error> {
        self.job.signal(signal)
    }

    /// Sends a signal to the script itself, as `kill $$` does: its trap runs, or the signal ends it.
    pub fn signal_script(&self, signal: i32) {
        if let Some(supervision) = self.supervision.upgrade() {
            supervision.signal_script(signal);
        }
    }

    /// Sets the grace period, if the run was not asked to end yet.
    pub fn set_grace(&self, grace: Duration) {
        self.job.set_grace(grace);
    }

    /// Ends the run with all its processes.
    pub fn cancel(&self) {
        self.job.cancel();
    }

    /// Whether the run was asked to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.job.is_cancelled()
    }

    /// The process that is blocked reading the run's terminal or standard input, if any. It is this process if the script
    /// itself reads.
    #[must_use]
    pub fn needs_input(&self) -> Option<i32> {
        self.job.needs_input()
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished.wait(Some(Duration::ZERO))
    }

    /// Waits for the end of the run for at most `limit`. Returns whether it has ended.
    #[must_use]
    pub fn wait_finished(&self, limit: Duration) -> bool {
        self.finished.wait(Some(limit))
    }

    /// Waits until more than `bytes` bytes were written on all streams together, the run has ended, or the deadline has passed.
    #[must_use]
    pub fn wait_change(&self, bytes: u64, deadline: Option<Instant>) -> Change {
        let outputs: Vec<&Output> = self.captured().all().collect();
        let watches: Vec<_> = outputs.iter().filter_map(|output| output.watch().ok()).collect();
        loop {
            watches.iter().for_each(haft_process::capture::OutputWatch::clear);
            let written = outputs.iter().map(|output| output.total_bytes()).sum();
            let finished = self.is_finished();
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if written > bytes || finished || late {
                return Change { bytes: written, finished };
            }
            let mut set = vec![PollFd::new(&self.finished.0, PollFlags::IN)];
            set.extend(watches.iter().map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)));
            wait(&mut set, deadline);
        }
    }
}

/// Polls until something happens or the deadline has passed.
fn wait(set: &mut [PollFd<'_>], deadline: Option<Instant>) {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limit = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(set, limit.as_ref()) != Err(rustix::io::Errno::INTR) {
            return;
        }
    }
}
