//! Jobs that runs have left running. They belong to the session and end with it.

use std::time::{Duration, Instant};

use haft_process::{JobController, JobHandle, RunLimits, Tree};

/// The result of ending jobs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EndedJobs {
    /// The fate of their processes.
    pub tree: Tree,
    /// The final limits of the run that each job came from, by its identifier.
    pub limits: Vec<(String, RunLimits)>,
}

/// Jobs of earlier runs that still run or hold their output open.
#[derive(Debug, Default)]
pub(crate) struct Leftovers(Vec<JobHandle>);

impl Leftovers {
    pub(crate) fn add(&mut self, handle: JobHandle) {
        self.forget_ended();
        self.0.push(handle);
    }

    /// Those that still run.
    pub(crate) fn running(&self) -> impl Iterator<Item = &JobController> {
        self.0.iter().filter(|handle| !handle.is_finished()).map(JobHandle::controller)
    }

    /// Waits for all to end by themselves, for at most `limit`.
    pub(crate) fn wait(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        for handle in &self.0 {
            handle.wait_for(deadline.saturating_duration_since(Instant::now()));
        }
    }

    /// Ends all at the same time, each with this grace period.
    pub(crate) fn end(&mut self, grace: Option<Duration>) -> EndedJobs {
        for handle in &self.0 {
            if let Some(grace) = grace {
                handle.controller().set_grace(grace);
            }
            handle.controller().cancel();
        }
        let mut ended = EndedJobs::default();
        for handle in self.0.drain(..) {
            let id = handle.id().to_owned();
            let Some(end) = handle.wait() else { continue };
            ended.tree.add_leftovers(&end.tree);
            ended.limits.push((id, end.limits));
        }
        ended
    }

    /// Releases detached processes; returns their numbers.
    pub(crate) fn release_detached(&self) -> Vec<i32> {
        self.0.iter().flat_map(JobHandle::release_detached).collect()
    }

    fn forget_ended(&mut self) {
        self.0.retain(|handle| !handle.is_finished());
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.end(None);
    }
}
