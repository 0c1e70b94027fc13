//! The foreground job.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{CancelToken, Signals};
use haft_text::Bytes;

use super::JobGroup;
use crate::flow::{Flow, NOT_FOUND, SIGNAL_BASE, Unwind};
use crate::io::wait_readable;
use crate::jobs::{Job, Member};
use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;

/// Time between the signals that end a foreground job.
const FOREGROUND_GRACE: Duration = Duration::from_millis(500);

/// The status of a program that Ctrl-C ended.
const INTERRUPTED: i32 = SIGNAL_BASE + Signals::INT;

/// The result of waiting for the foreground job.
pub(crate) enum Foreground {
    /// All its stages have ended.
    Ended(Vec<Member>),
    /// This signal stopped it. It is in the job table now.
    Stopped(i32),
}

impl Session {
    /// Whether jobs of this session get process groups of their own. Commands within a job belong to its group.
    pub(crate) fn controls_jobs(&self) -> bool {
        self.options.has(SetOption::Monitor)
            && self.owns_process()
            && !self.identity.is_subshell()
            && self.processes.group().is_none()
    }

    /// The group for a job that this session starts.
    pub(crate) fn new_group(&self, foreground: bool) -> Option<Arc<JobGroup>> {
        match self.controls_jobs() {
            true => Some(JobGroup::new(self.kernel.terminal.clone(), foreground)),
            false => self.processes.group().cloned(),
        }
    }

    /// Waits for a job of one stage; returns its status.
    pub(crate) fn wait_alone(&mut self, members: Vec<Member>, group: Arc<JobGroup>, text: Bytes) -> Flow {
        match self.wait_in_foreground(members, group, text)? {
            Foreground::Ended(members) => {
                let last = members.last();
                let status = last.and_then(|member| member.status).unwrap_or(0);
                self.report_fatal_signal(status);
                Ok(status)
            }
            Foreground::Stopped(signal) => self.leave_loops(signal),
        }
    }

    /// Waits for the foreground job. If Ctrl-C ended it, the running line ends too.
    pub(crate) fn wait_in_foreground(
        &mut self,
        mut members: Vec<Member>,
        group: Arc<JobGroup>,
        text: Bytes,
    ) -> Result<Foreground, Unwind> {
        loop {
            members.iter_mut().for_each(Member::update);
            group.update();
            if members.iter().all(|member| member.status.is_some()) {
                let well =
                    members.iter().all(|member| member.status.is_none_or(|status| status < SIGNAL_BASE));
                group.leave_foreground(well);
                self.stop_if_interrupted(&members)?;
                return Ok(Foreground::Ended(members));
            }
            if let Some(signal) = group.stopped_by() {
                group.leave_foreground(false);
                let id = self.jobs.add_stopped(text, members, group);
                self.report_job(id);
                return Ok(Foreground::Stopped(signal));
            }
            if is_interrupted(&members) {
                members
                    .iter()
                    .filter(|member| member.is_thread())
                    .for_each(|member| member.signal(Signals::INT));
            }
            if let Err(unwind) = self.wait_for_change(&members) {
                self.end_foreground(&mut members, &group);
                return Err(unwind);
            }
        }
    }

    /// Waits until a stage has ended or a program was stopped.
    fn wait_for_change(&self, members: &[Member]) -> Result<(), Unwind> {
        let running = members.iter().filter(|member| member.status.is_none());
        let mut descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
        descriptors.extend(self.kernel.signals.children());
        self.wait_for(&descriptors)?;
        self.kernel.signals.forget_children();
        Ok(())
    }

    /// Ends the foreground job after Ctrl-C or a hang-up that the shell itself received.
    fn end_foreground(&mut self, members: &mut [Member], group: &JobGroup) {
        group.signal(Signals::INT);
        members.iter().filter(|member| member.is_thread()).for_each(|member| member.signal(Signals::INT));
        self.end_members(members, group);
        group.leave_foreground(false);
    }

    /// Ends members: waits, then `SIGTERM`, then `SIGKILL`.
    fn end_members(&self, members: &mut [Member], group: &JobGroup) {
        for signal in [Signals::TERM, Signals::KILL, Signals::KILL] {
            let deadline = Instant::now() + FOREGROUND_GRACE;
            loop {
                members.iter_mut().for_each(Member::update);
                let running = members.iter().filter(|member| member.status.is_none());
                let descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
                let left = deadline.saturating_duration_since(Instant::now());
                match (descriptors.is_empty(), left.is_zero()) {
                    (true, _) => return,
                    (false, true) => break,
                    (false, false) => drop(wait_readable(&descriptors, Some(left), &CancelToken::new())),
                }
            }
            group.signal(signal);
        }
    }

    /// After Ctrl-C ended a program, the rest of the line does not run, unless there is a trap.
    fn stop_if_interrupted(&mut self, members: &[Member]) -> Result<(), Unwind> {
        if !self.is_interactive() || !is_interrupted(members) {
            return Ok(());
        }
        self.interrupt()
    }

    /// The same for a program within a job.
    pub(crate) fn stop_within(&mut self, status: i32) -> Result<(), Unwind> {
        match status == INTERRUPTED && self.is_in_foreground_job() {
            true => self.interrupt(),
            false => Ok(()),
        }
    }

    /// Whether Ctrl-C ended a stage of the last pipeline, which ended with this status.
    pub(crate) fn was_interrupted(&self, status: i32) -> bool {
        let ended = status == INTERRUPTED || self.parameters.pipe_status().contains(&INTERRUPTED);
        ended && self.is_in_foreground_job()
    }

    fn is_in_foreground_job(&self) -> bool {
        self.is_interactive() && self.processes.group().is_some_and(|group| group.is_foreground())
    }

    /// Whether this session is part of a background job, which must not write to the terminal.
    #[must_use]
    pub fn is_in_background_job(&self) -> bool {
        self.processes.group().is_some_and(|group| !group.is_foreground())
    }

    /// Acts as Ctrl-C on the running line: the trap of `SIGINT` runs, or the line ends.
    ///
    /// # Errors
    /// The end of the line, or a trap that leaves the command.
    pub fn interrupt(&mut self) -> Result<(), Unwind> {
        if self.traps.get(Trap::Signal(Signals::INT)).is_some() {
            return self.run_trap(Trap::Signal(Signals::INT));
        }
        self.limits.cancel().cancel_as(Signals::INT);
        Err(Unwind::Cancelled)
    }

    /// Leaves the loops around a job that was stopped.
    pub(crate) fn leave_loops(&mut self, signal: i32) -> Flow {
        self.parameters.set_status(SIGNAL_BASE + signal);
        match self.calls.loops() {
            0 => Ok(SIGNAL_BASE + signal),
            loops => Err(Unwind::Break(loops)),
        }
    }

    /// Takes the terminal from the programs of the foreground job after a read in this process failed because of them. Returns
    /// whether to read again.
    pub(crate) fn regain_terminal(&self, error: &io::Error) -> bool {
        let refused = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        let in_foreground = self.processes.group().is_none_or(|group| group.is_foreground());
        refused && in_foreground && self.kernel.terminal.as_ref().is_some_and(|terminal| terminal.regain())
    }

    /// `fg`: continues a job in the foreground; returns its status.
    pub(crate) fn continue_in_foreground(&mut self, id: u32) -> Flow {
        let Some(Job { text, members, group: Some(group), .. }) = self.jobs.remove(id) else {
            return Ok(NOT_FOUND);
        };
        group.resume(true);
        match self.wait_in_foreground(members, group, text)? {
            Foreground::Ended(members) => {
                let status = members.last().and_then(|member| member.status).unwrap_or(0);
                self.report_fatal_signal(status);
                Ok(status)
            }
            Foreground::Stopped(signal) => Ok(SIGNAL_BASE + signal),
        }
    }
}

/// Whether Ctrl-C ended a stage.
fn is_interrupted(members: &[Member]) -> bool {
    members.iter().any(|member| member.status == Some(INTERRUPTED))
}
