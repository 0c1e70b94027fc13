//! What a shell says about its jobs.

use crate::builtins::job_line;
use crate::jobs::JobState;
use crate::session::Session;

impl Session {
    /// Tells what became of jobs since it was told last, and forgets those that have ended. For a person, before the prompt.
    pub fn tell_jobs(&mut self) {
        self.jobs.update();
        let changed: Vec<u32> = self
            .jobs
            .iter()
            .filter(|job| job.told != Some(job.state()) && job.state() != JobState::Running)
            .map(|job| job.id)
            .collect();
        for id in changed {
            self.tell_job(id);
            if self.jobs.get(id).is_some_and(|job| matches!(job.state(), JobState::Done(_))) {
                self.jobs.remove(id);
            }
        }
    }

    /// Says what became of a job.
    pub(crate) fn tell_job(&mut self, id: u32) {
        let Some(line) = job_line(&self.jobs, id) else { return };
        let state = self.jobs.get(id).map(|job| job.state());
        if state.is_some_and(|state| matches!(state, JobState::Stopped(_))) {
            // The terminal has shown "^Z", and what was stopped has not ended its line.
            let _ = self.write(2, b"\n");
        }
        let _ = self.write(2, &line);
        let _ = self.flush();
        for job in self.jobs.iter_mut().filter(|job| job.id == id) {
            job.told = state;
        }
    }

    /// Says under which number a job goes on in the background.
    pub(crate) fn announce_job(&mut self, id: u32) {
        if self.is_interactive() && !self.identity.is_subshell() {
            let pid = self.parameters.last_background().unwrap_or(0);
            let _ = self.write(2, format!("[{id}] {pid}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// Says what a program in the foreground died of.
    pub(crate) fn tell_death(&mut self, status: i32) {
        if let Some(words) = status.checked_sub(128).and_then(crate::execute::death) {
            let _ = self.write(2, format!("{words}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// How many jobs are stopped, and how many run on threads of this process and so cannot outlive it.
    pub fn jobs_to_lose(&mut self) -> (usize, usize) {
        self.jobs.update();
        let stopped = self.jobs.iter().filter(|job| matches!(job.state(), JobState::Stopped(_))).count();
        let threads = self.jobs.iter().filter(|job| {
            job.state() == JobState::Running && job.members.iter().any(crate::jobs::Member::is_thread)
        });
        (stopped, threads.count())
    }

    /// Ends what cannot outlive the shell: stopped jobs and those on threads. With `hang_up`, because the terminal is gone,
    /// all jobs.
    pub fn leave_jobs(&mut self, hang_up: bool) {
        self.jobs.update();
        for job in self.jobs.iter().filter(|job| !job.shielded) {
            let stopped = matches!(job.state(), JobState::Stopped(_));
            match hang_up {
                true => job.signal(1),
                false if stopped => job.signal(15),
                false => {}
            }
        }
    }
}
