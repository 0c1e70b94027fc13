//! Waiting for jobs.

use super::{JobState, Member};
use crate::flow::Unwind;
use crate::session::Session;

/// What came of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// This process has ended, with this status.
    Ended {
        /// Its number: that of the last stage, for a job.
        pid: i32,
        /// Its status.
        status: i32,
    },
    /// A trap has run for this signal.
    Interrupted(i32),
    /// There is nothing to wait for.
    Nothing,
}

impl Session {
    /// Waits until a member of a pipeline has ended, and yields its status.
    pub(crate) fn wait_member(&mut self, member: &mut Member) -> Result<i32, Unwind> {
        loop {
            member.update();
            if let Some(status) = member.status {
                self.reap_strays();
                return Ok(status);
            }
            let Some(descriptor) = member.descriptor() else { return Ok(127) };
            self.wait_through(&[descriptor])?;
        }
    }

    /// Sees what has ended of that for which nobody waits. A subshell leaves that to the shell that its process is.
    pub(crate) fn reap_strays(&mut self) {
        if self.identity.leads_process() {
            self.processes.substitutions_mut().iter_mut().for_each(Member::update);
            self.processes.orphans().update();
        }
    }

    /// Waits until all members of a pipeline have ended, and sees each of them end.
    pub(crate) fn wait_all(&mut self, members: &mut [Member]) -> Result<(), Unwind> {
        loop {
            members.iter_mut().for_each(Member::update);
            let running = members.iter().filter(|member| member.status.is_none());
            let descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
            if descriptors.is_empty() {
                return Ok(());
            }
            self.wait_through(&descriptors)?;
        }
    }

    /// Waits for a job and takes it off the list.
    ///
    /// # Errors
    /// Cancellation, or what a trap wants.
    pub fn wait_job(&mut self, id: u32) -> Result<Waited, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let Some(job) = self.jobs.get(id) else { return Ok(Waited::Nothing) };
            let pid = job.pid();
            if let JobState::Done(status) = job.state() {
                self.tell_death_of_job(id);
                self.forget_coprocess(pid);
                self.jobs.remove(id);
                return Ok(Waited::Ended { pid, status });
            }
            if let Some(signal) = self.wait_for_jobs(&[id])? {
                return Ok(Waited::Interrupted(signal));
            }
        }
    }

    /// Waits for a process that is part of a job, or was.
    ///
    /// # Errors
    /// Cancellation, or what a trap wants.
    pub fn wait_pid(&mut self, pid: i32) -> Result<Waited, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let Some(job) = self.jobs.of_pid(pid) else {
                let finished = self.jobs.finished(pid);
                return Ok(finished.map_or(Waited::Nothing, |status| Waited::Ended { pid, status }));
            };
            let id = job.id;
            let ended = job.members.iter().find(|member| member.pid == pid).and_then(|member| member.status);
            if let Some(status) = ended {
                if matches!(job.state(), JobState::Done(_)) {
                    self.tell_death_of_job(id);
                    self.forget_coprocess(pid);
                    self.jobs.remove(id);
                }
                return Ok(Waited::Ended { pid, status });
            }
            if let Some(signal) = self.wait_for_jobs(&[id])? {
                return Ok(Waited::Interrupted(signal));
            }
        }
    }

    /// Waits for the next of these jobs to end, or of all if none are given: `wait -n`.
    ///
    /// # Errors
    /// Cancellation, or what a trap wants.
    pub fn wait_next(&mut self, ids: &[u32]) -> Result<Waited, Unwind> {
        let _ = self.flush();
        loop {
            self.jobs.update();
            let wanted = |id: u32| ids.is_empty() || ids.contains(&id);
            let ended = self.jobs.iter().find_map(|job| match job.state() {
                JobState::Done(status) if wanted(job.id) => Some((job.id, job.pid(), status)),
                _ => None,
            });
            if let Some((id, pid, status)) = ended {
                self.tell_death_of_job(id);
                self.forget_coprocess(pid);
                self.jobs.remove(id);
                return Ok(Waited::Ended { pid, status });
            }
            let running: Vec<u32> = self.jobs.iter().map(|job| job.id).filter(|id| wanted(*id)).collect();
            if running.is_empty() {
                return Ok(Waited::Nothing);
            }
            if let Some(signal) = self.wait_for_jobs(&running)? {
                return Ok(Waited::Interrupted(signal));
            }
        }
    }

    /// Waits for the process substitution that `$!` names, if it names one.
    ///
    /// # Errors
    /// Cancellation.
    pub fn wait_beside(&mut self) -> Result<(), Unwind> {
        let Some(last) = self.parameters.last_background() else { return Ok(()) };
        let Some(at) = self.processes.substitutions().iter().position(|member| member.pid == last) else {
            return Ok(());
        };
        let mut member = self.processes.substitutions_mut().remove(at);
        self.wait_member(&mut member).map(drop)
    }

    /// Waits until something of these jobs has ended. A signal whose trap has run meanwhile is yielded.
    fn wait_for_jobs(&mut self, ids: &[u32]) -> Result<Option<i32>, Unwind> {
        let members = self.jobs.iter().filter(|job| ids.contains(&job.id)).flat_map(|job| &job.members);
        let running = members.filter(|member| member.status.is_none());
        let descriptors: Vec<_> = running.filter_map(Member::descriptor).collect();
        self.wait_for(&descriptors)?;
        if self.has_pending_signals() {
            return self.run_signal_traps();
        }
        Ok(None)
    }
}
