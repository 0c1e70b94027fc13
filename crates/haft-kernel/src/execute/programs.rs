//! The interface of a session for commands that start programs or other commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use haft_process::{Command, Disposition, Environment, Namespaces};
use haft_text::Bytes;

use super::arguments::CommandArguments;
use super::dispatch::CommandTarget;
use super::external::Started;
use super::parameters::ExecutionParameters;
use super::pipeline::StageWork;
use super::simple::exported;
use super::trap::FATAL;
use crate::command::Context;
use crate::flow::{Flow, Unwind};
use crate::jobs::Member;
use crate::session::Session;
use crate::supervision::RunPart;
use crate::traps::Trap;

impl Session {
    /// Whether programs may be started.
    #[must_use]
    pub fn allows_programs(&self) -> bool {
        self.kernel.allows_programs()
    }

    /// Lets the session see the files that other namespaces show. Its programs join them. A process that runs already stays where it
    /// is.
    ///
    /// # Errors
    /// If a descriptor cannot be duplicated.
    pub fn enter_namespaces(&mut self, namespaces: Arc<Namespaces>) -> std::io::Result<()> {
        self.kernel = self.kernel.inside(namespaces)?;
        self.reopen_directory();
        Ok(())
    }

    /// Lets the session see the files of this process again.
    pub fn leave_namespaces(&mut self) {
        if self.kernel.namespaces.is_some() {
            self.kernel = self.kernel.outside();
            self.reopen_directory();
        }
    }

    fn reopen_directory(&mut self) {
        let path = self.working_directory.path().to_vec();
        self.change_directory(&path);
    }

    /// Which programs may be started.
    #[must_use]
    pub fn permission(&self) -> &haft_process::StartPermission {
        &self.kernel.permission
    }

    /// Whether this process is a shell and does nothing else.
    #[must_use]
    pub fn is_plain_shell(&self) -> bool {
        self.kernel.plain_shell
    }

    /// The file of a program: the name if it has a slash, else found in `PATH`.
    pub fn find_program(&mut self, name: &[u8]) -> Option<Bytes> {
        self.program_path(name, &[])
    }

    /// A program to be started with the environment, directory and descriptors of the session.
    ///
    /// # Errors
    /// If the arguments are too long, or the directory or a descriptor does not exist outside of the session.
    pub fn program(&mut self, path: &[u8], words: &[Bytes]) -> Result<Command, String> {
        let _ = self.flush();
        self.command(path, words, &[])
    }

    /// The exported variables.
    #[must_use]
    pub fn environment(&mut self) -> Arc<Environment> {
        self.variables.environment()
    }

    /// Sets and exports a variable.
    pub fn set_exported(&mut self, name: &[u8], value: &[u8]) {
        self.variables.insert(name, exported(value.into()));
    }

    /// Removes a variable.
    pub fn remove_variable(&mut self, name: &[u8]) {
        self.variables.swap(name, None);
    }

    /// The path on this machine of a path of the session. `None` if there is none.
    #[must_use]
    pub fn real_path(&self, path: &[u8]) -> Option<PathBuf> {
        self.real_absolute_path(&self.resolve(path))
    }

    /// The same for an absolute path.
    pub(crate) fn real_absolute_path(&self, path: &[u8]) -> Option<PathBuf> {
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

    /// Whether an added command has this name.
    #[must_use]
    pub fn has_command(&self, name: &[u8]) -> bool {
        self.kernel.added(name).is_some()
    }

    /// Whether words run in this process or as a tool, if functions and builtins are ignored. Always true where programs are
    /// not allowed.
    pub fn runs_in_process(&mut self, words: &[Bytes]) -> bool {
        !self.kernel.allows_programs() || !words.is_empty() && self.resolves_outside_shell(words)
    }

    /// Makes standard input empty.
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

    /// Runs something that must not be cut off by a signal that ends the process: the signal unwinds it first, and then ends
    /// the process. Outside of a plain shell, and in subshells, this only calls `run`.
    pub fn defer_fatal_signals<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
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

    /// Waits for a member until it ends or the deadline has passed. Returns its status if it has ended.
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
            let Some(descriptor) = member.descriptor() else {
                return Ok(Some(member.wait_without_descriptor()));
            };
            self.wait_at_most(&[descriptor], left)?;
            if self.trap_state.catches_fatal_signals() && self.has_pending_signals() {
                self.run_signal_traps()?;
            }
        }
    }
}

/// The result of starting words as a command in the background.
#[derive(Debug)]
pub enum StartedCommand {
    /// The command runs. The part contains all processes that it starts.
    Member(Member, RunPart),
    /// It could not be started. This is the status.
    Failed(i32),
}

impl Context<'_> {
    /// Starts the last of the arguments as a command in the background: a program in its own process group, anything else
    /// in a subshell. A program is preferred to a function or builtin of the same name, but not to an added command.
    ///
    /// # Errors
    /// A reason to leave the commands around this one.
    pub fn start(&mut self, words: &[Bytes]) -> Result<StartedCommand, Unwind> {
        self.flush();
        let Some(name) = words.first() else { return Ok(StartedCommand::Failed(0)) };
        let mut child = self.session_mut().fork();
        let part = child.become_run_part();
        let target = match child.has_command(name) || !child.has_program(name) {
            true => child.resolve_name(name),
            false => CommandTarget::External,
        };
        let target = child.resolve_target(target, words);
        if matches!(target, CommandTarget::External) {
            return child.start_own_group(words, part);
        }
        let arguments =
            CommandArguments { words: words.to_vec(), operands: None, values: self.values.to_vec() };
        let member = StageWork::on_thread(child, move |session| {
            session.run_target(target, &arguments, &[], ExecutionParameters::default(), None)
        });
        Ok(StartedCommand::Member(member, part))
    }
}

impl Context<'_> {
    /// Runs the last of the arguments in the subshell `child`, as a program would: functions and builtins are ignored.
    ///
    /// # Errors
    /// Cancellation.
    pub fn run_in_subshell(&mut self, mut child: Session, words: &[Bytes]) -> Flow {
        self.flush();
        let result = child.dispatch_external(words, self.values);
        let status = child.end_subshell(result);
        child.release_jobs();
        status
    }

    /// Runs a text in the background as `sh -c` does: in a new shell, which has the exported variables of `child` and its files.
    pub fn start_shell(&mut self, mut child: Session, text: &[u8]) -> Member {
        self.flush();
        child.become_script(b"sh", &[]);
        let script = haft_lang::Script::new(text);
        StageWork::on_thread(child, move |session| session.run_program(&script))
    }

    /// Runs words in the background as [`run_in_subshell`](Self::run_in_subshell) does.
    pub fn start_in_subshell(&mut self, child: Session, words: &[Bytes]) -> Member {
        self.flush();
        let (words, values) = (words.to_vec(), self.values.to_vec());
        StageWork::on_thread(child, move |session| session.dispatch_external(&words, &values))
    }
}

impl Session {
    fn start_own_group(mut self, words: &[Bytes], part: RunPart) -> Result<StartedCommand, Unwind> {
        self.processes.require_own_group();
        Ok(match self.start_external(words, &[])? {
            Started::Child(child) => StartedCommand::Member(Member::process(child), part),
            Started::Failed(status) => StartedCommand::Failed(status),
            Started::NoShebang(path) => {
                let words = words.to_vec();
                let run = move |session: &mut Session| session.run_without_shebang(&path, &words, &[]);
                StartedCommand::Member(StageWork::on_thread(self, run), part)
            }
        })
    }
}
