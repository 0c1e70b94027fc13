//! A run: one script, supervised from its first command to its last process, with a result that hides nothing.
//!
//! A [`Run`] is to a script what `haft_process::Task` is to a program. The script's programs belong to one scope of
//! processes; when its time is up or it is cancelled, the interpreter stops and the whole tree is ended. Its output is
//! captured; what still holds that open when the script has ended goes on as a job of the session.

mod analysis;
mod async_session;
mod control;
mod enter;
mod outcome;
mod running;

use std::sync::Arc;

use haft_lang::Script;
use haft_text::Bytes;

use crate::memory::MemoryLimit;
use crate::session::Session;

pub use crate::jobs::{JobInfo, JobReport};
pub use crate::supervision::{EndedJobs, RunObserver, RunPart, Stage, StageKind};
pub use analysis::{check, plan};
pub use async_session::{AsyncSession, RunFuture};
pub use control::{Change, Controller};
pub use haft_process::capture;
pub use haft_process::{
    Captured, CapturedReport, DEFAULT_GRACE, EnforcedBy, Error, ErrorKind, Exit, Host, HostBuilder, Input,
    LimitKind, LimitState, OutputCallback, ProcessGroup, Redactor, Resource, ResourceLimit, RunLimits,
    ScopeLimits, StageReport, StatusReport, StreamKind, Streams, SupervisionOptions, Survivors, TerminalSize,
    Tree, UnknownSurvivors, Usage,
};
pub use outcome::{Outcome, Report, Status};
pub use running::Running;

/// A script with all that concerns its supervision.
///
/// ```
/// use haft_kernel::run::{Host, Run};
/// use haft_kernel::{Kernel, Session};
///
/// let mut session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
/// let outcome = Run::new("x=1; seq 3 | tail -n1").run(&Host::plain(), &mut session)?;
/// assert_eq!((outcome.code(), outcome.stdout()), (0, b"3\n".to_vec()));
/// assert_eq!(outcome.stages.len(), 3);
///
/// let outcome = Run::new("echo $x").run(&Host::plain(), &mut session)?;
/// assert_eq!(outcome.stdout(), b"1\n");
/// # Ok::<(), haft_kernel::run::Error>(())
/// ```
#[must_use = "a run does nothing until it is started or run"]
#[derive(Debug)]
pub struct Run {
    script: Script,
    name: Option<Bytes>,
    arguments: Option<Vec<Bytes>>,
    variables: Vec<(Bytes, Bytes)>,
    options: SupervisionOptions,
    program_limits: Vec<ResourceLimit>,
    group: ProcessGroup,
    memory_limit: MemoryLimit,
    observer: Option<Arc<dyn RunObserver>>,
}

impl Run {
    /// A run of a script: no input, both streams captured, no deadline.
    pub fn new(script: impl Into<Vec<u8>>) -> Run {
        Run::prepared(Script::new(script.into()))
    }

    /// The same for a script that [`Session::prepare`] has parsed.
    pub fn prepared(script: Script) -> Run {
        Run {
            script,
            name: None,
            arguments: None,
            variables: Vec::new(),
            options: SupervisionOptions::default(),
            program_limits: Vec::new(),
            group: ProcessGroup::Session,
            memory_limit: MemoryLimit::default(),
            observer: None,
        }
    }

    /// Sets `$0`, for this run.
    pub fn name(mut self, name: impl Into<Bytes>) -> Run {
        self.name = Some(name.into());
        self
    }

    /// Sets the positional parameters, for this run.
    pub fn arguments<A: Into<Bytes>>(mut self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.arguments = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// Sets and exports a variable, for this run.
    pub fn variable(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Run {
        self.variables.push((name.into(), value.into()));
        self
    }

    haft_process::supervision_setters!(options);

    /// Sets how much memory the script itself may use: variables, captured output, everything that is not a program's. A
    /// script that needs more ends with [`Status::LimitReached`]. By default, the limit is a quarter of the machine's
    /// memory. [`ScopeLimits::memory`] replaces it by a limit on the sum of script and programs.
    pub fn memory_limit(mut self, limit: MemoryLimit) -> Run {
        self.memory_limit = limit;
        self
    }

    /// Sets a limit for each program of the run.
    pub fn program_limit(mut self, limit: ResourceLimit) -> Run {
        self.program_limits.push(limit);
        self
    }

    /// Sets which group the programs belong to: by default each has a session of its own, so that none
    /// of them can take input from a terminal.
    pub fn group(mut self, group: ProcessGroup) -> Run {
        self.group = group;
        self
    }

    /// Sets an observer, which is told about the start and about each stage of the script's own pipelines.
    pub fn observer(mut self, observer: Arc<dyn RunObserver>) -> Run {
        self.observer = Some(observer);
        self
    }

    /// Runs it on this thread, to its end.
    ///
    /// # Errors
    /// If there are too many open files or threads. The script has not started then.
    pub fn run(self, host: &Host, session: &mut Session) -> Result<Outcome, Error> {
        self.run_held(host, session, |_| ())
    }

    /// The same. `hold` is called with a controller of the run, for other threads, before the script starts.
    ///
    /// # Errors
    /// As for [`Run::run`].
    pub fn run_held(
        mut self,
        host: &Host,
        session: &mut Session,
        hold: impl FnOnce(&Controller),
    ) -> Result<Outcome, Error> {
        let script = std::mem::take(&mut self.script);
        let entered = enter::EnteredRun::new(self, host, session)?;
        hold(&entered.controller());
        Ok(entered.run(session, &script))
    }

    /// Runs it on a thread of its own; the session comes back with the outcome.
    ///
    /// # Errors
    /// If there are too many open files or threads. The script has not started then.
    pub fn start(self, host: &Host, session: Session) -> Result<Running, Error> {
        Running::start(self, host, session)
    }
}
