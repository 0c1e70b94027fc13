//! A session: one shell's state.

mod assign;
mod dynamic;
mod elements;
mod flags;
mod fork;
mod identity;
mod input;
mod interactive;
mod locale;
mod lookup;
mod moment;
mod output;
mod report;
mod start;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use foldhash::fast::RandomState;
use haft_lang::ast::{Function, Span, Text};
use haft_process::Environment;

use crate::bytes::Bytes;
use crate::control::JobGroup;
use crate::execute::{Regard, SubstitutionPipe};
use crate::flow::Unwind;
use crate::io::{Capture, Descriptors, OpenFile};
use crate::jobs::{Jobs, Member, Orphans};
use crate::kernel::Kernel;
use crate::memory::MemoryBudget;
use crate::options::Options;
use crate::run::{Leftovers, Supervision};
use crate::shared::Shared;
use crate::signals::SignalInbox;
use crate::traps::Traps;
use crate::variables::Variables;
use haft_process::CancelToken;

pub use interactive::NameKind;
pub use start::BASH_VERSION;

pub(crate) use dynamic::Random;
pub(crate) use identity::Identity;
pub(crate) use lookup::SLOW;
pub(crate) use lookup::split_reference;
use moment::Moment;

/// A shell: variables, functions, options, traps, working directory, descriptors, jobs.
///
/// Everything that a fork copies is shared until one of the two changes it.
#[derive(Debug)]
pub struct Session {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) variables: Variables,
    pub(crate) functions: Arc<HashMap<Text, Arc<Definition>, RandomState>>,
    pub(crate) options: Options,
    pub(crate) descriptors: Descriptors,
    /// The working directory: absolute, as the user sees it, links not resolved.
    pub(crate) cwd: Arc<[u8]>,
    /// A hold on it: programs still start in a directory that has been removed.
    pub(crate) held_directory: Option<Arc<OwnedFd>>,
    /// The file mode creation mask.
    pub(crate) umask: u32,
    pub(crate) traps: Traps,
    /// Where signals to this session arrive; a subshell that runs in the place of its parent has none.
    pub(crate) signals: Option<Arc<SignalInbox>>,
    pub(crate) jobs: Jobs,
    /// `$1` and on; see also [`Session::name`].
    pub(crate) positional: Shared<Vec<Bytes>>,
    /// `$0`.
    pub(crate) name: Bytes,
    pub(crate) aliases: Arc<BTreeMap<Bytes, Bytes>>,
    /// What `complete` was told, by command.
    pub(crate) completions: Arc<BTreeMap<Bytes, Bytes>>,
    /// What `pushd` has put aside, the next one to return to first; the working directory is not among them.
    pub(crate) directories: Arc<Vec<Bytes>>,
    /// Builtins that `enable -n` has turned off.
    pub(crate) disabled: Arc<Vec<&'static str>>,
    /// Where programs were found, as `hash` shows: path and how often it was used.
    pub(crate) hashed: Arc<BTreeMap<Bytes, (Bytes, u32)>>,
    /// The calls of functions and sourced files that are going on, the innermost last.
    pub(crate) frames: Shared<Vec<Frame>>,
    /// `$?`.
    pub(crate) status: i32,
    /// `PIPESTATUS`.
    pub(crate) pipe_status: Vec<i32>,
    /// `$_`.
    pub(crate) last_argument: Bytes,
    /// `$!`.
    pub(crate) last_background: Option<i32>,
    /// `$LINENO`.
    pub(crate) line: u32,
    /// Whether `command` runs a builtin, whose errors end no script then, even in POSIX mode.
    pub(crate) under_command: bool,
    /// How many subshells deep this is: `BASH_SUBSHELL`.
    pub(crate) subshell: u32,
    /// `$$`, the same in all subshells.
    pub(crate) pid: i32,
    /// When `SECONDS` was 0.
    pub(crate) started: Instant,
    /// The limits of programs that `ulimit` has set.
    pub(crate) limits: Arc<Vec<haft_process::Limit>>,
    /// Where `getopts` is: the `OPTIND` it left behind, and the place within that argument.
    pub(crate) getopts: (i64, usize),
    pub(crate) cancel: CancelToken,
    /// Stops even the traps that run when the session has to end.
    pub(crate) stop: CancelToken,
    /// What was added to the time since `SECONDS` was 0.
    pub(crate) seconds_offset: u64,
    pub(crate) random: Random,
    /// `BASHPID`: that of the process, or for a subshell a number that no process has.
    pub(crate) own_pid: i32,
    /// Whether this is the shell that its process is, and no subshell within it.
    pub(crate) leads: bool,
    /// Whether the program came as text (`-c`) rather than from a file.
    pub(crate) command_string: bool,
    /// Whether the program came on standard input.
    pub(crate) standard_input: bool,
    /// The name of the file that the program came from.
    pub(crate) script: Bytes,
    /// The text that is being run, for what shows parts of it.
    pub(crate) source_text: Option<Arc<[u8]>>,
    /// The command that `BASH_COMMAND` shows.
    pub(crate) command_span: Span,
    /// The command that ran when the trap that is running was sprung.
    pub(crate) trapped_command: Option<Bytes>,
    /// Who looks at the status of what runs.
    pub(crate) regard: Regard,
    /// What collects output of substitutions around this, to be read whenever the session waits.
    pub(crate) captures: Vec<Arc<Capture>>,
    /// Whether standard input was redirected in this shell, so that background commands share it.
    pub(crate) stdin_redirected: bool,
    /// Whether this is a branch of a fan-out, whose programs end with the process.
    pub(crate) is_branch: bool,
    /// How deep commands are nested now, in units of stack.
    pub(crate) depth: u32,
    /// Whether this runs on a stack made for deep nesting.
    pub(crate) fresh_stack: bool,
    /// How many subshells deep the trace is shown.
    pub(crate) trace_depth: u32,
    /// The `PATH` for which [`Session::hashed`] holds.
    pub(crate) hashed_for: Option<Bytes>,
    /// The environment that the last program got: what it was made from, the program, and what was made.
    pub(crate) last_environment: Option<(Arc<Environment>, Bytes, Arc<Environment>)>,
    /// The run that this session is in, if it is in one.
    pub(crate) run: Option<Arc<Supervision>>,
    /// What runs have left running. It is ended, with the grace that is due, before the jobs below are reaped.
    pub(crate) leftovers: Leftovers,
    /// What subshells have left running.
    pub(crate) orphans: Arc<Orphans>,
    /// The job that this session is a part of, if jobs are controlled.
    pub(crate) group: Option<Arc<JobGroup>>,
    /// Whether a person enters the commands.
    pub(crate) interactive: bool,
    /// What `\!` and `\#` are in a prompt.
    pub(crate) prompt_numbers: (usize, usize),
    /// Process substitutions that run beside the session.
    pub(crate) beside: Vec<Member>,
    /// The process substitution that this is the commands of, or a part of them.
    pub(crate) substitution: Option<Arc<SubstitutionPipe>>,
    /// What only the commands that run now need.
    pub(crate) moment: Moment,
    /// The memory that it may use, with its subshells.
    pub(crate) memory: MemoryBudget,
    /// The file whose output is held back, if any; there is never more than one.
    dirty: Option<Arc<OpenFile>>,
}

/// A function as it was defined.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What it is.
    pub function: Arc<Function>,
    /// The file it was defined in, for `BASH_SOURCE`.
    pub source: Bytes,
    /// The text that it is part of.
    pub text: Option<Arc<[u8]>>,
    /// `declare -fx`.
    pub exported: bool,
    /// `declare -fr`.
    pub readonly: bool,
    /// `declare -ft`.
    pub traced: bool,
}

/// A call of a function or of a sourced file.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function's name, or `source`.
    pub name: Text,
    /// The file that the function was defined in, or the sourced file.
    pub source: Bytes,
    /// The line it was called from.
    pub line: u32,
    /// Whether it is a function, which `local` and `return` work in; `return` works in sourced files too.
    pub is_function: bool,
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
            functions: Arc::default(),
            options: Options::default(),
            descriptors: Descriptors::default(),
            cwd: Arc::from(b"/".as_slice()),
            held_directory: None,
            umask: 0o022,
            traps: Traps::default(),
            signals,
            jobs: Jobs::default(),
            positional: Shared::default(),
            name: "haft".into(),
            aliases: Arc::default(),
            completions: Arc::default(),
            directories: Arc::default(),
            disabled: Arc::default(),
            hashed: Arc::default(),
            frames: Shared::default(),
            status: 0,
            pipe_status: Vec::new(),
            last_argument: Bytes::new(),
            last_background: None,
            line: 0,
            under_command: false,
            subshell: 0,
            pid,
            started: Instant::now(),
            limits: Arc::default(),
            getopts: (0, 0),
            cancel: CancelToken::new(),
            stop: CancelToken::new(),
            seconds_offset: 0,
            random: Random::new(dynamic::unforeseeable()),
            own_pid: pid,
            leads: true,
            command_string: false,
            standard_input: false,
            script: Bytes::new(),
            source_text: None,
            command_span: Span::default(),
            trapped_command: None,
            regard: Regard::Nobody,
            captures: Vec::new(),
            stdin_redirected: false,
            is_branch: false,
            depth: 0,
            fresh_stack: false,
            trace_depth: 0,
            hashed_for: None,
            last_environment: None,
            run: None,
            leftovers: Leftovers::default(),
            orphans: Arc::default(),
            group: None,
            interactive: false,
            prompt_numbers: (1, 1),
            beside: Vec::new(),
            substitution: None,
            moment: Moment::default(),
            memory: MemoryBudget::default(),
            dirty: None,
        }
    }

    /// Stops whoever asks when the session was cancelled.
    #[inline]
    pub(crate) fn check_cancelled(&self) -> Result<(), Unwind> {
        if self.cancel.is_cancelled() {
            return Err(Unwind::Cancelled);
        }
        if self.memory.is_exceeded() { self.check_memory() } else { Ok(()) }
    }

    /// Stops whoever asks when the session is to stop. Cheap enough for every round of a loop.
    ///
    /// # Errors
    /// When the session is to stop.
    #[inline]
    pub fn check(&self) -> Result<(), Unwind> {
        self.check_cancelled()?;
        match self.moment.broken_pipe && !self.ignores_broken_pipe() {
            true => Err(Unwind::Signal(13)),
            false => Ok(()),
        }
    }

    /// Whether the session is to stop: it was cancelled, or has reached its memory limit. A [check](Session::check) ends it
    /// then.
    pub(crate) fn is_stopping(&self) -> bool {
        self.cancel.is_cancelled() || (self.memory.is_exceeded() && !self.memory.settle())
    }

    /// Whether writing to a closed pipe is an error like others instead of the end.
    pub(crate) fn ignores_broken_pipe(&self) -> bool {
        self.traps.get(crate::traps::Trap::Signal(13)).is_some()
    }

    /// The absolute form of a path, from the session's working directory.
    #[must_use]
    pub fn resolve(&self, path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        let mut whole = self.cwd.to_vec();
        if !whole.ends_with(b"/") {
            whole.push(b'/');
        }
        whole.extend_from_slice(path);
        whole
    }
}
