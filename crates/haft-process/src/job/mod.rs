//! The one supervisor: feeds a process, reads what it writes, and ends it with all its descendants when it must.

mod control;
mod feeder;
mod handle;
mod inside;
mod options;
mod setup;
mod stream;
mod task;
mod turn;

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use control::JobController;
pub use handle::JobHandle;
pub use inside::{InProcessJob, InProcessWork};
pub use options::{DEFAULT_GRACE, Input, Streams, SupervisionOptions};
pub use stream::StreamKind;
pub use task::Task;

use crate::command::DescriptorSource;
use crate::enforce::Sampler;
use crate::error::Error;
use crate::job::control::Shared;
use crate::job::feeder::Feeder;
use crate::job::inside::Foreground;
use crate::job::stream::Stream;
use crate::ladder::Ladder;
use crate::outcome::{CANCELLED, JobOutcome, TIMED_OUT};
use crate::pursuit::pursue_scope;
use crate::reaper;
use crate::status::{Exit, Usage};
use crate::survivors::{Survivors, Tree};

/// Called with the bytes of a stream as they arrive.
pub struct OutputCallback(Box<LiveCallback>);

type LiveCallback = dyn FnMut(StreamKind, &[u8]) + Send;

impl OutputCallback {
    /// A callback.
    pub fn new(callback: impl FnMut(StreamKind, &[u8]) + Send + 'static) -> OutputCallback {
        OutputCallback(Box::new(callback))
    }

    fn show(&mut self, kind: StreamKind, bytes: &[u8]) {
        (self.0)(kind, bytes);
    }
}

impl fmt::Debug for OutputCallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Live(…)")
    }
}

/// A started job. It makes progress while somebody waits for it, here or [in the background](Job::background);
/// dropping it ends it with all its processes.
#[derive(Debug)]
pub struct Job {
    shared: Arc<Shared>,
    argv: Vec<OsString>,
    working_directory: Option<PathBuf>,
    /// What was asked for, until it is reaped.
    foreground: Foreground,
    /// The work of this process that belongs to the job, if some does.
    work: Option<Arc<dyn InProcessWork>>,
    exit: Option<(Exit, Usage)>,
    started: Instant,
    /// When the process that was asked for was seen to have ended. It is reaped later, so that its number stays its own.
    ended: Option<Instant>,
    deadline: Option<Instant>,
    timed_out: bool,
    cancelled: bool,
    needed_input: bool,
    feeder: Option<Feeder>,
    streams: Vec<Stream>,
    /// The other side of the job's terminal. While it is open here, a process may let go of it and take it again.
    slave: Option<DescriptorSource>,
    on_output: Option<OutputCallback>,
    ladder: Ladder,
    /// Enforces the limits that no control group does.
    sampler: Option<Sampler>,
    drain: Option<Drain>,
    /// Readable, in an urgent way, when the last process of the scope has gone. Opened when that is waited for.
    emptied: Option<OwnedFd>,
    buffer: Vec<u8>,
    /// Whether its outcome was made, so that nothing is left to be done.
    concluded: bool,
}

/// How long the output of an ended process is still waited for.
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// When it will have been quiet for long enough.
    quiet: Instant,
    /// When it is over even if it is not quiet.
    over: Instant,
}

impl Drain {
    /// So much quiet is enough.
    const QUIET: Duration = Duration::from_millis(100);
    /// A process that keeps writing is not waited for any longer.
    const LONGEST: Duration = Duration::from_millis(200);

    fn from(now: Instant) -> Drain {
        Drain { quiet: now + Drain::QUIET, over: now + Drain::LONGEST }
    }

    fn due(self) -> Instant {
        self.quiet.min(self.over)
    }
}

impl Job {
    /// A hold on the job for other threads.
    pub fn controller(&self) -> JobController {
        JobController(self.shared.clone())
    }

    /// Runs it on a thread of its own.
    ///
    /// # Errors
    /// If there is no thread to be had; the job is ended then.
    pub fn background(self) -> Result<JobHandle, Error> {
        JobHandle::start(self)
    }

    /// Waits for its end on this thread.
    pub fn wait(mut self) -> JobOutcome {
        while !self.is_over() {
            self.turn();
        }
        self.conclude()
    }

    /// Whether there is nothing left to wait for.
    fn is_over(&self) -> bool {
        let drained = self.streams.iter().all(|stream| stream.source().is_none());
        if self.ladder.has_begun() {
            return self.ladder.is_down()
                && (drained || self.drain.is_none_or(|drain| Instant::now() >= drain.due()));
        }
        if self.foreground.is_gone() {
            return drained && !self.is_busy() && self.shared.scope.is_empty();
        }
        self.ended.is_some() && (drained || self.drain.is_some_and(|drain| Instant::now() >= drain.due()))
    }

    fn conclude(mut self) -> JobOutcome {
        let wall = self.ended.unwrap_or_else(Instant::now) - self.started;
        self.concluded = true;
        self.reap();
        let adopted = self.adopt();
        let (exit, usage) = self.exit.unwrap_or((self.unfinished(), Usage::default()));
        let (killed, survivors) =
            self.ladder.result().unwrap_or_else(|| (0, self.remains(adopted.is_some())));
        if adopted.is_none() {
            self.shared.scope.retire();
        }
        let limits = self.shared.scope.limits();
        JobOutcome {
            argv: std::mem::take(&mut self.argv),
            exit,
            timed_out: self.timed_out,
            cancelled: self.cancelled,
            needed_input: self.needed_input,
            wall,
            usage,
            captured: self.shared.captured.clone(),
            working_directory: self.working_directory.take(),
            tree: Tree { started: self.shared.scope.started(), killed, survivors },
            limits,
            adopted,
            duration: self.started.elapsed(),
        }
    }

    /// How a process that outlived its end is reported: by the reason for which it was ended.
    fn unfinished(&self) -> Exit {
        Exit::Code(if self.timed_out { TIMED_OUT } else { CANCELLED })
    }

    /// Which processes are left, if nobody has ended them. Those that were adopted are not left.
    fn remains(&self, adopted: bool) -> Survivors {
        if adopted { Survivors::NONE } else { self.shared.scope.remains() }
    }

    /// Reaps the process that was asked for, after a look at who belongs to it if anybody may be left.
    fn reap(&mut self) {
        let foreground = std::mem::replace(&mut self.foreground, Foreground::Gone);
        if foreground.is_gone() {
            return;
        }
        if !self.ladder.has_begun() && self.is_holding_output() {
            self.shared.scope.remember();
        }
        let (_, survivors) = self.ladder.result().unwrap_or_default();
        self.exit = foreground.reap(survivors.pids());
        reaper::reap_orphans();
        if !survivors.pids().is_empty() {
            pursue_scope(&self.shared.scope);
        }
    }

    /// Whether work of this process goes on beside the foreground.
    fn is_busy(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_busy())
    }

    /// Whether work of this process goes on that may start further programs.
    fn is_working(&self) -> bool {
        self.is_busy() || self.ended.is_none() && matches!(self.foreground, Foreground::Work(_))
    }

    fn is_holding_output(&self) -> bool {
        self.streams.iter().any(|stream| stream.source().is_some())
    }

    /// Hands what is left to a job in the background: those who still run, and those who still hold the output open.
    fn adopt(&mut self) -> Option<JobHandle> {
        let over = self.ladder.has_begun();
        if over || !(self.is_holding_output() || self.is_busy() || self.shared.scope.has_strays()) {
            for stream in &mut self.streams {
                stream.end();
            }
            return None;
        }
        let left = Job {
            shared: Arc::new(self.shared.inherit().ok()?),
            argv: self.argv.clone(),
            working_directory: self.working_directory.clone(),
            foreground: Foreground::Gone,
            work: self.work.clone(),
            exit: self.exit,
            started: self.started,
            ended: self.ended,
            deadline: None,
            timed_out: false,
            cancelled: false,
            needed_input: false,
            feeder: None,
            streams: std::mem::take(&mut self.streams),
            slave: None,
            on_output: None,
            ladder: Ladder::default(),
            sampler: self.sampler.take(),
            drain: None,
            emptied: self.emptied.take(),
            buffer: Vec::new(),
            concluded: false,
        };
        left.background().ok()
    }
}

impl Drop for Job {
    /// A job that nobody waited for ends here, by the same ladder.
    fn drop(&mut self) {
        if !self.concluded {
            // It may be the callback that has failed.
            self.on_output = None;
            self.shared.cancel.cancel();
            while !self.is_over() {
                self.turn();
            }
            self.reap();
        }
    }
}
