//! The supervisor: writes a process's input, reads its output, and ends it with all its descendants when it must.

mod control;
mod handle;
mod in_process;
mod input_writer;
mod io;
mod options;
mod output_reader;
mod poll_loop;
mod setup;
mod task;

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub use control::JobController;
pub use handle::JobHandle;
pub use in_process::{InProcessJob, InProcessWork};
pub use options::{DEFAULT_GRACE, Input, Streams, SupervisionOptions};
pub use output_reader::StreamKind;
pub use task::Task;

use crate::capture::Output;
use crate::enforce::Sampler;
use crate::error::Error;
use crate::job::control::JobShared;
use crate::job::in_process::JobForeground;
use crate::job::io::JobIo;
use crate::kill_retry::kill_scope_until_gone;
use crate::ladder::Ladder;
use crate::outcome::{CANCELLED, JobOutcome, TIMED_OUT};
use crate::reaper;
use crate::status::{Exit, Usage};
use crate::survivors::{Survivors, Tree};

/// A callback that receives captured bytes as they arrive.
pub struct OutputCallback(Box<CallbackFunction>);

type CallbackFunction = dyn FnMut(StreamKind, &[u8]) + Send;

impl OutputCallback {
    /// Makes a callback of a function.
    pub fn new(callback: impl FnMut(StreamKind, &[u8]) + Send + 'static) -> OutputCallback {
        OutputCallback(Box::new(callback))
    }

    fn call(&mut self, kind: StreamKind, bytes: &[u8]) {
        (self.0)(kind, bytes);
    }
}

impl fmt::Debug for OutputCallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OutputCallback(…)")
    }
}

/// A started job. It is supervised while [`wait`](Job::wait) runs, or [in the background](Job::background). Dropping it ends
/// the job and all its processes.
#[derive(Debug)]
pub struct Job {
    shared: Arc<JobShared>,
    program: JobProgram,
    foreground: JobForeground,
    /// Work of the calling process that belongs to the job.
    work: Option<Arc<dyn InProcessWork>>,
    /// The status of the foreground, after it was reaped.
    exit: Option<(Exit, Usage)>,
    times: JobTimes,
    end: EndReason,
    io: JobIo,
    ladder: Ladder,
    /// Enforces limits that no control group enforces.
    sampler: Option<Sampler>,
    /// Polls as urgent when the last process of the scope ends. Opened when the job waits for that.
    emptied: Option<OwnedFd>,
    /// Whether the outcome was made, so that `drop` has nothing to do.
    concluded: bool,
}

/// The program of a job, for its outcome.
#[derive(Clone, Debug, Default)]
struct JobProgram {
    argv: Vec<OsString>,
    working_directory: Option<PathBuf>,
}

/// When a job started, ended, and must end.
#[derive(Clone, Copy, Debug)]
struct JobTimes {
    started: Instant,
    /// When the foreground was seen to have ended. It is reaped later, so that its pid is not reused.
    ended: Option<Instant>,
    deadline: Option<Instant>,
}

/// Why the supervisor ended a job.
#[derive(Clone, Copy, Debug, Default)]
struct EndReason {
    timed_out: bool,
    cancelled: bool,
    /// Whether a process was waiting for input at the deadline.
    needed_input: bool,
}

impl EndReason {
    /// Returns the status of a foreground process that could not be killed.
    fn exit(self) -> Exit {
        Exit::Code(if self.timed_out { TIMED_OUT } else { CANCELLED })
    }
}

impl Job {
    /// Returns a controller, for use by other threads.
    pub fn controller(&self) -> JobController {
        JobController(self.shared.clone())
    }

    /// Supervises the job on a new thread.
    ///
    /// # Errors
    /// Fails if no thread can be started. The job is ended then.
    pub fn background(self) -> Result<JobHandle, Error> {
        JobHandle::start(self)
    }

    /// Supervises the job on this thread until it ends.
    pub fn wait(mut self) -> JobOutcome {
        while !self.is_over() {
            self.poll_once();
        }
        self.conclude()
    }

    /// Whether there is nothing left to wait for.
    fn is_over(&self) -> bool {
        if self.ladder.has_begun() {
            return self.ladder.is_down() && self.io.is_drained();
        }
        if self.foreground.is_gone() {
            return !self.io.has_open_output() && !self.is_busy() && self.shared.scope.is_empty();
        }
        self.times.ended.is_some() && self.io.is_drained()
    }

    fn conclude(mut self) -> JobOutcome {
        let wall = self.times.ended.unwrap_or_else(Instant::now) - self.times.started;
        self.concluded = true;
        self.reap();
        let adopted = self.adopt();
        let (exit, usage) = self.exit.unwrap_or((self.end.exit(), Usage::default()));
        let (killed, survivors) =
            self.ladder.result().unwrap_or_else(|| (0, self.remaining(adopted.is_some())));
        if adopted.is_none() {
            self.shared.scope.retire();
            self.shared.captured.late.iter().for_each(Output::finish);
        }
        let limits = self.shared.scope.limits();
        let program = std::mem::take(&mut self.program);
        JobOutcome {
            argv: program.argv,
            exit,
            timed_out: self.end.timed_out,
            cancelled: self.end.cancelled,
            needed_input: self.end.needed_input,
            wall,
            usage,
            captured: self.shared.captured.clone(),
            working_directory: program.working_directory,
            tree: Tree { started: self.shared.scope.started(), killed, survivors },
            limits,
            adopted,
            duration: self.times.started.elapsed(),
        }
    }

    /// Returns the processes that remain after a job that was not ended by the ladder. Adopted processes do not count.
    fn remaining(&self, adopted: bool) -> Survivors {
        if adopted { Survivors::NONE } else { self.shared.scope.remaining() }
    }

    /// Reaps the foreground. If processes may be left, records the members first, while the foreground's pid still
    /// connects them to the job.
    fn reap(&mut self) {
        let foreground = std::mem::replace(&mut self.foreground, JobForeground::Gone);
        if foreground.is_gone() {
            return;
        }
        if !self.ladder.has_begun() && self.io.has_open_output() {
            self.shared.scope.record_members();
        }
        let (_, survivors) = self.ladder.result().unwrap_or_default();
        self.exit = foreground.reap(survivors.pids());
        reaper::reap_orphans();
        if !survivors.pids().is_empty() {
            kill_scope_until_gone(&self.shared.scope);
        }
    }

    /// Whether work of the calling process runs in parallel to the foreground.
    fn is_busy(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_busy())
    }

    /// Whether work of the calling process may start more programs.
    fn is_working(&self) -> bool {
        self.is_busy() || self.times.ended.is_none() && matches!(self.foreground, JobForeground::InProcess(_))
    }

    /// Starts a background job for processes that still run or still have the output open.
    fn adopt(&mut self) -> Option<JobHandle> {
        let is_left = || self.io.has_open_output() || self.is_busy() || self.shared.scope.has_strays();
        if self.ladder.has_begun() || !is_left() {
            self.io.end_outputs();
            return None;
        }
        let left = Job {
            shared: Arc::new(self.shared.inherit().ok()?),
            program: self.program.clone(),
            foreground: JobForeground::Gone,
            work: self.work.clone(),
            exit: self.exit,
            times: JobTimes { deadline: None, ..self.times },
            end: EndReason::default(),
            io: self.io.take_outputs(),
            ladder: Ladder::default(),
            sampler: self.sampler.take().map(Sampler::for_other_thread),
            emptied: self.emptied.take(),
            concluded: false,
        };
        left.background().ok()
    }
}

impl Drop for Job {
    /// Ends a job that was not waited for.
    fn drop(&mut self) {
        if !self.concluded {
            // The callback may have panicked.
            self.io.drop_callback();
            self.shared.cancel.cancel();
            while !self.is_over() {
                self.poll_once();
            }
            self.reap();
        }
    }
}
