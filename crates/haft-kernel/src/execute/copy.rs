//! Background work of a plain shell that is no program: it gets a process of its own, a copy of this one, so that it has
//! a number that everybody understands and goes on when the shell has ended.

use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use haft_lang::ast::{Command, CommandKind, SimpleCommand, Statement};
use haft_process::{CancelToken, Child, Disposition, ForkedChild, ProcessGroup};

use super::dispatch::Target;
use super::parameters::ExecutionParameters;
use super::pipeline::{CANNOT_START, runs_commands};
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::Member;
use crate::options::SetOption;
use crate::session::Session;

impl Session {
    /// Whether a statement that is to run in the background shall run in a copy of this process: if this process is the
    /// shell's alone, as it must be with a single thread, and the statement is not just programs.
    pub(super) fn copies_itself(&self, child: &Self, statement: &Statement) -> bool {
        !child.is_just_programs(statement)
            && (self.may_copy() || (self.could_copy() && soon_alone() && self.may_copy()))
    }

    /// Whether this process is a shell's alone and can be copied.
    pub(super) fn may_copy(&self) -> bool {
        self.could_copy() && Child::can_fork()
    }

    /// The same if there were no other threads.
    fn could_copy(&self) -> bool {
        self.owns_process() && self.is_on_main_thread() && !self.is_interactive()
    }

    /// Whether a statement starts programs and does nothing in this process.
    pub(super) fn is_just_programs(&self, statement: &Statement) -> bool {
        is_as_it_stands(statement)
            && !self.traps.has_actions()
            && statement.first.stages.iter().all(|command| match &command.kind {
                CommandKind::Simple(simple) => {
                    !runs_commands(command, simple)
                        && simple.name().is_some_and(|name| matches!(self.find(name), Target::External))
                }
                _ => false,
            })
    }

    /// Runs something, as the whole of this subshell, in a copy of this process.
    pub(super) fn run_in_copy(mut self, run: impl FnOnce(&mut Self, &ForkedChild) -> Flow) -> Member {
        let group =
            if self.options.has(SetOption::Monitor) { ProcessGroup::Own } else { ProcessGroup::Inherit };
        let kept = self.own_descriptors();
        let captures = self.processes.set_captures(Vec::new());
        let copied = Child::fork(group, &kept, |mut copied| {
            // The ends that the original holds are not for the copy to keep open.
            captures.iter().for_each(|capture| capture.close());
            self.lead_copy();
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

    /// Makes this subshell the shell that its process is: its signals are its own.
    fn lead_copy(&mut self) {
        self.identity.lead_process(rustix::process::getpid().as_raw_pid());
        // Its programs are in the group that it leads.
        self.processes.set_group(None);
        // What the shell it came from has left running is no child of this process, and not its to end.
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

    /// Makes pipes of what collects output in memory, for what goes on when the substitution that it is in could end: who
    /// reads from a pipe knows when the last who writes to it is gone.
    pub(super) fn leave_captures(&mut self) -> std::io::Result<()> {
        let captured = self.open_files.iter().filter(|(_, file)| file.is_capture());
        let captured: Vec<(u32, Arc<OpenFile>)> =
            captured.map(|(number, file)| (number, file.clone())).collect();
        let mut pipes: Vec<Arc<OpenFile>> = Vec::with_capacity(captured.len());
        for (place, (number, file)) in captured.iter().enumerate() {
            // Descriptors that share a file go on sharing one.
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

    /// The descriptors of the process that a copy needs, those by which it waits for what it has started among them. What the original has put aside, and what belongs to its other
    /// jobs, must not be held open by it.
    fn own_descriptors(&self) -> Vec<RawFd> {
        let files = self.open_files.iter().filter_map(|(_, file)| file.descriptor());
        let started = self.jobs.iter().flat_map(|job| &job.members).chain(self.processes.substitutions());
        let waited = started.filter_map(Member::descriptor);
        files.chain(self.kernel.signals.descriptor()).chain(waited).map(|file| file.as_raw_fd()).collect()
    }

    /// Runs a statement as all that this subshell, or the copy of the process that it has, does from now on: what its one
    /// command redirects need not be put back, it is the subshell that it may ask for, and may become the program that
    /// comes last.
    pub(super) fn run_alone(&mut self, statement: &Statement, copied: Option<&ForkedChild>) -> Flow {
        let none = ExecutionParameters::default();
        let [command] = &*statement.first.stages else { return self.run_statement(statement, none) };
        if !is_as_it_stands(statement) {
            return self.run_statement(statement, none);
        }
        self.calls.set_line(command.line);
        if let CommandKind::Simple(simple) = &command.kind {
            return self.run_simple_alone(command, simple, copied);
        }
        if !self.redirect_for_good(command, copied)? {
            return Ok(1);
        }
        match &command.kind {
            CommandKind::Subshell(list) => self.run_list_with(list, ExecutionParameters::last_of_program()),
            kind => self.run_kind(kind, none),
        }
    }

    fn run_simple_alone(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        copied: Option<&ForkedChild>,
    ) -> Flow {
        let parameters = ExecutionParameters::last_of_program();
        if command.redirects.is_empty() || !simple.assignments.is_empty() || simple.arguments.is_empty() {
            return self.run_command(command, parameters, None);
        }
        let arguments = self.expand_arguments(simple)?;
        let Some(name) = arguments.words.first() else { return self.run_command(command, parameters, None) };
        let target = self.find(name);
        let target = self.settle(target, &arguments.words);
        if !self.redirect_for_good(command, copied)? {
            return Ok(1);
        }
        self.run_target(target, &arguments, &[], parameters, None)
    }

    /// Redirects without a way back, and lets go of what was there before. Yields whether that worked.
    fn redirect_for_good(&mut self, command: &Command, copied: Option<&ForkedChild>) -> Result<bool, Unwind> {
        let Some(undo) = self.redirect(&command.redirects)? else { return Ok(false) };
        self.forget(undo);
        // A process substitution among them has descriptors of its own, on a thread.
        if let Some(copied) = copied
            && Child::can_fork()
        {
            copied.keep_only(&self.own_descriptors());
        }
        Ok(true)
    }
}

/// Whether the other threads were only on their way out, as that of `echo` is in `echo text | while read line; do … & done`.
fn soon_alone() -> bool {
    const LOOKS: u32 = 10;
    const BETWEEN: Duration = Duration::from_micros(500);
    (0..LOOKS).any(|_| {
        thread::sleep(BETWEEN);
        Child::can_fork()
    })
}

/// Whether a statement is one pipeline with nothing before or after it.
fn is_as_it_stands(statement: &Statement) -> bool {
    statement.rest.is_empty() && !statement.first.negated && statement.first.time.is_none()
}
