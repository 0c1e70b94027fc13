//! A job that runs on a thread of its own.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::Error;
use crate::job::Job;
use crate::job::control::JobController;
use crate::outcome::{JobOutcome, RunningJobReport};

/// A job in the background. Dropping it ends the job, with all its processes.
#[derive(Debug)]
pub struct JobHandle {
    controller: JobController,
    thread: Option<JoinHandle<()>>,
}

impl JobHandle {
    pub(super) fn start(job: Job) -> Result<JobHandle, Error> {
        let controller = job.controller();
        let shared = controller.0.clone();
        let thread = thread::Builder::new()
            .name("job".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || shared.finish(job.wait()))
            .map_err(|error| Error::system("start a thread for the job", error))?;
        Ok(JobHandle { controller, thread: Some(thread) })
    }

    /// The job itself.
    pub fn controller(&self) -> &JobController {
        &self.controller
    }

    /// The name of the job.
    pub fn id(&self) -> &str {
        self.controller.id()
    }

    /// Whether it is over.
    pub fn is_finished(&self) -> bool {
        self.wait_for(Duration::ZERO)
    }

    /// Waits so long at most; says whether it is over.
    pub fn wait_for(&self, limit: Duration) -> bool {
        self.controller.0.wait_finished(Some(limit))
    }

    /// Waits for its end. `None` only if the job's thread has failed.
    pub fn wait(mut self) -> Option<JobOutcome> {
        self.join();
        self.controller.0.take_outcome()
    }

    /// Ends it, with all its processes, and says what became of it.
    pub fn end(self) -> Option<JobOutcome> {
        self.controller.cancel();
        self.wait()
    }

    /// Lets those of its processes go that have departed from whoever started them (`setsid`, `nohup`, `disown`): they run on,
    /// belonging to nobody. Yields their numbers.
    pub fn release_detached(&self) -> Vec<i32> {
        self.controller.0.scope.release_detached()
    }

    pub(crate) fn report(&self) -> RunningJobReport {
        self.controller.report()
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.controller.cancel();
            self.join();
        }
    }
}
