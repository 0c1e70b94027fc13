//! Waiting for a job, without a thread.

use std::path::Path;
use std::time::{Duration, Instant};

use haft_process::capture::Output;
use tokio::net::TcpStream;

use super::call::Call;
use super::jobs::Job;
use super::until::{Conditions, Met, Sight, Waiter};
use crate::sys::Bell;

/// Why the waiting is over.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The job has ended.
    Ended,
    /// What was waited for has come true.
    Met(Met),
    /// The time is up.
    TimedOut,
    /// The caller does not want to know any more.
    Cancelled,
}

/// A connection that is not made in this time is not made.
const CONNECT: Duration = Duration::from_millis(500);
/// So much of an output is looked at in one go.
const CHUNK: usize = 64 * 1024;

/// Waits until the job has ended or one of the conditions holds, of what was written from `since` on.
pub(crate) async fn wait(
    job: &Job,
    conditions: Conditions,
    since: &[u64],
    deadline: Option<Instant>,
    call: &Call,
) -> Stop {
    let waiter = Waiter::new(conditions, Instant::now());
    let streams = job.streams().into_iter().map(|(_, output)| output);
    let cursors = since.iter().copied().chain(std::iter::repeat(0));
    let streams: Vec<(Output, u64)> = streams.zip(cursors).collect();
    let bells = if waiter.conditions().follows_output() { bells(&streams) } else { Vec::new() };
    Drive { job, waiter, streams, bells }.run(deadline, call).await
}

struct Drive<'a> {
    job: &'a Job,
    waiter: Waiter,
    /// What the job writes, and up to where it was looked at.
    streams: Vec<(Output, u64)>,
    bells: Vec<Bell>,
}

impl Drive<'_> {
    async fn run(mut self, deadline: Option<Instant>, call: &Call) -> Stop {
        let mut progress = call.progress();
        loop {
            if let Some(met) = self.check().await {
                return if self.job.ended().is_some() { Stop::Ended } else { Stop::Met(met) };
            }
            let due = [self.waiter.due(), deadline, progress.due()].into_iter().flatten().min();
            tokio::select! {
                biased;
                _ = self.job.end() => return Stop::Ended,
                () = call.cancelled() => return Stop::Cancelled,
                () = rung(&self.bells) => {}
                () = sleep_until(due) => {
                    let now = Instant::now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return Stop::TimedOut;
                    }
                    progress.tell(self.job, now).await;
                }
            }
        }
    }

    /// Looks at whatever there is to be looked at now.
    async fn check(&mut self) -> Option<Met> {
        if self.waiter.conditions().follows_output()
            && let Some(met) = self.read()
        {
            return Some(met);
        }
        let now = Instant::now();
        if let Some(met) = self.waiter.time(now) {
            return Some(met);
        }
        if self.waiter.conditions().needs_looking() && self.waiter.due().is_some_and(|due| due <= now) {
            let sight = self.see().await;
            return self.waiter.look(sight, Instant::now());
        }
        None
    }

    /// Hands what is new to the waiter.
    fn read(&mut self) -> Option<Met> {
        for (output, cursor) in &mut self.streams {
            while let Ok(growth) = output.read_since(*cursor, CHUNK) {
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

    async fn see(&self) -> Sight {
        let conditions = self.waiter.conditions();
        let port_open = match &conditions.port {
            Some(port) => is_open(port).await,
            None => false,
        };
        let file_exists = conditions.file.as_deref().is_some_and(Path::exists);
        let needs_input = conditions.input.then(|| self.job.controller.needs_input()).flatten();
        Sight { port_open, file_exists, needs_input }
    }
}

async fn is_open(address: &str) -> bool {
    matches!(tokio::time::timeout(CONNECT, TcpStream::connect(address)).await, Ok(Ok(_)))
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// A bell for each stream.
fn bells(streams: &[(Output, u64)]) -> Vec<Bell> {
    streams.iter().filter_map(|(output, _)| Bell::new(output)).collect()
}

/// Waits until one of at most two bells has rung.
async fn rung(bells: &[Bell]) {
    match bells {
        [] => std::future::pending().await,
        [one] => one.rung().await,
        [one, other, ..] => tokio::select! { () = one.rung() => (), () = other.rung() => () },
    }
}
