//! Starting programs.

use std::os::fd::RawFd;
use std::sync::Arc;

use haft_process::{
    Child, Command, DescriptorSource, Environment, Error, ErrorKind, Exit, ProcessGroup, Signals,
};
use haft_text::Bytes;

use super::interrupt::HeldInterrupt;
use super::parameters::ExecutionParameters;
use super::stack::SUBSHELL_UNITS;
use crate::flow::{CANNOT_EXECUTE, Flow, NOT_FOUND, Unwind};
use crate::options::SetOption;
use crate::session::Session;
use crate::supervision::StageRecorder;
use crate::variables::MAX_PROGRAM_BYTES;

impl Session {
    /// Runs a program and waits for it.
    #[inline(never)]
    pub(crate) fn run_external(
        &mut self,
        words: &[Bytes],
        assigned: &[(Bytes, Bytes)],
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        let _ = self.flush();
        self.check()?;
        if self.is_restricted() && words[0].contains(&b'/') {
            self.report(format_args!("{}: restricted: cannot specify `/' in command names", words[0]));
            return Ok(1);
        }
        if words[0].starts_with(b"%") {
            let resume: Vec<Bytes> = std::iter::once("fg".into()).chain(words.iter().cloned()).collect();
            return self.dispatch_recording(&resume, record);
        }
        if parameters.may_replace_process && self.is_alone() {
            self.become_last(words, assigned);
        }
        if self.controls_jobs() {
            return self.run_controlled(words, assigned);
        }
        let held = self.hold_interrupt();
        match self.start_external(words, assigned) {
            Ok(Started::Child(child)) => self.wait_program(child, held, record),
            other => {
                self.release_interrupt(held, true)?;
                match other? {
                    Started::NoShebang(path) => self.run_without_shebang(&path, words, assigned),
                    Started::Failed(status) => Ok(status),
                    Started::Child(_) => Ok(0),
                }
            }
        }
    }

    /// Waits for a program in the foreground and returns its status.
    fn wait_program(
        &mut self,
        mut child: Child,
        held: Option<HeldInterrupt>,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        let waited = self.wait_child(&mut child, record);
        let died_of_it = matches!(waited, Ok(Exit::Signal(Signals::INT)));
        let released = self.release_interrupt(held, died_of_it);
        let exit = match waited.and_then(|exit| released.map(|()| exit)) {
            Ok(exit) => exit,
            Err(unwind) => {
                // The signal was for the shell; the program goes on.
                if matches!(unwind, Unwind::Signal(_)) {
                    child.detach();
                }
                return Err(unwind);
            }
        };
        let status = self.remember_killed_program(child.pid(), exit);
        self.report_killed_jobs();
        self.reap_strays();
        self.stop_within(status)?;
        Ok(status)
    }

    /// Whether this process has nothing left to do after the command it runs.
    fn is_alone(&self) -> bool {
        self.owns_process()
            && self.identity.leads_process()
            && !self.traps.has_actions()
            && self.jobs.is_empty()
            && self.processes.substitutions().is_empty()
            && self.open_files.substitution_count() == 0
    }

    /// Whether this process is a shell and does nothing else.
    pub(crate) fn owns_process(&self) -> bool {
        self.kernel.plain_shell && !self.processes.is_supervised()
    }

    /// Replaces the process by the last program of the script. Returns if that fails; starting the program the usual way then
    /// reports the reason.
    fn become_last(&mut self, words: &[Bytes], assigned: &[(Bytes, Bytes)]) {
        if !self.kernel.allows_programs() {
            return;
        }
        let Some(path) = self.program_path(&words[0], assigned) else { return };
        self.change_shell_level(-1);
        if let Ok(command) = self.command(&path, words, assigned) {
            self.kernel.release_backend();
            drop(command.replace(&self.kernel.permission));
        }
        self.change_shell_level(1);
    }

    /// Starts a program.
    #[inline(never)]
    pub(crate) fn start_external(
        &mut self,
        words: &[Bytes],
        assigned: &[(Bytes, Bytes)],
    ) -> Result<Started, Unwind> {
        let _ = self.flush();
        let Some(name) = words.first() else { return Ok(Started::Failed(0)) };
        if let Some(reason) = self.kernel.permission.refusal() {
            let message = format!("{name}: {reason}");
            self.report(message);
            return Ok(Started::Failed(CANNOT_EXECUTE));
        }
        let Some(path) = self.program_path(name, assigned) else {
            return self.not_found(words, assigned).map(Started::Failed);
        };
        let mut command = match self.command(&path, words, assigned) {
            Ok(command) => command,
            Err(message) => {
                self.report(format_args!("{name}: {message}"));
                return Ok(Started::Failed(CANNOT_EXECUTE));
            }
        };
        let mut started = match self.processes.group() {
            Some(group) => group.spawn(&mut command, &self.kernel.permission),
            None => command.spawn(&self.kernel.permission),
        };
        // A terminal controls one session only; another program of the run has it.
        if self.processes.group().is_none()
            && started.as_ref().is_err_and(|error| error.kind() == ErrorKind::Terminal)
        {
            command.controlling_terminal(None);
            started = command.spawn(&self.kernel.permission);
        }
        match started {
            Ok(child) => {
                // All other programs may have been asked to end just before this one was started.
                if self.limits.is_cancelled() && self.is_being_ended() {
                    let _ = child.signal(Signals::TERM);
                }
                Ok(Started::Child(child))
            }
            Err(error) if error.kind() == ErrorKind::ExecFormat => Ok(Started::NoShebang(path)),
            Err(error) => Ok(Started::Failed(self.explain_start(name, &path, &error))),
        }
    }

    /// The file of a program: the name if it has a slash, else found in `PATH` and remembered.
    pub(crate) fn program_path(&mut self, name: &[u8], assigned: &[(Bytes, Bytes)]) -> Option<Bytes> {
        self.locate_program(name, assigned, 1)
    }

    /// The same. The table of `hash` counts `uses` uses.
    pub(crate) fn locate_program(
        &mut self,
        name: &[u8],
        assigned: &[(Bytes, Bytes)],
        uses: u32,
    ) -> Option<Bytes> {
        if name.contains(&b'/') {
            return Some(name.into());
        }
        let temporary =
            assigned.iter().rev().find(|(name, _)| *name == "PATH").map(|(_, value)| value.clone());
        let path = match &temporary {
            Some(path) => Some(path.clone()),
            None => self.value(b"PATH"),
        };
        if temporary.is_none() {
            self.caches.validate_commands(path.as_ref());
            if let Some(found) = self.caches.use_command(name, uses) {
                return Some(found);
            }
        }
        let found = self.search_path(name, path.as_deref().or(Some(b"")))?;
        if temporary.is_none() && self.options.has(SetOption::HashAll) {
            self.caches.commands_mut().insert(name.into(), (found.clone(), uses));
        }
        Some(found)
    }

    /// Searches `PATH` for a program. A file that cannot be executed is returned if there is no other.
    #[must_use]
    pub fn search_path(&self, name: &[u8], path: Option<&[u8]>) -> Option<Bytes> {
        use std::os::unix::ffi::OsStrExt as _;
        if self.kernel.isolated {
            return None;
        }
        let directory = Some(haft_text::path(self.working_directory.path()));
        let (name, path) = (haft_text::os_str(name), path.map(haft_text::os_str));
        let found = match self.kernel.namespaces {
            None => haft_process::find_program(name, path, directory),
            Some(_) => {
                haft_process::find_program_with(name, path, directory, |file| self.kernel.executability(file))
            }
        };
        match found {
            Ok(found) => Some(found.as_os_str().as_bytes().into()),
            Err(error) if error.kind() == ErrorKind::NotExecutable => {
                error.path().map(|path| path.as_os_str().as_bytes().into())
            }
            Err(_) => None,
        }
    }

    /// A program to be started with the session's environment, directory and descriptors.
    pub(crate) fn command(
        &mut self,
        path: &[u8],
        words: &[Bytes],
        assigned: &[(Bytes, Bytes)],
    ) -> Result<Command, String> {
        if words.iter().map(|word| word.len()).sum::<usize>() > MAX_PROGRAM_BYTES {
            return Err("Argument list too long".to_owned());
        }
        let mut command = Command::new(haft_text::os_str(path));
        command.argument_zero(haft_text::os_str(&words[0]));
        command.arguments(words[1..].iter().map(|word| haft_text::os_str(word)));
        command.environment(self.environment_with(path, assigned));
        let directory = haft_text::path(self.working_directory.path());
        let Some(real) = self.program_directory() else {
            return Err(format!("the working directory '{}' is not on this machine", directory.display()));
        };
        command.working_directory(real);
        if self.shares_process_directory() {
            command.same_working_directory();
        }
        if self.owns_process() {
            command.pidfd_on_demand();
        }
        match self.processes.run() {
            Some(run) => run.apply(&mut command),
            None => {
                command.group(if self.kernel.plain_shell {
                    ProcessGroup::Inherit
                } else {
                    ProcessGroup::Own
                });
            }
        }
        // In a run every program has its own group and session already.
        if self.processes.needs_own_group() && !self.processes.is_supervised() {
            command.group(ProcessGroup::Own);
        }
        if self.processes.is_branch() && self.kernel.plain_shell {
            // Otherwise it would outlive this process.
            command.parent_death_signal(Signals::TERM);
        }
        if let Some(joined) = &self.kernel.namespaces {
            command.namespaces(joined.namespaces.clone());
        }
        command.restrict(&self.kernel.permission);
        command.ignore_signals(self.traps.ignored());
        command.umask(self.open_files.umask());
        for limit in self.limits.program_limits() {
            command.limit(*limit);
        }
        for number in 0..3 {
            command.close(number);
        }
        for (number, file) in self.open_files.iter() {
            let Ok(number) = RawFd::try_from(number) else { continue };
            let open = file.for_program().map_err(|error| format!("descriptor {number}: {error}"))?;
            command.descriptor(number, DescriptorSource::Open(open));
        }
        Ok(command)
    }

    fn environment_with(&mut self, path: &[u8], assigned: &[(Bytes, Bytes)]) -> Arc<Environment> {
        let environment = self.variables.environment();
        let plain = assigned.is_empty()
            && !self.definitions.functions().values().any(|definition| definition.exported);
        if plain && let Some(made) = self.caches.environment(&environment, path) {
            return made;
        }
        let mut own = Environment::clone(&environment);
        for (name, value) in assigned {
            let _ = own.set(haft_text::os_str(name), haft_text::os_str(value));
        }
        for definition in self.definitions.functions().values().filter(|definition| definition.exported) {
            let name = [b"BASH_FUNC_", definition.function.name.as_bytes(), b"%%"].concat();
            let _ =
                own.set(haft_text::os_str(&name), haft_text::os_str(&exported_body(&definition.function)));
        }
        let _ = own.set("_", haft_text::os_str(path));
        let made = Arc::new(own);
        if plain {
            self.caches.set_environment(environment, path.into(), made.clone());
        }
        made
    }

    /// Replaces the process by a program: `exec`. Returns only if that fails.
    pub(crate) fn replace_process(&mut self, words: &[Bytes], zero: Option<&[u8]>, clear: bool) -> Started {
        let _ = self.flush();
        let Some(path) = self.program_path(&words[0], &[]) else {
            self.report(format_args!("exec: {}: not found", words[0]));
            return Started::Failed(NOT_FOUND);
        };
        let mut command = match self.command(&path, words, &[]) {
            Ok(command) => command,
            Err(message) => {
                self.report(format_args!("{}: {message}", words[0]));
                return Started::Failed(CANNOT_EXECUTE);
            }
        };
        if let Some(zero) = zero {
            command.argument_zero(haft_text::os_str(zero));
        }
        if clear {
            command.environment(Environment::new());
        }
        self.kernel.release_backend();
        let error = command.replace(&self.kernel.permission);
        match error.kind() {
            ErrorKind::ExecFormat => {
                let path = path.strip_prefix(b"./").unwrap_or(&path);
                Started::NoShebang(self.resolve(path).into())
            }
            _ => Started::Failed(self.explain_start(&words[0], &path, &error)),
        }
    }

    fn not_found(&mut self, words: &[Bytes], assigned: &[(Bytes, Bytes)]) -> Flow {
        if let Some(handler) = self.function(b"command_not_found_handle") {
            let mut child = self.fork();
            let result = child.nested(SUBSHELL_UNITS, |child| child.call(&handler, words, assigned));
            let ended = child.end_subshell(result);
            self.adopt_output(&mut child);
            return ended;
        }
        let named =
            assigned.iter().rev().find(|(name, _)| **name == *b"PATH").map(|(_, value)| value.clone());
        // Without `PATH`, the name is a file of the working directory.
        let has_path = named.or_else(|| self.value(b"PATH")).is_some_and(|path| !path.is_empty());
        let reason = if has_path { "command not found" } else { "No such file or directory" };
        self.report(format_args!("{}: {reason}", words[0]));
        Ok(NOT_FOUND)
    }

    /// Reports why a program could not be started; returns the status.
    fn explain_start(&mut self, name: &[u8], path: &[u8], error: &Error) -> i32 {
        let shown = String::from_utf8_lossy(name);
        let resolved = self.resolve(path);
        let directory =
            self.kernel.files.metadata(haft_text::path(&resolved)).is_ok_and(|metadata| metadata.is_dir());
        match error.kind() {
            _ if directory => self.report(format_args!("{shown}: Is a directory")),
            ErrorKind::NotFound => self.report(format_args!("{shown}: No such file or directory")),
            ErrorKind::InterpreterNotFound => {
                self.report(format_args!("{shown}: cannot execute: required file not found"));
            }
            ErrorKind::NotExecutable => {
                self.report(format_args!("{}: Permission denied", String::from_utf8_lossy(path)));
            }
            ErrorKind::ArgumentTooLong | ErrorKind::ArgumentsTooLong => {
                self.report(format_args!("{shown}: Argument list too long"));
            }
            // The message names the program already.
            ErrorKind::Denied => self.report(error),
            _ => self.report(format_args!("{shown}: {error}")),
        }
        if directory { CANNOT_EXECUTE } else { error.exit_code() }
    }
}

/// The result of starting a program.
#[derive(Debug)]
pub(crate) enum Started {
    /// The program runs.
    Child(Child),
    /// The file at this path is a script without `#!`, which the shell runs itself.
    NoShebang(Bytes),
    /// It could not be started. This is the status.
    Failed(i32),
}

/// The value of a function in the environment: its body after `() `.
fn exported_body(function: &haft_lang::ast::Function) -> Vec<u8> {
    let printed = haft_lang::print_function(function);
    let open = memchr::memchr(b'\n', &printed).map_or(0, |end| end + 1);
    [b"() ", &printed[open..]].concat()
}
