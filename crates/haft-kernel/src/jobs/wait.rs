//! Waiting for jobs.

use haft_process::Signals;

use super::{JobState, Member};
use crate::flow::{NOT_FOUND, SIGNAL_BASE, Unwind};
use crate::options::SetOption;
use crate::session::Session;

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitResult {
    /// A process has ended.
    Ended {
        /// Its number; for a job, that of the last stage.
        pid: i32,
        /// Its status.
        status: i32,
    },
    /// The trap of this signal has run.
    Interrupted(i32),
    /// There is nothing to wait for.
    Nothing,
}

impl WaitResult {
    /// The exit status of `wait` or `fg` with this result.
    pub(crate) fn status(&self) -> i32 {
        match self {
            Self::Ended { status, .. } => *status,
            Self::Interrupted(signal) => SIGNAL_BASE + signal,
            Self::Nothing => NOT_FOUND,
        }
    }
}

impl Session {
    /// Waits for a member of a pipeline and returns its status.
    pub(crate) fn wait_member(&mut self, member: &mut Member) -> Result<i32, Unwind> {
        loop {
            member.update();
            if let Some(status) = member.status {
                self.reap_strays();
                return Ok(status);
            }
            let Some(descriptor) = member.descriptor() else { return Ok(member.wait_without_descriptor()) };
            self.wait_foreground(&[descriptor])?;
        }
    }

    /// Reaps orphans and process substitutions. A subshell leaves this to the main shell.
    pub(crate) fn reap_strays(&mut self) {
        if self.identity.leads_process() {
            self.processes.substitutions_mut().iter_mut().for_each(Member::update);
            self.processes.orphans().update();
        }
    }

    /// Waits until all members of a pipeline have ended, and records when each one ended.
    pub(crate) fn wait_all(&mut self, members: &mut [Member]) -> Result<(), Unwind> {
        loop {
            members.iter_mut().for_each(Member::update);
            let running = members.iter().filter(|member| member.status.is_none());
            let descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
            if descriptors.is_empty() {
                for member in members {
                    member.wait_without_descriptor();
                }
                return Ok(());
            }
            self.wait_foreground(&descriptors)?;
        }
    }

    /// Waits for a job and removes it.
    ///
    /// # Errors
    /// Cancellation, or a trap that leaves the command.
    pub fn wait_job(&mut self, id: u32) -> Result<WaitResult, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let Some(job) = self.jobs.get(id) else { return Ok(WaitResult::Nothing) };
            let pid = job.pid();
            if let JobState::Done(status) = job.state() {
                self.report_killed_job(id);
                self.forget_coprocess(pid);
                self.jobs.remove(id);
                return Ok(WaitResult::Ended { pid, status });
            }
            if let Some(signal) = self.wait_for_jobs(&[id])? {
                return Ok(WaitResult::Interrupted(signal));
            }
        }
    }

    /// Waits for a process of a job, which may be removed already.
    ///
    /// # Errors
    /// Cancellation, or a trap that leaves the command.
    pub fn wait_pid(&mut self, pid: i32) -> Result<WaitResult, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let Some(job) = self.jobs.of_pid(pid) else {
                let finished = self.jobs.finished(pid);
                return Ok(finished.map_or(WaitResult::Nothing, |status| WaitResult::Ended { pid, status }));
            };
            let id = job.id;
            let ended = job.members.iter().find(|member| member.pid == pid).and_then(|member| member.status);
            if let Some(status) = ended {
                if matches!(job.state(), JobState::Done(_)) {
                    self.report_killed_job(id);
                    self.forget_coprocess(pid);
                    self.jobs.remove(id);
                }
                return Ok(WaitResult::Ended { pid, status });
            }
            if let Some(signal) = self.wait_for_jobs(&[id])? {
                return Ok(WaitResult::Interrupted(signal));
            }
        }
    }

    /// Waits for the first of these jobs to end; of all jobs if there are none: `wait -n`.
    ///
    /// # Errors
    /// Cancellation, or a trap that leaves the command.
    pub fn wait_next(&mut self, ids: &[u32]) -> Result<WaitResult, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let wanted = |id: u32| ids.is_empty() || ids.contains(&id);
            let ended = self.jobs.iter().find_map(|job| match job.state() {
                JobState::Done(status) if wanted(job.id) => Some((job.id, job.pid(), status)),
                _ => None,
            });
            if let Some((id, pid, status)) = ended {
                self.report_killed_job(id);
                self.forget_coprocess(pid);
                self.jobs.remove(id);
                return Ok(WaitResult::Ended { pid, status });
            }
            let running: Vec<u32> = self.jobs.iter().map(|job| job.id).filter(|id| wanted(*id)).collect();
            if running.is_empty() {
                return Ok(WaitResult::Nothing);
            }
            if let Some(signal) = self.wait_for_jobs(&running)? {
                return Ok(WaitResult::Interrupted(signal));
            }
        }
    }

    /// Waits for the process substitution that `$!` refers to, if any.
    ///
    /// # Errors
    /// Cancellation.
    pub fn wait_process_substitution(&mut self) -> Result<(), Unwind> {
        let Some(last) = self.parameters.last_background() else { return Ok(()) };
        let Some(at) = self.processes.substitutions().iter().position(|member| member.pid == last) else {
            return Ok(());
        };
        let mut member = self.processes.substitutions_mut().remove(at);
        self.wait_member(&mut member).map(drop)
    }

    /// Waits until a member of these jobs has ended. Returns a signal whose trap ran meanwhile.
    fn wait_for_jobs(&mut self, ids: &[u32]) -> Result<Option<i32>, Unwind> {
        let members = self.jobs.iter().filter(|job| ids.contains(&job.id)).flat_map(|job| &job.members);
        let running = members.filter(|member| member.status.is_none());
        let descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
        if descriptors.is_empty() {
            self.jobs.wait_without_descriptors(ids);
        } else {
            self.wait_for(&descriptors)?;
        }
        if !self.has_pending_signals() {
            return Ok(None);
        }
        // Outside of POSIX mode, the trap of `SIGCHLD` does not end the waiting.
        let ran = self.run_signal_traps()?;
        Ok(ran.filter(|signal| *signal != Signals::CHLD || self.options.has(SetOption::Posix)))
    }
}
