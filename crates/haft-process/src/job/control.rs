//! What others may see of a running job, and do to it, from any thread.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use crate::cancel::{CancelToken, notify};
use crate::error::Error;
use crate::needs_input::{FileIdentity, waiting_process};
use crate::outcome::{Captured, JobOutcome, RunningJobReport};
use crate::pty::{Terminal, TerminalSize};
use crate::scope::Scope;

/// A hold on a running job. Clones hold the same one; holding it keeps nothing alive.
#[derive(Clone, Debug)]
pub struct JobController(pub(super) Arc<Shared>);

/// What the thread that runs a job shares with everybody else.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pid: i32,
    pub(super) scope: Scope,
    pub(super) captured: Captured,
    pub(super) cancel: CancelToken,
    pub(super) terminal: Option<Terminal>,
    /// The files that are the job's input, as its processes see them.
    pub(super) inputs: Vec<FileIdentity>,
    /// How long processes are given to end by themselves, in nanoseconds.
    grace: AtomicU64,
    wake: OwnedFd,
    requests: Mutex<Requests>,
    outcome: Mutex<Option<JobOutcome>>,
    finished: Condvar,
}

/// What was asked of a job and not done yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) input: Vec<Arc<[u8]>>,
    pub(super) close_input: bool,
}

impl Shared {
    pub(super) fn new(scope: Scope, cancel: CancelToken, grace: Duration) -> Result<Shared, Error> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::system("make a wake-up descriptor", error))?;
        // Made now, so that it is there when it is waited for.
        cancel.descriptor()?;
        Ok(Shared {
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

    /// The same job after the process that was asked for has ended: what is left of it can be cancelled on its own.
    pub(super) fn inherit(&self) -> Result<Shared, Error> {
        let left = Shared::new(self.scope.clone(), CancelToken::new(), self.grace())?;
        Ok(Shared { pid: self.pid, captured: self.captured.clone(), ..left })
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_nanos(self.grace.load(Ordering::Relaxed))
    }

    /// The descriptor that is readable when something was requested.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes what was requested.
    pub(super) fn take_requests(&self) -> Requests {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        std::mem::take(&mut *lock(&self.requests))
    }

    /// Which process waits for input.
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
    /// The name of the job.
    pub fn id(&self) -> &str {
        self.0.scope.id()
    }

    /// The process that was asked for; 0 if it is work of this process.
    pub fn pid(&self) -> i32 {
        self.0.pid
    }

    /// The processes of the job that are alive.
    pub fn members(&self) -> Vec<i32> {
        self.0.scope.members()
    }

    /// What they have written so far.
    pub fn captured(&self) -> &Captured {
        &self.0.captured
    }

    /// Gives the job input, if it was started with [`Input::Pipe`](crate::Input::Pipe) or on a terminal.
    pub fn write(&self, bytes: impl Into<Arc<[u8]>>) {
        lock(&self.0.requests).input.push(bytes.into());
        notify(self.0.wake());
    }

    /// Ends the input, after what was written.
    pub fn close_input(&self) {
        lock(&self.0.requests).close_input = true;
        notify(self.0.wake());
    }

    /// Changes the size of the job's terminal, if it has one.
    pub fn resize(&self, size: TerminalSize) {
        if let Some(terminal) = &self.0.terminal {
            let _ = terminal.resize(size);
        }
    }

    /// Sends a signal to the group of the process that was asked for, or to all programs if it is work of this process.
    ///
    /// # Errors
    /// If there is no such signal, or no such group any more.
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

    /// Sets how long processes are given to end by themselves, if the job was not asked to end yet.
    pub fn set_grace(&self, grace: Duration) {
        self.0.grace.store(nanoseconds(grace), Ordering::Relaxed);
    }

    /// Ends the job with all its processes; whoever waits for it gets its outcome then.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// The process of the job that is blocked reading its terminal or standard input, if there is one.
    pub fn needs_input(&self) -> Option<i32> {
        self.0.waiting_process()
    }

    /// The job as data.
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
