//! `&`, `coproc`, and process substitutions in the background.

use std::io;
use std::sync::Arc;

use haft_fs::OpenOptions;
use haft_lang::ast::{CommandKind, Coprocess, List, Statement};
use haft_process::{CancelToken, Signals};
use haft_text::Bytes;

use super::parameters::ExecutionParameters;
use super::pipeline::{CANNOT_START, StageWork};
use crate::control::JobGroup;
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::{JobState, Member};
use crate::options::SetOption;
use crate::session::{CoprocessId, Session};
use crate::variables::{IndexedArray, VariableValue};

impl Session {
    /// Starts a statement of a list in the background.
    #[inline(never)]
    pub(crate) fn run_in_background(&mut self, list: &List, index: usize) -> Flow {
        let _ = self.flush();
        let mut plain;
        let mut statement = &list.statements[index];
        if statement.first.negated && statement.rest.is_empty() {
            // As in bash, `!` before a background command has no effect.
            plain = statement.clone();
            plain.first.negated = false;
            statement = &plain;
        }
        if !self.debug_allows_background(statement)? {
            return Ok(self.parameters.status());
        }
        let mut child = self.fork();
        child.jobs.hide_inherited();
        let group = self.new_group(false);
        child.processes.set_group(group.clone());
        child.processes.set_branch(false);
        child.processes.set_background();
        self.shield_from_keyboard(&mut child);
        if !self.options.has(SetOption::Monitor) {
            child.traps.ignore_keyboard();
        }
        child.drop_traps_before_program(statement);
        // With job control, a background job that reads from the terminal is stopped instead.
        if group.is_none()
            && !self.open_files.is_stdin_redirected()
            && let Ok(Ok(null)) = self.open(b"/dev/null", OpenOptions::new().read(true), true)
        {
            child.open_files.set(0, null);
        }
        if let Err(member) = child.prepare_background(Self::leave_substitution) {
            return self.add_job(statement, vec![member], group);
        }
        let pipeline =
            statement.rest.is_empty() && !statement.first.negated && statement.first.time.is_none();
        let is_compound =
            matches!(&*statement.first.stages, [only] if !matches!(only.kind, CommandKind::Simple(_)));
        let members = if self.runs_in_copy(&child, statement) {
            vec![child.run_in_copy(|session, copied| session.run_as_whole_subshell(statement, Some(copied)))]
        } else if pipeline && !is_compound {
            child.processes.set_captures(Vec::new());
            child.start_pipeline(&statement.first, true)
        } else {
            let statement = statement.clone();
            child.processes.set_captures(Vec::new());
            vec![StageWork::on_thread(child, move |session| session.run_as_whole_subshell(&statement, None))]
        };
        self.add_job(statement, members, group)
    }

    /// Runs the `DEBUG` trap in this shell before a simple command that runs in the background. Returns whether it is to run.
    fn debug_allows_background(&mut self, statement: &Statement) -> Result<bool, Unwind> {
        match &*statement.first.stages {
            [only] if statement.rest.is_empty() && matches!(only.kind, CommandKind::Simple(_)) => {
                self.calls.set_line(only.line);
                self.calls.set_command_span(only.span);
                self.debug_allows()
            }
            _ => Ok(true),
        }
    }

    /// Prepares a subshell to run in the background. Returns the ended member if that fails.
    fn prepare_background(&mut self, leave: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), Member> {
        leave(self).and_then(|()| self.leave_captures()).map_err(|error| {
            self.report(format_args!("cannot make a pipe: {}", haft_fs::message(&error)));
            Member::ended(CANNOT_START)
        })
    }

    fn add_job(&mut self, statement: &Statement, members: Vec<Member>, group: Option<Arc<JobGroup>>) -> Flow {
        let text = self.text_of(statement.span);
        self.parameters.set_last_background(members.last().map(|member| member.pid));
        let stages = match &*statement.first.stages {
            several @ [_, _, ..] if several.len() == members.len() => {
                several.iter().map(|stage| self.text_of(stage.span)).collect()
            }
            _ => Vec::new(),
        };
        let id = self.jobs.add(text, members);
        self.jobs.set_stages(stages);
        self.jobs.set_origin(self.processes.run().cloned());
        self.jobs.set_group(group);
        self.announce_job(id);
        self.parameters.set_status(0);
        Ok(0)
    }

    /// Gives a background job its own cancellation: Ctrl-C ends only the foreground job. In a run, a background job is asked to
    /// end separately, so that its traps can run.
    fn shield_from_keyboard(&self, child: &mut Self) {
        if self.is_interactive() {
            child.limits.set_cancel(CancelToken::new());
        } else if let Some(run) = self.processes.run() {
            child.limits.set_cancel(run.stopping.stop.child());
        }
    }

    /// Runs the list of a process substitution in the background.
    pub(crate) fn start_detached(&mut self, mut child: Self, body: List, ended: Option<CancelToken>) {
        let _ = self.flush();
        child.processes.set_background();
        let mut members = match &*body.statements {
            [statement] if self.owns_process() && child.is_just_programs(statement) => {
                child.start_pipeline(&statement.first, true)
            }
            _ => vec![self.start_subshell(child, move |session| {
                let result = session.run_list(&body);
                ended.iter().for_each(CancelToken::cancel);
                result
            })],
        };
        members.iter_mut().for_each(|member| member.is_substitution = true);
        self.parameters.set_last_background(members.last().map(|member| member.pid));
        self.processes.substitutions_mut().iter_mut().for_each(Member::update);
        self.processes.substitutions_mut().retain(|member| member.status.is_none());
        self.processes.substitutions_mut().extend(members);
    }

    /// Runs something in a subshell in the background: in a copy of the process if possible, which can outlive it, else on a
    /// thread.
    fn start_subshell(
        &self,
        mut child: Self,
        run: impl FnOnce(&mut Self) -> Flow + Send + 'static,
    ) -> Member {
        if let Err(member) = child.prepare_background(|_| Ok(())) {
            return member;
        }
        match self.may_copy() {
            true => child.run_in_copy(|session, _| run(session)),
            false => {
                child.processes.set_captures(Vec::new());
                StageWork::on_thread(child, run)
            }
        }
    }

    /// `coproc`.
    #[inline(never)]
    pub(crate) fn run_coprocess(&mut self, coprocess: &Coprocess) -> Flow {
        let _ = self.flush();
        let name: Bytes = coprocess.name.clone().unwrap_or_else(|| "COPROC".into());
        let pipes = || -> rustix::io::Result<_> {
            let flags = rustix::pipe::PipeFlags::CLOEXEC;
            Ok((rustix::pipe::pipe_with(flags)?, rustix::pipe::pipe_with(flags)?))
        };
        let Ok(((their_input, our_output), (our_input, their_output))) = pipes() else {
            return Err(self.fail("coproc: cannot make pipe"));
        };
        self.warn_of_coprocess();
        let mut child = self.fork();
        child.processes.set_background();
        child.processes.set_group(self.new_group(false));
        self.shield_from_keyboard(&mut child);
        let group = child.processes.group().cloned();
        child.open_files.set(0, Arc::new(OpenFile::pipe(their_input)));
        child.open_files.set(1, Arc::new(OpenFile::pipe(their_output)));
        let body: Arc<[haft_lang::ast::Command]> = Arc::new([coprocess.body.clone()]);
        let member = self.start_subshell(child, move |session| {
            session.run_command(&body[0], ExecutionParameters::default(), None)
        });
        let pid = member.pid;
        let mut ends = IndexedArray::default();
        for (index, end) in [(0, our_input), (1, our_output)] {
            let number = self.open_files.free_from_top();
            // bash has the ends of the coprocess between its own two.
            let number = if index == 1 && number > 2 { number - 2 } else { number };
            self.open_files.set(number, Arc::new(OpenFile::pipe(end)));
            ends.set(index, number.to_string().into());
        }
        self.variables.insert(&name, crate::variables::Variable::new(VariableValue::Indexed(Arc::new(ends))));
        let pid_name = [name.as_bytes(), b"_PID"].concat();
        self.set(&pid_name, pid.to_string()).map_err(|error| self.fail(error))?;
        self.parameters.set_last_background(Some(pid));
        self.processes.set_coprocess(CoprocessId { name: name.clone(), pid });
        let id = self.jobs.add(name, vec![member]);
        self.jobs.set_origin(self.processes.run().cloned());
        self.jobs.set_group(group);
        self.announce_job(id);
        Ok(0)
    }

    /// Warns if there is a coprocess already; only the last one is managed.
    fn warn_of_coprocess(&mut self) {
        self.jobs.update();
        if let Some(CoprocessId { name, pid }) = self.processes.coprocess()
            && self.jobs.of_pid(*pid).is_some_and(|job| job.state() == JobState::Running)
        {
            let text = format!("warning: execute_coproc: coproc [{pid}:{name}] still exists");
            self.report(text);
        }
    }

    /// Closes the descriptors and unsets the variables of a coprocess that has ended.
    pub(crate) fn forget_coprocess(&mut self, ended: i32) {
        let Some(CoprocessId { name, .. }) = self.processes.take_coprocess(ended) else { return };
        for index in 0..2 {
            let number = self.end_of(&name, index).and_then(|text| text.lossy().parse::<u32>().ok());
            if let Some(number) = number {
                self.open_files.close(number);
            }
        }
        let _ = self.variables.unset(&name, false);
        let _ = self.variables.unset(&[name.as_bytes(), b"_PID"].concat(), false);
    }

    /// Notes in the array of the coprocess that one of its descriptors was closed or moved.
    pub(super) fn follow_coprocess_descriptor(&mut self, number: u32) {
        let Some(CoprocessId { name, .. }) = self.processes.coprocess().cloned() else { return };
        for index in 0..2 {
            if self.end_of(&name, index).is_some_and(|held| *held == *number.to_string().as_bytes()) {
                let _ = self.assign_element(&name, index.to_string().as_bytes(), "-1".into(), false);
            }
        }
    }

    fn end_of(&self, name: &[u8], index: u64) -> Option<Bytes> {
        match &self.variables.get(name)?.value {
            VariableValue::Indexed(array) => array.get(index).cloned(),
            _ => None,
        }
    }

    /// Ends a subshell. Its running jobs become orphans of the main session.
    pub(crate) fn release_jobs(&mut self) {
        let _ = self.flush();
        self.orphan_jobs();
    }

    fn orphan_jobs(&mut self) {
        if !self.jobs.is_empty() || !self.processes.substitutions().is_empty() {
            let jobs = self.jobs.take_all().into_iter().flat_map(|job| job.members);
            let substitutions = std::mem::take(self.processes.substitutions_mut());
            self.processes.orphans().adopt(jobs.chain(substitutions));
        }
    }

    /// Ends the session. Its jobs go on if this process is a plain shell, and are ended otherwise; those of a run get its
    /// grace period.
    ///
    /// # Errors
    /// Cancellation.
    pub fn finish(&mut self) -> Result<(), Unwind> {
        let _ = self.flush();
        self.release_jobs();
        // Programs that read from the session see the end of their input.
        self.open_files.close_all();
        let members = self.processes.orphans().take();
        self.processes.leftovers_mut().end(None);
        if !self.kernel.plain_shell {
            members.iter().for_each(|member| member.signal(Signals::TERM));
            drop(members);
            return Ok(());
        }
        for mut member in members {
            match member.is_thread() {
                // A thread cannot outlive an interactive shell, which does not wait for it.
                true if self.is_interactive() => member.signal(Signals::HUP),
                true => drop(self.wait_member(&mut member)?),
                false => member.detach(),
            }
        }
        Ok(())
    }

    /// Drops the session at the end of its process, but not its values: freeing them could take long and the system does it
    /// anyway.
    pub fn part(mut self) {
        std::mem::forget(std::mem::take(&mut self.variables));
        std::mem::forget(self.parameters.take_positional());
    }
}

/// A subshell may end anywhere; its jobs go on.
impl Drop for Session {
    fn drop(&mut self) {
        self.orphan_jobs();
    }
}
