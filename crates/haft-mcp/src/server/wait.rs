//! Waiting for a job, without a thread.

use std::path::Path;
use std::time::{Duration, Instant};

use haft_process::capture::Output;
use tokio::net::TcpStream;

use super::jobs::ScriptJob;
use super::tool_request::ToolRequest;
use super::until::{ConditionTracker, MetCondition, Observation, WaitConditions};
use crate::sys::AsyncOutputWatch;

/// Why the waiting is over.
#[derive(Debug)]
pub(crate) enum WaitResult {
    /// The job has ended.
    Ended,
    /// What was waited for has come true.
    MetCondition(MetCondition),
    /// The time is up.
    TimedOut,
    /// The caller does not want to know any more.
    Cancelled,
}

/// A connection that is not made in this time is not made.
const PORT_CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// So much of an output is looked at in one go.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// Waits until the job has ended or one of the conditions holds, of what was written from `since` on.
pub(crate) async fn wait_for_job(
    job: &ScriptJob,
    conditions: WaitConditions,
    since: &[u64],
    deadline: Option<Instant>,
    call: &ToolRequest,
) -> WaitResult {
    let waiter = ConditionTracker::new(conditions, Instant::now());
    let streams = job.streams().into_iter().map(|(_, output)| output);
    let cursors = since.iter().copied().chain(std::iter::repeat(0));
    let streams: Vec<(Output, u64)> = streams.zip(cursors).collect();
    let watches = if waiter.conditions().follows_output() { watches(&streams) } else { Vec::new() };
    JobWait { job, waiter, streams, watches }.run(deadline, call).await
}

struct JobWait<'a> {
    job: &'a ScriptJob,
    waiter: ConditionTracker,
    /// What the job writes, and up to where it was looked at.
    streams: Vec<(Output, u64)>,
    watches: Vec<AsyncOutputWatch>,
}

impl JobWait<'_> {
    async fn run(mut self, deadline: Option<Instant>, call: &ToolRequest) -> WaitResult {
        let mut progress = call.progress();
        loop {
            if let Some(met) = self.check().await {
                return if self.job.ended().is_some() {
                    WaitResult::Ended
                } else {
                    WaitResult::MetCondition(met)
                };
            }
            let due = [self.waiter.due(), deadline, progress.due()].into_iter().flatten().min();
            tokio::select! {
                biased;
                _ = self.job.end() => return WaitResult::Ended,
                () = call.cancelled() => return WaitResult::Cancelled,
                () = changed(&self.watches) => {}
                () = sleep_until(due) => {
                    let now = Instant::now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return WaitResult::TimedOut;
                    }
                    progress.tell(self.job, now).await;
                }
            }
        }
    }

    /// Looks at whatever there is to be looked at now.
    async fn check(&mut self) -> Option<MetCondition> {
        if self.waiter.conditions().follows_output()
            && let Some(met) = self.read()
        {
            return Some(met);
        }
        let now = Instant::now();
        if let Some(met) = self.waiter.time(now) {
            return Some(met);
        }
        if self.waiter.conditions().needs_polling() && self.waiter.due().is_some_and(|due| due <= now) {
            let sight = self.see().await;
            return self.waiter.observe(sight, Instant::now());
        }
        None
    }

    /// Hands what is new to the waiter.
    fn read(&mut self) -> Option<MetCondition> {
        for (output, cursor) in &mut self.streams {
            while let Ok(growth) = output.read_since(*cursor, READ_CHUNK_BYTES) {
                if growth.bytes.is_empty() {
                    break;
                }
                *cursor = growth.next;
                let met = self.waiter.output(&growth.bytes, Instant::now());
                if met.is_some() {
                    return met;
                }
            }
        }
        None
    }

    async fn see(&self) -> Observation {
        let conditions = self.waiter.conditions();
        let port_open = match &conditions.port {
            Some(port) => is_open(port).await,
            None => false,
        };
        let file_exists = conditions.file.as_deref().is_some_and(Path::exists);
        let needs_input = conditions.input.then(|| self.job.controller.needs_input()).flatten();
        Observation { port_open, file_exists, needs_input }
    }
}

async fn is_open(address: &str) -> bool {
    matches!(tokio::time::timeout(PORT_CONNECT_TIMEOUT, TcpStream::connect(address)).await, Ok(Ok(_)))
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// A bell for each stream.
fn watches(streams: &[(Output, u64)]) -> Vec<AsyncOutputWatch> {
    streams.iter().filter_map(|(output, _)| AsyncOutputWatch::new(output)).collect()
}

/// Waits until one of at most two bells has rung.
async fn changed(watches: &[AsyncOutputWatch]) {
    match watches {
        [] => std::future::pending().await,
        [one] => one.changed().await,
        [one, other, ..] => tokio::select! { () = one.changed() => (), () = other.changed() => () },
    }
}
