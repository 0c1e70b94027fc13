//! Runs items in this process.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use haft_kernel::{Bytes, FanOut};
use haft_scale::{Capacity, Executor, ItemAttempt, ItemEnd, ItemRecord};

use super::deadlines::Deadlines;
use super::workers::Workers;

/// The number of items to prepare beyond those that run, so that a worker finds the next one without waiting.
const MAX_PREPARED_ITEMS: usize = 4;

/// Runs items as branches of a fan-out, on threads.
#[derive(Debug)]
pub(super) struct LocalExecutor<'a> {
    fan_out: &'a FanOut<'a>,
    variable: &'a Bytes,
    limit: usize,
    workers: Workers,
    deadlines: Deadlines,
    /// Items that could not be started.
    refused: Vec<(ItemAttempt, ItemRecord)>,
}

impl<'a> LocalExecutor<'a> {
    /// Runs up to `limit` items at a time, each for at most `timeout`.
    pub(super) fn new(
        fan_out: &'a FanOut<'a>,
        variable: &'a Bytes,
        limit: usize,
        timeout: Option<Duration>,
    ) -> std::io::Result<Self> {
        let workers = Workers::new(limit, timeout.is_some())?;
        let deadlines = Deadlines::new(timeout);
        Ok(Self { fan_out, variable, limit, workers, deadlines, refused: Vec::new() })
    }
}

impl Executor for LocalExecutor<'_> {
    fn capacity(&self) -> Capacity {
        Capacity { running: self.limit, ahead: self.limit.min(MAX_PREPARED_ITEMS) }
    }

    fn submit(&mut self, attempt: ItemAttempt) {
        let branch = self.fan_out.branch(self.variable, &attempt.item);
        let started = branch.and_then(|branch| self.workers.start(attempt.clone(), branch));
        if let Err(error) = started {
            let message = format!("cannot start: {}", haft_fs::message(&error));
            let record = ItemRecord::not_run(attempt.index, &message);
            self.refused.push((attempt, record));
        }
    }

    fn event(&self) -> BorrowedFd<'_> {
        self.workers.event()
    }

    fn next_deadline(&self) -> Option<Duration> {
        if !self.refused.is_empty() {
            return Some(Duration::ZERO);
        }
        let deadline = self.deadlines.next(|| self.workers.started());
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn collect(&mut self) -> Vec<(ItemAttempt, ItemRecord)> {
        for index in self.deadlines.expire(|| self.workers.started()) {
            self.workers.cancel_item(index);
        }
        let mut ended = std::mem::take(&mut self.refused);
        for (attempt, mut record) in self.workers.take_finished() {
            if self.deadlines.end(attempt.index) {
                (record.status, record.end) = (haft_process::TIMED_OUT, ItemEnd::TimedOut);
            }
            ended.push((attempt, record));
        }
        ended
    }

    fn cancel(&mut self) {
        self.workers.cancel();
    }

    fn shut_down(&mut self) {
        self.workers.shut_down();
    }
}
