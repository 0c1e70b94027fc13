//! Waits for a job without blocking a thread.

use std::path::Path;
use std::time::Instant;

use haft_process::capture::Output;

use super::jobs::ScriptJob;
use super::listening;
use super::tool_request::ToolRequest;
use super::until::{ConditionTracker, MetCondition, Observation, PortState, WaitConditions};
use crate::sys::AsyncOutputWatch;

/// Why waiting ended.
#[derive(Debug)]
pub(crate) enum WaitResult {
    /// The job has ended.
    Ended,
    /// A condition was met.
    ConditionMet(MetCondition),
    /// The deadline passed.
    TimedOut,
    /// The request was cancelled.
    Cancelled,
}

/// The number of output bytes to read at a time.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// Waits until the job has ended, a condition is met, the deadline passes or the request is cancelled. Conditions on
/// output apply to what each stream writes after the offset in `since`.
pub(crate) async fn wait_for_job(
    job: &ScriptJob,
    conditions: WaitConditions,
    since: &[u64],
    deadline: Option<Instant>,
    request: &ToolRequest,
) -> WaitResult {
    let tracker = ConditionTracker::new(conditions, Instant::now());
    let streams = job.streams().into_iter().map(|(_, output)| output);
    let cursors = since.iter().copied().chain(std::iter::repeat(0));
    let streams: Vec<(Output, u64)> = streams.zip(cursors).collect();
    let watches = if tracker.conditions().follows_output() { watches(&streams) } else { Vec::new() };
    JobWait { job, tracker, streams, watches }.run(deadline, request).await
}

struct JobWait<'a> {
    job: &'a ScriptJob,
    tracker: ConditionTracker,
    /// The output streams, and how much of each was checked.
    streams: Vec<(Output, u64)>,
    watches: Vec<AsyncOutputWatch>,
}

impl JobWait<'_> {
    async fn run(mut self, deadline: Option<Instant>, request: &ToolRequest) -> WaitResult {
        let mut progress = request.progress();
        loop {
            if let Some(met) = self.check().await {
                return if self.job.ended().is_some() {
                    WaitResult::Ended
                } else {
                    WaitResult::ConditionMet(met)
                };
            }
            let due = [self.tracker.due(), deadline, progress.due()].into_iter().flatten().min();
            tokio::select! {
                biased;
                _ = self.job.end() => return WaitResult::Ended,
                () = request.cancelled() => return WaitResult::Cancelled,
                () = changed(&self.watches) => {}
                () = sleep_until(due) => {
                    let now = Instant::now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return WaitResult::TimedOut;
                    }
                    progress.report(self.job, now).await;
                }
            }
        }
    }

    /// Checks every condition that is due.
    async fn check(&mut self) -> Option<MetCondition> {
        if self.tracker.conditions().follows_output()
            && let Some(met) = self.read()
        {
            return Some(met);
        }
        let now = Instant::now();
        if let Some(met) = self.tracker.check_time(now) {
            return Some(met);
        }
        if self.tracker.conditions().needs_polling() && self.tracker.due().is_some_and(|due| due <= now) {
            let observation = self.take_observation().await;
            return self.tracker.observe(observation, Instant::now());
        }
        None
    }

    /// Passes new output to the tracker.
    fn read(&mut self) -> Option<MetCondition> {
        for (output, cursor) in &mut self.streams {
            while let Ok(growth) = output.read_since(*cursor, READ_CHUNK_BYTES) {
                if growth.bytes.is_empty() {
                    break;
                }
                *cursor = growth.next;
                let met = self.tracker.output(&growth.bytes, Instant::now());
                if met.is_some() {
                    return met;
                }
            }
        }
        None
    }

    async fn take_observation(&self) -> Observation {
        let conditions = self.tracker.conditions();
        let port = match &conditions.port {
            Some(address) => listening::port_state(address, || self.job.processes()).await,
            None => PortState::Closed,
        };
        let file_exists = conditions.file.as_deref().is_some_and(Path::exists);
        let needs_input = conditions.input.then(|| self.job.controller.needs_input()).flatten();
        Observation { port, file_exists, needs_input }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// One watch per stream.
fn watches(streams: &[(Output, u64)]) -> Vec<AsyncOutputWatch> {
    streams.iter().filter_map(|(output, _)| AsyncOutputWatch::new(output)).collect()
}

/// Waits until one of at most two watches reports a change.
async fn changed(watches: &[AsyncOutputWatch]) {
    match watches {
        [] => std::future::pending().await,
        [one] => one.changed().await,
        [one, other, ..] => tokio::select! { () = one.changed() => (), () = other.changed() => () },
    }
}
