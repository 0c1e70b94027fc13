//! `&`, `coproc`, and what runs beside the session.

use std::io;
use std::sync::Arc;

use haft_fs::OpenOptions;
use haft_lang::ast::{CommandKind, Coprocess, List, Statement};
use haft_process::CancelToken;
use haft_text::Bytes;

use super::parameters::ExecutionParameters;
use super::pipeline::{CANNOT_START, Work};
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
            // As in bash, `!` before all that runs in the background says nothing.
            plain = statement.clone();
            plain.first.negated = false;
            statement = &plain;
        }
        let mut child = self.fork();
        child.jobs.hide_inherited();
        let group = self.new_group(false);
        child.processes.set_group(group.clone());
        child.processes.set_branch(false);
        self.shield_from_keyboard(&mut child);
        if !self.options.has(SetOption::Monitor) {
            child.traps.ignore_keyboard();
        }
        // With job control, who reads from the terminal in the background is stopped until it may.
        if group.is_none()
            && !self.open_files.is_stdin_redirected()
            && let Ok(Ok(null)) = self.open(b"/dev/null", OpenOptions::new().read(true), true)
        {
            child.open_files.set(0, null);
        }
        if let Err(member) = child.go_beside(Self::leave_substitution) {
            return self.add_job(statement, vec![member], group);
        }
        let pipeline =
            statement.rest.is_empty() && !statement.first.negated && statement.first.time.is_none();
        let is_compound =
            matches!(&*statement.first.stages, [only] if !matches!(only.kind, CommandKind::Simple(_)));
        let members = if self.copies_itself(&child, statement) {
            vec![child.run_in_copy(|session, copied| session.run_alone(statement, Some(copied)))]
        } else if pipeline && !is_compound {
            child.processes.set_captures(Vec::new());
            child.start_pipeline(&statement.first, true)
        } else {
            let statement = statement.clone();
            child.processes.set_captures(Vec::new());
            vec![Work::on_thread(child, move |session| session.run_alone(&statement, None))]
        };
        self.add_job(statement, members, group)
    }

    /// Makes a subshell one that goes on beside the session; yields what became of it if it cannot.
    fn go_beside(&mut self, leave: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), Member> {
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

    /// Ctrl-C is for what runs in the foreground: what a person has put into the background does not end with the line. In a
    /// run, what is in the background is asked to end by itself, as its traps may have something to do then.
    fn shield_from_keyboard(&self, child: &mut Self) {
        if self.is_interactive() {
            child.limits.set_cancel(CancelToken::new());
        } else if let Some(run) = self.processes.run() {
            child.limits.set_cancel(run.stopping.stop.child());
        }
    }

    /// Runs a list beside the session, which does not wait for it: a process substitution.
    pub(crate) fn start_detached(&mut self, mut child: Self, body: List, ended: Option<CancelToken>) {
        let _ = self.flush();
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

    /// Runs something in a subshell beside the session: in a process that outlives this one if there can be one, else on a
    /// thread.
    fn start_subshell(
        &self,
        mut child: Self,
        run: impl FnOnce(&mut Self) -> Flow + Send + 'static,
    ) -> Member {
        if let Err(member) = child.go_beside(|_| Ok(())) {
            return member;
        }
        match self.may_copy() {
            true => child.run_in_copy(|session, _| run(session)),
            false => {
                child.processes.set_captures(Vec::new());
                Work::on_thread(child, run)
            }
        }
    }

    /// `coproc`.
    #[inline(never)]
    pub(crate) fn run_coprocess(&mut self, coprocess: &Coprocess) -> Flow {
        let _ = self.flush();
        let name: Bytes = coprocess.name.as_ref().map_or_else(|| "COPROC".into(), Bytes::from);
        let pipes = || -> rustix::io::Result<_> {
            let flags = rustix::pipe::PipeFlags::CLOEXEC;
            Ok((rustix::pipe::pipe_with(flags)?, rustix::pipe::pipe_with(flags)?))
        };
        let Ok(((their_input, our_output), (our_input, their_output))) = pipes() else {
            return Err(self.fail("coproc: cannot make pipe"));
        };
        self.warn_of_coprocess();
        let mut child = self.fork();
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

    /// Says so if there is a coprocess already: only the last is looked after.
    fn warn_of_coprocess(&mut self) {
        self.jobs.update();
        if let Some(CoprocessId { name, pid }) = self.processes.coprocess()
            && self.jobs.of_pid(*pid).is_some_and(|job| job.state() == JobState::Running)
        {
            let text = format!("warning: execute_coproc: coproc [{pid}:{name}] still exists");
            self.report(text);
        }
    }

    /// Forgets a coprocess that has ended: its descriptors are closed, its variables unset.
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

    fn end_of(&self, name: &[u8], index: u64) -> Option<Bytes> {
        match &self.variables.get(name)?.value {
            VariableValue::Indexed(array) => array.get(index).cloned(),
            _ => None,
        }
    }

    /// Ends a subshell: what it has started and still runs goes to the session it came from.
    pub(crate) fn leave(&mut self) {
        let _ = self.flush();
        self.give_up_jobs();
    }

    fn give_up_jobs(&mut self) {
        if !self.jobs.is_empty() || !self.processes.substitutions().is_empty() {
            let jobs = self.jobs.take_all().into_iter().flat_map(|job| job.members);
            let substitutions = std::mem::take(self.processes.substitutions_mut());
            self.processes.orphans().adopt(jobs.chain(substitutions));
        }
    }

    /// Ends the session: what it has started goes on if this process is a plain shell, and else is ended, by the ladder
    /// if it was started in a run.
    ///
    /// # Errors
    /// Cancellation.
    pub fn finish(&mut self) -> Result<(), Unwind> {
        let _ = self.flush();
        self.leave();
        // What reads from the session sees its end.
        self.open_files.close_all();
        let members = self.processes.orphans().take();
        self.processes.leftovers_mut().end(None);
        if !self.kernel.plain_shell {
            members.iter().for_each(|member| member.signal(15));
            drop(members);
            return Ok(());
        }
        for mut member in members {
            match member.is_thread() {
                // It cannot outlive a person's shell, which does not wait for it.
                true if self.is_interactive() => member.signal(1),
                true => drop(self.wait_member(&mut member)?),
                false => member.detach(),
            }
        }
        Ok(())
    }

    /// Lets go of the session at the end of its process: whatever it has started and holds, but values, which may be many, are
    /// not taken apart.
    pub fn part(mut self) {
        std::mem::forget(std::mem::take(&mut self.variables));
        std::mem::forget(self.parameters.take_positional());
    }
}

/// A subshell may end anywhere, and what it has started runs on.
impl Drop for Session {
    fn drop(&mut self) {
        self.give_up_jobs();
    }
}
