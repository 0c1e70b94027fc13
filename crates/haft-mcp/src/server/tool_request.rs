//! The context of one `tools/call` request: its client, its cancellation and its progress notifications.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use super::jobs::ScriptJob;
use super::observer::CallRecord;
use super::owner::ResourceOwner;
use super::questions;
use super::reply::ToolReply;

/// A running `tools/call` request.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub(crate) owner: Arc<ResourceOwner>,
    cancelled: CancellationToken,
    progress_target: Option<(Peer<RoleServer>, ProgressToken)>,
    /// The client, if a person there can be asked.
    pub(crate) asked_client: Option<Peer<RoleServer>>,
    /// Is told about the course of the call.
    pub(crate) record: Option<Arc<dyn CallRecord>>,
}

/// The shortest time between two progress notifications.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The time until the first progress notification.
const FIRST_PROGRESS_AFTER: Duration = Duration::from_secs(2);
/// The longest time between two progress notifications. Clients may give up on a silent request.
const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// The progress of a call that only reports that it runs. Small, so that a tool can still count from 1.
const RUNNING_STEP: f64 = 0.001;
/// Longer lines are cut in progress messages.
const MAX_PROGRESS_LINE_CHARS: usize = 200;

impl ToolRequest {
    pub(crate) fn new(
        owner: Arc<ResourceOwner>,
        context: &RequestContext<RoleServer>,
        record: Option<Arc<dyn CallRecord>>,
    ) -> ToolRequest {
        let token = context.meta.get_progress_token();
        ToolRequest {
            owner,
            cancelled: context.ct.clone(),
            progress_target: token.map(|token| (context.peer.clone(), token)),
            asked_client: questions::can_ask(context).then(|| context.peer.clone()),
            record,
        }
    }

    /// Tells the observer about the reply to a known tool.
    pub(crate) fn record_reply(&self, reply: Option<&Result<ToolReply, String>>) {
        let Some(record) = &self.record else { return };
        record.replied(match reply {
            None => Some("unknown tool"),
            Some(Err(message)) => Some(message),
            Some(Ok(reply)) => reply.failed.then_some(&*reply.text),
        });
    }

    /// Waits until the request is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// A copy of the request with another cancellation token.
    pub(crate) fn with_cancellation(&self, cancelled: CancellationToken) -> ToolRequest {
        ToolRequest { cancelled, ..self.clone() }
    }

    /// Starts progress reports on a call that is not a job.
    pub(crate) fn tool_progress(&self) -> ToolProgress<'_> {
        let started = Instant::now();
        ToolProgress { request: self, started, due: started + FIRST_PROGRESS_AFTER, last: 0.0 }
    }

    async fn notify(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some((peer, token)) = &self.progress_target else { return };
        let mut notification = ProgressNotificationParam::new(token.clone(), progress);
        (notification.total, notification.message) = (total, message);
        let _ = peer.notify_progress(notification).await;
    }

    /// Starts progress reports on a job.
    pub(crate) fn progress(&self) -> JobProgress<'_> {
        let now = Instant::now();
        JobProgress { request: self, checked: now, notified: now, seen_bytes: 0, steps: 0.0 }
    }
}

/// Forwards the progress of a tool, and reports from time to time that the call still runs. Does nothing if the client
/// did not ask for progress.
#[derive(Debug)]
pub(crate) struct ToolProgress<'a> {
    request: &'a ToolRequest,
    started: Instant,
    due: Instant,
    /// The last progress. The protocol requires that it increases.
    last: f64,
}

impl ToolProgress<'_> {
    /// Forwards a step of the tool.
    pub(crate) async fn forward(&mut self, step: haft_tools::CallProgress) {
        self.send(step.done, step.total, step.message).await;
    }

    /// Reports what the call is doing, and for how long.
    pub(crate) async fn report(&mut self, doing: &str) {
        let message = format!("{doing} for {} s", self.started.elapsed().as_secs());
        self.send(self.last, None, Some(message)).await;
    }

    /// Waits until nothing was reported for a while. Never ends if the client wants no progress.
    pub(crate) async fn silence(&self) {
        match self.request.progress_target {
            Some(_) => tokio::time::sleep_until(self.due.into()).await,
            None => std::future::pending().await,
        }
    }

    async fn send(&mut self, progress: f64, total: Option<f64>, message: Option<String>) {
        self.last = if progress > self.last { progress } else { self.last + RUNNING_STEP };
        self.due = Instant::now() + MAX_PROGRESS_INTERVAL;
        self.request.notify(self.last, total, message).await;
    }
}

/// Sends the last output line of a job as progress notifications, if the client asked for progress.
#[derive(Debug)]
pub(crate) struct JobProgress<'a> {
    request: &'a ToolRequest,
    checked: Instant,
    notified: Instant,
    seen_bytes: u64,
    steps: f64,
}

impl JobProgress<'_> {
    /// When [`report`](Self::report) should be called next; `None` if the client wants no progress.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.request.progress_target.as_ref().map(|_| self.checked + MIN_PROGRESS_INTERVAL)
    }

    /// Notifies the client of new output, or from time to time that the job still runs.
    pub(crate) async fn report(&mut self, job: &ScriptJob, now: Instant) {
        if self.request.progress_target.is_none() || now < self.checked + MIN_PROGRESS_INTERVAL {
            return;
        }
        self.checked = now;
        let streams = job.streams();
        let total: u64 = streams.iter().map(|(_, output)| output.total_bytes()).sum();
        let longest = if self.steps > 0.0 { MAX_PROGRESS_INTERVAL } else { FIRST_PROGRESS_AFTER };
        if total == self.seen_bytes && now < self.notified + longest {
            return;
        }
        (self.seen_bytes, self.notified, self.steps) = (total, now, self.steps + 1.0);
        let elapsed = job.started.elapsed().as_secs();
        let line = streams.iter().find_map(|(_, output)| last_line(output));
        let message =
            line.map_or_else(|| format!("running for {elapsed} s"), |line| format!("{elapsed} s: {line}"));
        self.request.notify(self.steps, None, Some(message)).await;
    }
}

/// The last line that is not blank.
fn last_line(output: &haft_process::capture::Output) -> Option<String> {
    let end = output.total_bytes();
    let growth = output
        .read_since(end.saturating_sub(MAX_PROGRESS_LINE_CHARS as u64 * 2), MAX_PROGRESS_LINE_CHARS * 2)
        .ok()?;
    let mut stripped = Vec::new();
    super::ansi::AnsiStripper::default().push(&growth.bytes, &mut stripped);
    let text = String::from_utf8_lossy(&stripped);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.chars().take(MAX_PROGRESS_LINE_CHARS).collect())
}
