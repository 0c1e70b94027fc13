//! A job that runs on its own thread.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::Error;
use crate::job::Job;
use crate::job::control::JobController;
use crate::outcome::{JobOutcome, RunningJobReport};

/// Stack size of a job's thread.
const THREAD_STACK_BYTES: usize = 256 * 1024;

/// A job that runs in the background. Dropping it ends the job and all its processes.
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
            .stack_size(THREAD_STACK_BYTES)
            .spawn(move || shared.finish(job.wait()))
            .map_err(|error| Error::system("start a thread for the job", error))?;
        Ok(JobHandle { controller, thread: Some(thread) })
    }

    /// Returns the job's controller.
    pub fn controller(&self) -> &JobController {
        &self.controller
    }

    /// Returns the job's id.
    pub fn id(&self) -> &str {
        self.controller.id()
    }

    /// Whether the job has ended.
    pub fn is_finished(&self) -> bool {
        self.wait_for(Duration::ZERO)
    }

    /// Waits at most `limit` for the job's end. Returns whether it has ended.
    pub fn wait_for(&self, limit: Duration) -> bool {
        self.controller.0.wait_finished(Some(limit))
    }

    /// Waits for the job's end. Returns `None` only if the job's thread has panicked.
    pub fn wait(mut self) -> Option<JobOutcome> {
        self.join();
        self.controller.0.take_outcome()
    }

    /// Ends the job and all its processes, and returns its outcome.
    pub fn end(self) -> Option<JobOutcome> {
        self.controller.cancel();
        self.wait()
    }

    /// Releases the job's detached processes (`setsid`, `nohup`, `disown`): they keep running and leave the job. Returns
    /// their pids.
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
