//! A session: the state of one shell.
//!
//! Each part of the state is a struct of its own, in a file of its own, with private fields. A part decides itself what a
//! subshell inherits (`for_subshell`); [`Session::fork`] puts the parts together.

mod assign;
mod caches;
mod calls;
mod clock;
pub(crate) mod completion;
mod definitions;
mod dynamic;
mod elements;
mod flags;
mod fork;
mod history;
mod identity;
mod input;
mod interactive_state;
mod jobs;
mod limits;
mod locale;
mod lookup;
mod memory;
mod open_files;
mod output;
mod parameters;
mod processes;
mod random;
pub(crate) mod readline;
mod report;
mod restricted;
mod shell_identity;
mod start;
mod trap_state;
mod working_directory;

use std::sync::Arc;

use haft_process::Signals;

use crate::flow::Unwind;
use crate::jobs::Jobs;
use crate::kernel::Kernel;
use crate::memory::MemoryBudget;
use crate::options::ShellOptions;
use crate::signals::SignalInbox;
use crate::traps::{Trap, Traps};
use crate::variables::Variables;

pub use calls::Frame;
pub use completion::{CompletionOption, CompletionOptions};
pub use definitions::Definition;
pub use readline::KeyBinding;
pub use start::BASH_VERSION;

pub(crate) use caches::Caches;
pub(crate) use calls::{CallStack, ErrexitContext};
pub(crate) use definitions::Definitions;
pub(crate) use history::HistoryEntry;
pub use identity::HostIdentity;
pub(crate) use lookup::split_reference;
pub(crate) use open_files::OpenFiles;
pub(crate) use parameters::{GetoptsPosition, Parameters};
pub(crate) use processes::CoprocessId;
pub(crate) use shell_identity::ProgramOrigin;
pub(crate) use working_directory::WorkingDirectory;

use clock::Clock;
use interactive_state::InteractiveState;
use limits::ExecutionLimits;
use processes::SessionProcesses;
use random::RandomGenerator;
use shell_identity::ShellIdentity;
use trap_state::TrapState;

/// A shell: variables, functions, options, traps, working directory, descriptors, jobs.
///
/// A fork shares everything with its parent until one of the two changes it.
#[derive(Debug)]
pub struct Session {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) variables: Variables,
    pub(crate) options: ShellOptions,
    pub(crate) definitions: Definitions,
    pub(crate) parameters: Parameters,
    pub(crate) open_files: OpenFiles,
    pub(crate) working_directory: WorkingDirectory,
    pub(crate) traps: Traps,
    pub(crate) trap_state: TrapState,
    /// The inbox for signals to this session. A subshell on the thread of its parent has none.
    pub(crate) signals: Option<Arc<SignalInbox>>,
    pub(crate) jobs: Jobs,
    pub(crate) calls: CallStack,
    pub(crate) identity: ShellIdentity,
    pub(crate) clock: Clock,
    pub(crate) random: RandomGenerator,
    pub(crate) caches: Caches,
    pub(crate) limits: ExecutionLimits,
    pub(crate) processes: SessionProcesses,
    pub(crate) interactive: InteractiveState,
    /// The memory that the session and its subshells may use.
    pub(crate) memory: MemoryBudget,
}

impl Session {
    /// A session without variables, whose standard descriptors are closed.
    #[must_use]
    pub fn new(kernel: Arc<Kernel>) -> Self {
        let signals = Some(kernel.signals.clone());
        let pid = identity::shell_number(&kernel);
        Self {
            kernel,
            variables: Variables::default(),
            options: ShellOptions::default(),
            definitions: Definitions::default(),
            parameters: Parameters::new("haft"),
            open_files: OpenFiles::new(),
            working_directory: WorkingDirectory::root(),
            traps: Traps::default(),
            trap_state: TrapState::default(),
            signals,
            jobs: Jobs::default(),
            calls: CallStack::default(),
            identity: ShellIdentity::new(pid),
            clock: Clock::new(),
            random: RandomGenerator::new(random::unpredictable_number()),
            caches: Caches::default(),
            limits: ExecutionLimits::default(),
            processes: SessionProcesses::default(),
            interactive: InteractiveState::new(),
            memory: MemoryBudget::default(),
        }
    }

    /// Whether a person enters the commands.
    #[inline]
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive.is_interactive()
    }

    /// Fails if the session is cancelled or has reached its memory limit.
    #[inline]
    pub(crate) fn check_cancelled(&self) -> Result<(), Unwind> {
        if self.limits.is_cancelled() {
            return Err(Unwind::Cancelled);
        }
        if self.memory.is_exceeded() { self.check_memory() } else { Ok(()) }
    }

    /// Fails if the session must stop. Cheap enough for every iteration of a loop.
    ///
    /// # Errors
    /// Cancellation, the memory limit, or a closed pipe.
    #[inline]
    pub fn check(&self) -> Result<(), Unwind> {
        self.check_cancelled()?;
        match self.open_files.has_broken_pipe() && !self.ignores_broken_pipe() {
            true => Err(Unwind::Signal(Signals::PIPE)),
            false => Ok(()),
        }
    }

    /// Whether the session is cancelled or has reached its memory limit. [`Session::check`] then fails.
    pub(crate) fn is_stopping(&self) -> bool {
        self.limits.is_cancelled() || (self.memory.is_exceeded() && !self.memory.recheck())
    }

    /// Whether writing to a closed pipe is an ordinary error because `SIGPIPE` has a trap.
    pub(crate) fn ignores_broken_pipe(&self) -> bool {
        self.traps.get(Trap::Signal(Signals::PIPE)).is_some()
    }
}
