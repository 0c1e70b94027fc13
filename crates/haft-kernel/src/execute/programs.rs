//! What commands that start programs themselves need of a session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use haft_process::{Command, Disposition, Environment};
use haft_text::Bytes;

use super::arguments::Arguments;
use super::dispatch::Target;
use super::external::Started;
use super::parameters::ExecutionParameters;
use super::pipeline::Work;
use super::simple::exported;
use super::trap::FATAL;
use crate::builtins::Context;
use crate::flow::{Flow, Unwind};
use crate::jobs::Member;
use crate::run::Part;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    /// Whether programs may be started.
    #[must_use]
    pub fn allows_programs(&self) -> bool {
        self.kernel.allows_programs()
    }

    /// Which programs may be started.
    #[must_use]
    pub fn permission(&self) -> &haft_process::StartPermission {
        &self.kernel.permission
    }

    /// Whether this process is a shell and nothing else.
    #[must_use]
    pub fn is_plain_shell(&self) -> bool {
        self.kernel.plain_shell
    }

    /// The file of a program: as given if it has a slash, else found by `PATH`.
    pub fn find_program(&mut self, name: &[u8]) -> Option<Bytes> {
        self.program_path(name, &[])
    }

    /// A program to be started, with the environment, directory and descriptors of the session.
    ///
    /// # Errors
    /// What the session has and a program cannot be given.
    pub fn program(&mut self, path: &[u8], words: &[Bytes]) -> Result<Command, String> {
        let _ = self.flush();
        self.command(path, words, &[])
    }

    /// The variables that programs are given.
    #[must_use]
    pub fn environment(&mut self) -> Arc<Environment> {
        self.variables.environment()
    }

    /// Sets a variable that programs are given.
    pub fn set_exported(&mut self, name: &[u8], value: &[u8]) {
        self.variables.insert(name, exported(value.into()));
    }

    /// Takes a variable away from programs, and from the session.
    pub fn withhold(&mut self, name: &[u8]) {
        self.variables.swap(name, None);
    }

    /// Where on this machine a path of the session is; `None` if it is nowhere.
    #[must_use]
    pub fn real_path(&self, path: &[u8]) -> Option<PathBuf> {
        self.real_place(&self.resolve(path))
    }

    /// The same for an absolute path.
    pub(crate) fn real_place(&self, path: &[u8]) -> Option<PathBuf> {
        self.kernel.files.real_path(haft_text::path(path)).or_else(|| {
            let real = self.kernel.backend.as_ref()?.resolve_real_path(path)?;
            Some(haft_text::path(&real).to_owned())
        })
    }

    /// The file system that the session sees.
    #[must_use]
    pub fn files(&self) -> &dyn haft_fs::FileSystem {
        &*self.kernel.files
    }

    /// Whether a function has this name.
    #[must_use]
    pub fn has_function(&self, name: &[u8]) -> bool {
        self.function(name).is_some()
    }

    /// Whether a builtin has this name.
    #[must_use]
    pub fn has_builtin(&self, name: &[u8]) -> bool {
        self.find_builtin(name).is_some()
    }

    /// Whether a command that runs in this process has this name.
    #[must_use]
    pub fn has_command(&self, name: &[u8]) -> bool {
        self.kernel.added(name).is_some()
    }

    /// Whether words, of which the first is taken neither for a function nor for a builtin, run something in this process, or
    /// a tool. It is so for all words where there are no programs.
    pub fn runs_here(&mut self, words: &[Bytes]) -> bool {
        !self.kernel.allows_programs() || !words.is_empty() && self.is_found_beyond(words)
    }

    /// Gives the session an input that is empty.
    pub fn close_input(&mut self) {
        match self.open(b"/dev/null", haft_fs::OpenOptions::new().read(true), true) {
            Ok(Ok(null)) => drop(self.open_files.set(0, null)),
            Ok(Err(_)) | Err(_) => drop(self.open_files.close(0)),
        }
        self.open_files.set_stdin_redirected(true);
    }

    /// Whether a tool of the backend has this name.
    #[must_use]
    pub fn has_tool(&self, name: &[u8]) -> bool {
        self.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name))
    }

    /// Runs something that a signal which would end this process shall not cut off: the signal unwinds it instead, and ends
    /// the process after that. Elsewhere than in a plain shell, and in subshells, it just runs.
    pub fn ended_in_order<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        if !self.kernel.plain_shell || self.identity.is_subshell() || self.trap_state.catches_fatal_signals()
        {
            return run(self);
        }
        let free = self.traps.get(Trap::Exit).is_none();
        let obeyed = |signal: &i32| {
            free && self.traps.get(Trap::Signal(*signal)).is_none()
                && !self.traps.is_fixed(Trap::Signal(*signal))
        };
        let caught: Vec<i32> = FATAL.into_iter().filter(obeyed).collect();
        caught.iter().for_each(|signal| self.kernel.dispose(*signal, Disposition::Catch));
        self.trap_state.set_catches_fatal_signals(true);
        let result = run(self);
        self.trap_state.set_catches_fatal_signals(false);
        caught.iter().for_each(|signal| self.kernel.dispose(*signal, Disposition::Default));
        result
    }

    /// Waits for a member until it ends, and at most so long: its status, if it has ended.
    ///
    /// # Errors
    /// Cancellation.
    pub fn wait_member_until(
        &mut self,
        member: &mut Member,
        deadline: Option<Instant>,
    ) -> Result<Option<i32>, Unwind> {
        let _ = self.flush();
        loop {
            member.update();
            if member.status.is_some() {
                return Ok(member.status);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let Some(descriptor) = member.descriptor() else { return Ok(Some(127)) };
            self.wait_at_most(&[descriptor], left)?;
            if self.trap_state.catches_fatal_signals() && self.has_pending_signals() {
                self.run_signal_traps()?;
            }
        }
    }
}

/// What came of starting words as a command beside the session.
#[derive(Debug)]
pub enum Beside {
    /// It runs; the part is what it will have started.
    Member(Member, Part),
    /// It could not be started; this is the status.
    Failed(i32),
}

impl Context<'_> {
    /// Starts the last of the arguments as a command of its own beside the session: a program in a process group of its
    /// own, anything else in a subshell. A name that a program has means the program, unless it is a command that
    /// runs in this process.
    ///
    /// # Errors
    /// A reason to leave what encloses it.
    pub fn start(&mut self, words: &[Bytes]) -> Result<Beside, Unwind> {
        let _ = self.session.flush();
        let Some(name) = words.first() else { return Ok(Beside::Failed(0)) };
        let mut child = self.session.fork();
        let part = child.become_part();
        let target = match child.has_command(name) || !child.has_program(name) {
            true => child.find(name),
            false => Target::External,
        };
        let target = child.settle(target, words);
        if matches!(target, Target::External) {
            return child.start_own_group(words, part);
        }
        let arguments = Arguments { words: words.to_vec(), operands: None, values: self.values.to_vec() };
        let member = Work::on_thread(child, move |session| {
            session.run_target(target, &arguments, &[], ExecutionParameters::default(), None)
        });
        Ok(Beside::Member(member, part))
    }
}

impl Context<'_> {
    /// Runs the last of the arguments in a subshell, as a program would run them: functions and builtins are not seen.
    ///
    /// # Errors
    /// Cancellation.
    pub fn run_apart(&mut self, mut child: Session, words: &[Bytes]) -> Flow {
        let _ = self.session.flush();
        let result = child.dispatch_beyond(words, self.values);
        let status = child.end_subshell(result);
        child.leave();
        status
    }

    /// The same beside the session.
    pub fn start_apart(&mut self, child: Session, words: &[Bytes]) -> Member {
        let _ = self.session.flush();
        let (words, values) = (words.to_vec(), self.values.to_vec());
        Work::on_thread(child, move |session| session.dispatch_beyond(&words, &values))
    }
}

impl Session {
    fn start_own_group(mut self, words: &[Bytes], part: Part) -> Result<Beside, Unwind> {
        self.processes.require_own_group();
        Ok(match self.start_external(words, &[])? {
            Started::Child(child) => Beside::Member(Member::process(child), part),
            Started::Failed(status) => Beside::Failed(status),
            Started::Headless(path) => {
                let words = words.to_vec();
                let run = move |session: &mut Session| session.run_headless(&path, &words, &[]);
                Beside::Member(Work::on_thread(self, run), part)
            }
        })
    }
}
