//! What runs have left running: it belongs to the session, and ends with it.

use std::time::{Duration, Instant};

use haft_process::{JobController, JobHandle, RunLimits, Tree};

/// What became of the jobs that were ended.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ended {
    /// What became of their processes.
    pub tree: Tree,
    /// The limits of each run that they were left by, by its name, as they stood at the end.
    pub limits: Vec<(String, RunLimits)>,
}

/// Jobs of earlier runs that still run, or still hold their output open.
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

    /// Waits so long at most for all to end by themselves.
    pub(crate) fn wait(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        for handle in &self.0 {
            handle.wait_for(deadline.saturating_duration_since(Instant::now()));
        }
    }

    /// Ends all at once, each given so long to end by itself.
    pub(crate) fn end(&mut self, grace: Option<Duration>) -> Ended {
        for handle in &self.0 {
            if let Some(grace) = grace {
                handle.controller().set_grace(grace);
            }
            handle.controller().cancel();
        }
        let mut ended = Ended::default();
        for handle in self.0.drain(..) {
            let id = handle.id().to_owned();
            let Some(end) = handle.wait() else { continue };
            ended.tree.add_leftovers(&end.tree);
            ended.limits.push((id, end.limits));
        }
        ended
    }

    /// Lets those processes go that have departed; yields their numbers.
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
