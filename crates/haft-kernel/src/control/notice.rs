//! Messages about jobs.

use haft_process::Signals;

use crate::flow::SIGNAL_BASE;
use crate::jobs::{JobState, job_line};
use crate::session::Session;
use crate::signals::signal_description;

impl Session {
    /// Reports jobs whose state has changed since the last report, and removes those that have ended. Called before a prompt.
    pub fn report_jobs(&mut self) {
        self.jobs.update();
        let changed: Vec<u32> = self
            .jobs
            .iter()
            .filter(|job| job.told != Some(job.state()) && job.state() != JobState::Running)
            .map(|job| job.id)
            .collect();
        for id in changed {
            self.report_job(id);
            if self.jobs.get(id).is_some_and(|job| matches!(job.state(), JobState::Done(_))) {
                self.jobs.remove(id);
            }
        }
    }

    /// Reports the state of a job.
    pub(crate) fn report_job(&mut self, id: u32) {
        let Some(line) = job_line(&self.jobs, id) else { return };
        let state = self.jobs.get(id).map(|job| job.state());
        if state.is_some_and(|state| matches!(state, JobState::Stopped(_))) {
            // The terminal shows "^Z", and the stopped program did not end its line.
            let _ = self.write(2, b"\n");
        }
        let _ = self.write(2, &line);
        let _ = self.flush();
        for job in self.jobs.iter_mut().filter(|job| job.id == id) {
            job.told = state;
        }
    }

    /// Reports the number of a new background job.
    pub(crate) fn announce_job(&mut self, id: u32) {
        if self.is_interactive() && !self.identity.is_subshell() {
            let pid = self.parameters.last_background().unwrap_or(0);
            let _ = self.write(2, format!("[{id}] {pid}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// Reports the signal that killed a foreground program.
    pub(crate) fn report_fatal_signal(&mut self, status: i32) {
        if let Some(words) = status.checked_sub(SIGNAL_BASE).and_then(signal_description) {
            let _ = self.write(2, format!("{words}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// How many jobs are stopped, and how many run on threads of this process and cannot outlive it.
    pub fn jobs_to_lose(&mut self) -> (usize, usize) {
        self.jobs.update();
        let stopped = self.jobs.iter().filter(|job| matches!(job.state(), JobState::Stopped(_))).count();
        let threads = self.jobs.iter().filter(|job| {
            job.state() == JobState::Running && job.members.iter().any(crate::jobs::Member::is_thread)
        });
        (stopped, threads.count())
    }

    /// Ends the stopped jobs, which could never go on without the shell. If the terminal has hung up, ends all jobs.
    pub fn leave_jobs(&mut self, hang_up: bool) {
        self.jobs.update();
        for job in self.jobs.iter().filter(|job| !job.shielded) {
            let stopped = matches!(job.state(), JobState::Stopped(_));
            match hang_up {
                true => job.signal(Signals::HUP),
                false if stopped => job.signal(Signals::TERM),
                false => {}
            }
        }
    }
}
