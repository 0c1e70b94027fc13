//! What a job shall be, before it starts.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::capture::Limits;
use crate::command::Command;
use crate::error::Error;
use crate::host::{Host, ScopeLimits};
use crate::job::inside::stand_in;
use crate::job::{Inside, Job, Live, Work};
use crate::outcome::Outcome;
use crate::pty::TerminalSize;
use crate::scope::Scope;

/// How long a job is given to end by itself when it was asked to.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// Where a job's standard input comes from.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Input {
    /// Nowhere: it is at its end from the beginning.
    #[default]
    Null,
    /// These bytes, then the end.
    Bytes(Arc<[u8]>),
    /// An open file, given to the process as it is.
    File(Arc<OwnedFd>),
    /// An open file that is read here and written to the process; for a terminal, and for input that is also given by
    /// other means.
    Forward(Arc<OwnedFd>),
    /// Whatever a [`Controller`](crate::Controller) writes, until it closes it.
    Open,
}

/// Where a job's output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Streams {
    /// Standard output and standard error are captured, each on its own.
    #[default]
    Separate,
    /// Both are captured through one pipe, in the order they are written.
    Merged,
    /// Both go on to where the command's descriptors lead, without passing through here.
    Passed,
    /// The process gets a terminal of this size for all three.
    Terminal(TerminalSize),
}

/// A command with all that concerns its supervision.
#[must_use = "a task does nothing until it is started or run"]
#[derive(Debug)]
pub struct Task {
    pub(super) command: Command,
    pub(super) work: Option<Arc<dyn Work>>,
    pub(super) input: Input,
    pub(super) streams: Streams,
    pub(super) limits: Limits,
    pub(super) scope_limits: ScopeLimits,
    pub(super) within: Option<Scope>,
    pub(super) timeout: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) cancel: Option<CancelToken>,
    pub(super) live: Option<Live>,
}

impl Task {
    /// A task for a command: no input, both streams captured, no deadline.
    pub fn new(command: Command) -> Task {
        Task {
            command,
            work: None,
            input: Input::default(),
            streams: Streams::default(),
            limits: Limits::default(),
            scope_limits: ScopeLimits::default(),
            within: None,
            timeout: None,
            grace: DEFAULT_GRACE,
            cancel: None,
            live: None,
        }
    }

    /// A task for work of this process, to be [entered](Task::enter).
    pub fn inside(work: Arc<dyn Work>) -> Task {
        Task { work: Some(work), ..Task::new(stand_in()) }
    }

    /// Sets the input.
    pub fn input(mut self, input: Input) -> Task {
        self.input = input;
        self
    }

    /// Sets where the output goes.
    pub fn streams(mut self, streams: Streams) -> Task {
        self.streams = streams;
        self
    }

    /// Sets how much of each output is kept.
    pub fn limits(mut self, limits: Limits) -> Task {
        self.limits = limits;
        self
    }

    /// Sets limits for all processes of the job together.
    pub fn scope_limits(mut self, limits: ScopeLimits) -> Task {
        self.scope_limits = limits;
        self
    }

    /// Makes its processes members of this scope as well, whoever that belongs to.
    pub fn within(mut self, scope: &Scope) -> Task {
        self.within = Some(scope.clone());
        self
    }

    /// Ends the job, with all its processes, when it has run for so long.
    pub fn timeout(mut self, timeout: Duration) -> Task {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how long processes are given to end by themselves before they are killed.
    pub fn grace(mut self, grace: Duration) -> Task {
        self.grace = grace;
        self
    }

    /// Ends the job, with all its processes, when the token is cancelled.
    pub fn cancel(mut self, token: &CancelToken) -> Task {
        self.cancel = Some(token.clone());
        self
    }

    /// Calls back with all bytes as they arrive, on the thread that waits for the job.
    pub fn live(mut self, live: Live) -> Task {
        self.live = Some(live);
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// Whatever keeps the program from starting.
    pub fn start(self, host: &Host) -> Result<Job, Error> {
        Job::start(self, host)
    }

    /// Makes a job whose foreground is work of the caller's, which is given what its programs need to belong to the job.
    /// The command is not started: a task for this is made by [`Task::inside`].
    ///
    /// # Errors
    /// If descriptors are not to be had.
    pub fn enter(self, host: &Host) -> Result<(Job, Inside), Error> {
        Job::enter(self, host)
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// Whatever keeps the program from starting.
    pub fn run(self, host: &Host) -> Result<Outcome, Error> {
        Ok(self.start(host)?.wait())
    }
}
