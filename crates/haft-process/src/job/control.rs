//! The interface of a running job for other threads.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use crate::cancel::{CancelToken, notify};
use crate::error::Error;
use crate::needs_input::{FileIdentity, waiting_process};
use crate::outcome::{Captured, JobOutcome, RunningJobReport};
use crate::pty::{PseudoTerminal, TerminalSize};
use crate::scope::Scope;

/// Observes and controls a running job, from any thread. Clones control the same job. A controller does not keep the job
/// running.
#[derive(Clone, Debug)]
pub struct JobController(pub(super) Arc<JobShared>);

/// State shared between the supervising thread and the controllers.
#[derive(Debug)]
pub(super) struct JobShared {
    pub(super) pid: i32,
    pub(super) scope: Scope,
    pub(super) captured: Captured,
    pub(super) cancel: CancelToken,
    pub(super) terminal: Option<PseudoTerminal>,
    /// The files that the job's processes read their input from.
    pub(super) inputs: Vec<FileIdentity>,
    /// Grace period in nanoseconds.
    grace: AtomicU64,
    wake: OwnedFd,
    requests: Mutex<JobRequests>,
    outcome: Mutex<Option<JobOutcome>>,
    finished: Condvar,
}

/// JobRequests of controllers that the supervising thread has not served yet.
#[derive(Debug, Default)]
pub(super) struct JobRequests {
    pub(super) input: Vec<Arc<[u8]>>,
    pub(super) close_input: bool,
}

impl JobShared {
    pub(super) fn new(scope: Scope, cancel: CancelToken, grace: Duration) -> Result<JobShared, Error> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("create an eventfd", error))?;
        // Creates the descriptor now, because polling cannot report an error.
        cancel.descriptor()?;
        Ok(JobShared {
            pid: 0,
            scope,
            captured: Captured::default(),
            cancel,
            terminal: None,
            inputs: Vec::new(),
            grace: AtomicU64::new(nanoseconds(grace)),
            wake,
            requests: Mutex::default(),
            outcome: Mutex::default(),
            finished: Condvar::new(),
        })
    }

    /// Makes the shared state of an adopted job: same scope and output, with its own cancel token.
    pub(super) fn inherit(&self) -> Result<JobShared, Error> {
        let left = JobShared::new(self.scope.clone(), CancelToken::new(), self.grace())?;
        Ok(JobShared { pid: self.pid, captured: self.captured.clone(), ..left })
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_nanos(self.grace.load(Ordering::Relaxed))
    }

    /// Returns the descriptor that becomes readable on a request.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes the pending requests.
    pub(super) fn take_requests(&self) -> JobRequests {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        std::mem::take(&mut *lock(&self.requests))
    }

    /// Returns a process of the job that is blocked reading the job's input.
    pub(super) fn waiting_process(&self) -> Option<i32> {
        if self.inputs.is_empty() {
            return None;
        }
        let mut readers = self.scope.members();
        if self.pid == 0 {
            readers.push(rustix::process::getpid().as_raw_pid());
        }
        waiting_process(&readers, &self.inputs)
    }

    pub(super) fn finish(&self, outcome: JobOutcome) {
        *lock(&self.outcome) = Some(outcome);
        self.finished.notify_all();
    }

    pub(super) fn take_outcome(&self) -> Option<JobOutcome> {
        lock(&self.outcome).take()
    }

    pub(super) fn wait_finished(&self, limit: Option<Duration>) -> bool {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut outcome = lock(&self.outcome);
        while outcome.is_none() {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            let left = left.unwrap_or(Duration::from_secs(3600));
            outcome = self.finished.wait_timeout(outcome, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl JobController {
    /// Returns the job's id.
    pub fn id(&self) -> &str {
        self.0.scope.id()
    }

    /// Returns the pid of the foreground process, or 0 if the foreground is work of the calling process.
    pub fn pid(&self) -> i32 {
        self.0.pid
    }

    /// Returns the pids of all running processes of the job.
    pub fn members(&self) -> Vec<i32> {
        self.0.scope.members()
    }

    /// Returns the captured output, which grows while the job runs.
    pub fn captured(&self) -> &Captured {
        &self.0.captured
    }

    /// Adds input. Has no effect unless the job was started with [`Input::Pipe`](crate::Input::Pipe) or on a terminal.
    pub fn write(&self, bytes: impl Into<Arc<[u8]>>) {
        lock(&self.0.requests).input.push(bytes.into());
        notify(self.0.wake());
    }

    /// Ends the input after all bytes that were added.
    pub fn close_input(&self) {
        lock(&self.0.requests).close_input = true;
        notify(self.0.wake());
    }

    /// Changes the size of the job's terminal. Has no effect without a terminal.
    pub fn resize(&self, size: TerminalSize) {
        if let Some(terminal) = &self.0.terminal {
            // First, because the output that follows is written for the new size.
            self.0.captured.output.iter().for_each(|output| output.note_resize(size));
            let _ = terminal.resize(size);
        }
    }

    /// Sends a signal to the process group of the foreground process, or to all programs if the foreground is work of the
    /// calling process.
    ///
    /// # Errors
    /// Fails if the signal number is invalid or no process is left.
    pub fn signal(&self, signal: i32) -> Result<(), Error> {
        let failed = |error| Error::system("send the signal", error);
        let number =
            rustix::process::Signal::from_named_raw(signal).ok_or(failed(rustix::io::Errno::INVAL))?;
        let reached = match self.0.pid {
            0 => self.0.scope.signal_all(number),
            pid => self.0.scope.signal_group(pid, number),
        };
        if reached == 0 { Err(failed(rustix::io::Errno::SRCH)) } else { Ok(()) }
    }

    /// Sets the grace period. Has no effect after the job was asked to end.
    pub fn set_grace(&self, grace: Duration) {
        self.0.grace.store(nanoseconds(grace), Ordering::Relaxed);
    }

    /// Ends the job and all its processes. Returns at once; waiting for the job returns its outcome.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// Whether the job was asked to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Returns a process of the job that is blocked reading the job's terminal or standard input.
    pub fn needs_input(&self) -> Option<i32> {
        self.0.waiting_process()
    }

    /// Returns a serializable description of the job.
    pub fn report(&self) -> RunningJobReport {
        RunningJobReport { id: self.id().to_owned(), pids: self.members() }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
