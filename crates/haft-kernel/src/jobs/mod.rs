//! Background jobs.

mod find;
mod info;
mod inherited;
mod listing;
mod member;
mod number;
mod text;
mod wait;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use haft_text::Bytes;

use crate::control::JobGroup;
use crate::supervision::Supervision;

pub use find::JobNotFound;
pub use info::{JobInfo, JobReport};
pub use inherited::{InheritedJob, InheritedMember};
pub use member::{Completion, Member, ThreadControl};
pub use wait::WaitResult;

pub(crate) use listing::{JobFormat, ListedJob, job_line};
pub(crate) use number::next_number;
pub(crate) use text::canonical;
use text::shown_text;

/// The most statuses of removed jobs that are remembered for `wait`.
const MAX_REMEMBERED_STATUSES: usize = 1024;

/// The jobs of a session.
#[derive(Debug, Default)]
pub struct Jobs {
    list: Vec<Job>,
    /// Process numbers and statuses of jobs that have ended and were removed.
    finished: VecDeque<(i32, i32)>,
    /// The jobs of the parent shell.
    inherited: Arc<Vec<InheritedJob>>,
    /// How many processes of jobs were found to have ended, for the `CHLD` trap.
    newly_ended: u32,
}

/// A background job.
#[derive(Debug)]
pub struct Job {
    /// Its number, as in `%1`.
    pub id: u32,
    /// Its source text.
    pub text: Bytes,
    /// Its stages.
    pub members: Vec<Member>,
    /// Whether it gets no `SIGHUP` when the session ends: `disown -h`.
    pub shielded: bool,
    /// The source text of each stage, if there are several.
    pub stages: Vec<Bytes>,
    /// The process group of its programs, with job control.
    pub(crate) group: Option<Arc<JobGroup>>,
    /// The state that was reported last, before a prompt or by `jobs`.
    pub(crate) told: Option<JobState>,
    /// Whether it was stopped since the last job was started, which makes it the current job.
    was_stopped: bool,
    /// The run that it was started in.
    pub(crate) origin: Option<Arc<Supervision>>,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running,
    /// This signal stopped it.
    Stopped(i32),
    /// It ended with this status.
    Done(i32),
}

impl Job {
    /// The process number of the last stage, which `$!` was set to.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.members.last().map_or(0, |member| member.pid)
    }

    /// The state as of the last update.
    #[must_use]
    pub fn state(&self) -> JobState {
        match self.members.iter().all(|member| member.status.is_some()) {
            true => JobState::Done(self.members.last().and_then(|member| member.status).unwrap_or(0)),
            false => match self.group.as_ref().and_then(|group| group.stopped_by()) {
                Some(signal) => JobState::Stopped(signal),
                None => JobState::Running,
            },
        }
    }

    /// Its source text as bash prints it.
    #[must_use]
    pub fn shown_text(&self) -> Bytes {
        shown_text(&self.text)
    }

    /// The signal that killed the last stage, if one did.
    #[must_use]
    pub fn died(&self) -> Option<i32> {
        self.members.last().and_then(|member| member.died)
    }

    /// The job as the result of a run shows it.
    pub(crate) fn describe(&self) -> JobInfo {
        let run = self.origin.as_ref().map_or("", |origin| origin.scope.id());
        let processes = self.members.iter().filter(|member| member.status.is_none() && !member.is_thread());
        JobInfo {
            id: format!("{run}%{}", self.id),
            number: Some(self.id),
            status: match self.state() {
                JobState::Done(status) => Some(status),
                _ => None,
            },
            command: self.text.clone(),
            pids: processes.map(|member| member.pid).collect(),
            captured: self.origin.as_ref().map(|origin| origin.captured.clone()).unwrap_or_default(),
        }
    }

    /// Sends a signal to all stages that still run.
    pub fn signal(&self, signal: i32) {
        match self.group.as_ref().filter(|group| group.number().is_some()) {
            Some(group) => {
                group.signal(signal);
                self.members
                    .iter()
                    .filter(|member| member.is_thread())
                    .for_each(|member| member.signal(signal));
            }
            None => self.members.iter().for_each(|member| member.signal(signal)),
        }
    }
}

impl Jobs {
    /// All jobs, in the order of their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.list.iter()
    }

    /// All jobs, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Job> {
        self.list.iter_mut()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a job; returns its number.
    pub fn add(&mut self, text: Bytes, members: Vec<Member>) -> u32 {
        let id = self.list.last().map_or(1, |job| job.id + 1);
        let job = Job {
            id,
            text,
            members,
            shielded: false,
            stages: Vec::new(),
            group: None,
            told: None,
            was_stopped: false,
            origin: None,
        };
        self.list.iter_mut().for_each(|job| job.was_stopped = false);
        self.list.push(job);
        id
    }

    /// Adds a job that was stopped in the foreground; returns its number.
    pub(crate) fn add_stopped(&mut self, text: Bytes, members: Vec<Member>, group: Arc<JobGroup>) -> u32 {
        let id = self.add(text, members);
        self.set_group(Some(group));
        id
    }

    /// Sets the source text of the stages of the last job.
    pub(crate) fn set_stages(&mut self, stages: Vec<Bytes>) {
        if let Some(job) = self.list.last_mut() {
            job.stages = stages;
        }
    }

    /// Sets the process group of the last job.
    pub(crate) fn set_group(&mut self, group: Option<Arc<JobGroup>>) {
        if let Some(job) = self.list.last_mut() {
            job.group = group;
        }
    }

    /// The numbers of the jobs, the current one first: stopped jobs before running ones, later jobs before earlier ones.
    #[must_use]
    pub fn ranked(&self) -> Vec<u32> {
        let is_stopped = |job: &&Job| matches!(job.state(), JobState::Stopped(_));
        let stopped = self.list.iter().rev().filter(is_stopped);
        let continued = self.list.iter().rev().filter(|job| !is_stopped(job) && job.was_stopped);
        let others = self.list.iter().rev().filter(|job| !is_stopped(job) && !job.was_stopped);
        stopped.chain(continued).chain(others).map(|job| job.id).collect()
    }

    /// Sets the run that the last job was started in.
    pub(crate) fn set_origin(&mut self, origin: Option<Arc<Supervision>>) {
        if let Some(job) = self.list.last_mut() {
            job.origin = origin;
        }
    }

    /// The job of this number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Job> {
        self.list.iter().find(|job| job.id == id)
    }

    /// The job that a process belongs to.
    #[must_use]
    pub fn of_pid(&self, pid: i32) -> Option<&Job> {
        self.list.iter().find(|job| job.members.iter().any(|member| member.pid == pid))
    }

    /// Updates the state of all jobs, without waiting.
    pub fn update(&mut self) {
        for member in
            self.list.iter_mut().flat_map(|job| &mut job.members).filter(|member| member.status.is_none())
        {
            member.update();
            self.newly_ended += u32::from(member.status.is_some());
        }
        self.list.iter().filter_map(|job| job.group.as_ref()).for_each(|group| group.update());
        for job in &mut self.list {
            job.was_stopped |= matches!(job.state(), JobState::Stopped(_));
        }
    }

    /// Waits for the members of these jobs and serves nothing meanwhile. Only if no member has a
    /// [descriptor](Member::descriptor).
    pub(super) fn wait_without_descriptors(&mut self, ids: &[u32]) {
        for job in self.list.iter_mut().filter(|job| ids.contains(&job.id)) {
            for member in job.members.iter_mut().filter(|member| member.status.is_none()) {
                member.wait_without_descriptor();
                self.newly_ended += 1;
            }
        }
    }

    /// Reaps ended processes, as bash does at once, unless there are many jobs: a subshell can tell with `kill -0` whether a
    /// process is left.
    pub(crate) fn reap_few(&mut self) {
        const MAX_REAPED_JOBS: usize = 16;
        if !self.list.is_empty() && self.list.len() <= MAX_REAPED_JOBS {
            self.update();
        }
    }

    /// How many processes of jobs were found to have ended since the last call.
    pub(crate) fn take_newly_ended(&mut self) -> u32 {
        std::mem::take(&mut self.newly_ended)
    }

    /// Removes a job and forgets its status.
    pub fn forget(&mut self, id: u32) -> Option<Job> {
        let at = self.list.iter().position(|job| job.id == id)?;
        Some(self.list.remove(at))
    }

    /// Removes a job; `wait` can still return its status.
    pub fn remove(&mut self, id: u32) -> Option<Job> {
        let job = self.forget(id)?;
        for member in &job.members {
            if let Some(status) = member.status {
                self.remember(member.pid, status);
            }
        }
        Some(job)
    }

    /// Removes a job because of `disown`. A running job counts as ended with status 0.
    pub fn disown(&mut self, id: u32) -> Option<Job> {
        let job = self.remove(id)?;
        if job.state() == JobState::Running {
            self.remember(job.pid(), 0);
        }
        Some(job)
    }

    /// Removes the jobs without stages.
    pub(crate) fn remove_empty(&mut self) {
        self.list.retain(|job| !job.members.is_empty());
    }

    /// Removes all jobs.
    pub fn take_all(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.list)
    }

    fn remember(&mut self, pid: i32, status: i32) {
        if self.finished.len() >= MAX_REMEMBERED_STATUSES {
            self.finished.pop_front();
        }
        self.finished.push_back((pid, status));
    }

    /// The status of a process whose job was removed.
    #[must_use]
    pub fn finished(&self, pid: i32) -> Option<i32> {
        self.finished.iter().rev().find(|(known, _)| *known == pid).map(|(_, status)| *status)
    }
}

/// Members that subshells have left running. They belong to the main session.
#[derive(Debug, Default)]
pub struct Orphans {
    members: Mutex<Vec<Member>>,
}

impl Orphans {
    /// Adds members and drops those that have ended.
    pub fn adopt(&self, members: impl Iterator<Item = Member>) {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).extend(members);
        self.update();
    }

    /// Drops the members that have ended.
    pub fn update(&self) {
        let mut all = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter_mut().for_each(Member::update);
        all.retain(|member| member.status.is_none());
    }

    /// Whether a process substitution still runs.
    #[must_use]
    pub fn has_substitutions(&self) -> bool {
        self.update();
        let all = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|member| member.is_substitution)
    }

    /// Whether a process uses the processor rather than waiting.
    #[must_use]
    pub fn any_computes(&self) -> bool {
        let all = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|member| !member.is_thread() && haft_process::is_computing(member.pid))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes all members.
    #[must_use]
    pub fn take(&self) -> Vec<Member> {
        std::mem::take(&mut *self.members.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
