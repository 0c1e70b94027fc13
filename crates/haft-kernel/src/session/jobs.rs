//! The jobs of a session, including those that runs have left running.

use std::time::Duration;

use haft_process::Signals;
use haft_text::Bytes;

use crate::jobs::{Job, JobInfo, Member};
use crate::session::Session;
use crate::supervision::EndedJobs;

impl Session {
    /// Ends all background jobs. Those that have not ended after `wait` get `SIGTERM`, and `SIGKILL` after `grace`.
    pub fn end_jobs(&mut self, wait: Duration, grace: Duration) -> EndedJobs {
        self.processes.leftovers().wait(wait);
        self.jobs.update();
        // Jobs of a run are ended, and counted, with the run's leftovers.
        for job in self.jobs.iter().filter(|job| job.origin.is_none()) {
            job.members.iter().for_each(|member| member.signal(Signals::TERM));
        }
        let ended = self.processes.leftovers_mut().end(Some(grace));
        self.jobs.update();
        ended
    }

    /// Releases detached programs: those that were disowned, or started with `nohup` or `setsid`. They outlive the session;
    /// everything else ends with it. Returns how many they are.
    pub fn release_detached(&mut self) -> usize {
        let shielded: Vec<u32> = self.jobs.iter().filter(|job| job.shielded).map(|job| job.id).collect();
        for job in shielded.into_iter().filter_map(|id| self.jobs.remove(id)) {
            job.members.into_iter().for_each(Member::detach);
        }
        let departed = self.processes.leftovers().release_detached();
        for job in self.jobs.iter_mut() {
            let gone = job.members.extract_if(.., |member| departed.contains(&member.pid));
            gone.for_each(Member::detach);
        }
        self.jobs.remove_empty();
        let (gone, left): (Vec<Member>, Vec<Member>) =
            self.processes.orphans().take().into_iter().partition(|member| departed.contains(&member.pid));
        gone.into_iter().for_each(Member::detach);
        self.processes.orphans().adopt(left.into_iter());
        departed.len()
    }

    /// The jobs that still run, including processes that have left their job.
    #[must_use]
    pub fn running_jobs(&mut self) -> Vec<JobInfo> {
        let mut states = self.known_jobs();
        states.retain(|job| job.status.is_none());
        states
    }

    /// Whether nothing of the session runs, and no file of it is open besides the standard ones.
    #[must_use]
    pub fn is_idle(&mut self) -> bool {
        self.running_jobs().is_empty() && self.open_files.iter().all(|(number, _)| number < 3)
    }

    /// The jobs that still run, and those that have ended and were not waited for.
    #[must_use]
    pub fn known_jobs(&mut self) -> Vec<JobInfo> {
        self.jobs.update();
        let mut states: Vec<JobInfo> = self.jobs.iter().map(Job::describe).collect();
        for controller in self.processes.leftovers().running() {
            if states.iter().any(|job| job.status.is_none() && job.belongs_to(controller.id())) {
                continue;
            }
            states.push(JobInfo {
                id: controller.id().to_owned(),
                number: None,
                status: None,
                command: Bytes::new(),
                pids: controller.members(),
                captured: controller.captured().clone(),
            });
        }
        states
    }
}
