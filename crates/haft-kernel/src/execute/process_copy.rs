//! Background work of a plain shell that is not a program runs in a copy of the process. So it has a real process number
//! and can outlive the shell.

use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use haft_lang::ast::{Command, CommandKind, SimpleCommand, Statement};
use haft_process::{CancelToken, Child, Disposition, ForkedChild, ProcessGroup};

use super::dispatch::CommandTarget;
use super::parameters::ExecutionParameters;
use super::pipeline::{CANNOT_START, runs_commands};
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::Member;
use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    /// Whether a background statement runs in a copy of this process: the process must be a plain shell with a single thread,
    /// and the statement more than programs.
    pub(super) fn runs_in_copy(&self, child: &Self, statement: &Statement) -> bool {
        !child.is_just_programs(statement)
            && (self.may_copy() || (self.could_copy() && other_threads_end_soon() && self.may_copy()))
    }

    /// Whether this process is a plain shell and can be copied.
    pub(super) fn may_copy(&self) -> bool {
        self.could_copy() && Child::can_fork()
    }

    /// The same, but ignores other threads.
    fn could_copy(&self) -> bool {
        self.owns_process() && self.is_on_main_thread() && !self.is_interactive()
    }

    /// Whether a statement only starts programs.
    pub(super) fn is_just_programs(&self, statement: &Statement) -> bool {
        is_single_pipeline(statement)
            && !self.traps.has_actions()
            && statement.first.stages.iter().all(|command| match &command.kind {
                CommandKind::Simple(simple) => {
                    !runs_commands(command, simple)
                        && simple
                            .name()
                            .is_some_and(|name| matches!(self.resolve_name(name), CommandTarget::External))
                }
                _ => false,
            })
    }

    /// Removes the traps of a subshell that only starts one program: it becomes the program, so none of them can run. The
    /// `DEBUG` trap has run in the parent shell.
    pub(super) fn drop_traps_before_program(&mut self, statement: &Statement) {
        let [only] = &*statement.first.stages else { return };
        let dropped: &[Trap] = match &only.kind {
            _ if !is_single_pipeline(statement) => &[],
            CommandKind::Simple(simple) => {
                let target = simple.name().map(|name| self.resolve_name(name));
                match target {
                    Some(CommandTarget::External) => &[Trap::Debug, Trap::Error, Trap::Return],
                    _ => &[],
                }
            }
            CommandKind::Subshell(list) if self.is_one_program(list) => &[Trap::Error],
            _ => &[],
        };
        dropped.iter().for_each(|trap| self.traps.reset(*trap));
    }

    /// Runs something in a copy of this process, as all that this subshell does.
    pub(super) fn run_in_copy(mut self, run: impl FnOnce(&mut Self, &ForkedChild) -> Flow) -> Member {
        let group =
            if self.options.has(SetOption::Monitor) { ProcessGroup::Own } else { ProcessGroup::Inherit };
        let kept = self.needed_descriptors();
        let captures = self.processes.set_captures(Vec::new());
        let copied = Child::fork(group, &kept, |mut copied| {
            // The copy must not keep the pipe ends of the original open.
            captures.iter().for_each(|capture| capture.close());
            self.become_process_leader();
            copied.unblock_signals();
            let status = self.run_as_subshell(|session| run(session, &copied));
            let _ = self.finish();
            status
        });
        match copied {
            Ok(Some(child)) => {
                if group == ProcessGroup::Own {
                    self.processes.group().iter().for_each(|job| job.lead(child.pid()));
                }
                Member::process(child)
            }
            Ok(None) => Member::ended(CANNOT_START),
            Err(error) => {
                self.report(format_args!("{error}"));
                Member::ended(CANNOT_START)
            }
        }
    }

    /// Makes this subshell the shell of its process, which receives the process's signals.
    fn become_process_leader(&mut self) {
        self.identity.lead_process(rustix::process::getpid().as_raw_pid());
        // Its programs are in the group that this process leads.
        self.processes.set_group(None);
        // The orphans of the original shell are not children of this process.
        self.processes.forget_orphans();
        self.limits.set_cancel(CancelToken::new());
        let inbox = self.kernel.signals.clone();
        for signal in (1..=64).filter(|signal| inbox.is_caught(*signal)) {
            self.kernel.dispose(signal, Disposition::Default);
        }
        inbox.take().for_each(drop);
        for signal in self.traps.ignored().iter() {
            let _ = haft_process::set_disposition(signal, Disposition::Ignore);
        }
        self.signals = Some(inbox);
    }

    /// Replaces captures in memory by pipes, for work that may outlive the substitution: the reader of a pipe sees when the
    /// last writer has closed it.
    pub(super) fn leave_captures(&mut self) -> std::io::Result<()> {
        let captured = self.open_files.iter().filter(|(_, file)| file.is_capture());
        let captured: Vec<(u32, Arc<OpenFile>)> =
            captured.map(|(number, file)| (number, file.clone())).collect();
        let mut pipes: Vec<Arc<OpenFile>> = Vec::with_capacity(captured.len());
        for (place, (number, file)) in captured.iter().enumerate() {
            // Descriptors that share a file still share one afterwards.
            let same = captured[..place].iter().position(|(_, other)| Arc::ptr_eq(other, file));
            let pipe = match same {
                Some(other) => pipes[other].clone(),
                None => Arc::new(OpenFile::from_shared(file.for_program()?)),
            };
            self.open_files.set(*number, pipe.clone());
            pipes.push(pipe);
        }
        Ok(())
    }

    /// The descriptors that a copy of the process needs, including those it waits with. It must not hold open what belongs to
    /// other jobs of the original.
    fn needed_descriptors(&self) -> Vec<RawFd> {
        let files = self.open_files.iter().filter_map(|(_, file)| file.descriptor());
        let started = self.jobs.iter().flat_map(|job| &job.members).chain(self.processes.substitutions());
        let waited = started.filter_map(Member::descriptor);
        files.chain(self.kernel.signals.descriptor()).chain(waited).map(|file| file.as_raw_fd()).collect()
    }

    /// Runs a statement as all that this subshell does: redirections of a single command need not be undone, parentheses need
    /// no further subshell, and the process may become the last program.
    pub(super) fn run_as_whole_subshell(
        &mut self,
        statement: &Statement,
        copied: Option<&ForkedChild>,
    ) -> Flow {
        let none = ExecutionParameters::default();
        let [command] = &*statement.first.stages else { return self.run_statement(statement, none) };
        if !is_single_pipeline(statement) {
            return self.run_statement(statement, none);
        }
        self.calls.set_line(command.line);
        if let CommandKind::Simple(simple) = &command.kind {
            return self.run_simple_as_whole_subshell(command, simple, copied);
        }
        if !self.redirect_permanently(command, copied)? {
            return Ok(1);
        }
        match &command.kind {
            CommandKind::Subshell(list) => self.run_list_with(list, ExecutionParameters::last_of_program()),
            kind => self.run_kind(kind, none),
        }
    }

    fn run_simple_as_whole_subshell(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        copied: Option<&ForkedChild>,
    ) -> Flow {
        let parameters =
            ExecutionParameters { debug_trap_has_run: true, ..ExecutionParameters::last_of_program() };
        if command.redirects.is_empty() || !simple.assignments.is_empty() || simple.arguments.is_empty() {
            return self.run_command(command, parameters, None);
        }
        let arguments = self.expand_arguments(simple)?;
        let Some(name) = arguments.words.first() else { return self.run_command(command, parameters, None) };
        let target = self.resolve_name(name);
        let target = self.resolve_target(target, &arguments.words);
        if !self.redirect_permanently(command, copied)? {
            return Ok(1);
        }
        self.run_target(target, &arguments, &[], parameters, None)
    }

    /// Performs redirections permanently and closes what they replace. Returns whether that worked.
    fn redirect_permanently(
        &mut self,
        command: &Command,
        copied: Option<&ForkedChild>,
    ) -> Result<bool, Unwind> {
        let Some(undo) = self.redirect(&command.redirects)? else { return Ok(false) };
        self.make_permanent(undo);
        // A process substitution among them has its own descriptors, on a thread.
        if let Some(copied) = copied
            && Child::can_fork()
        {
            copied.keep_only(&self.needed_descriptors());
        }
        Ok(true)
    }
}

/// Waits for other threads that are about to end, such as that of `echo` in `echo text | while read line; do … & done`.
/// Returns whether this is the only thread then.
fn other_threads_end_soon() -> bool {
    const LOOKS: u32 = 10;
    const BETWEEN: Duration = Duration::from_micros(500);
    (0..LOOKS).any(|_| {
        thread::sleep(BETWEEN);
        Child::can_fork()
    })
}

/// Whether a statement is one pipeline without `!`, `time`, `&&` or `||`.
fn is_single_pipeline(statement: &Statement) -> bool {
    statement.rest.is_empty() && !statement.first.negated && statement.first.time.is_none()
}
