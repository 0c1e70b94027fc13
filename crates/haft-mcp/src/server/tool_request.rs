//! The context of one `tools/call` request: its client, its cancellation and its progress notifications.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use super::jobs::ScriptJob;
use super::owner::ResourceOwner;

/// A running `tools/call` request.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub(crate) owner: Arc<ResourceOwner>,
    cancelled: CancellationToken,
    progress_target: Option<(Peer<RoleServer>, ProgressToken)>,
}

/// The shortest time between two progress notifications.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two progress notifications. Clients may give up on a silent request.
const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// Longer lines are cut in progress messages.
const MAX_PROGRESS_LINE_CHARS: usize = 200;

impl ToolRequest {
    pub(crate) fn new(owner: Arc<ResourceOwner>, context: &RequestContext<RoleServer>) -> ToolRequest {
        let token = context.meta.get_progress_token();
        ToolRequest {
            owner,
            cancelled: context.ct.clone(),
            progress_target: token.map(|token| (context.peer.clone(), token)),
        }
    }

    /// Waits until the request is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// A copy of the request with another cancellation token.
    pub(crate) fn with_cancellation(&self, cancelled: CancellationToken) -> ToolRequest {
        ToolRequest { cancelled, ..self.clone() }
    }

    /// Forwards the progress of a tool, if the client asked for progress.
    pub(crate) async fn forward_progress(&self, progress: haft_tools::CallProgress) {
        let Some((peer, token)) = &self.progress_target else { return };
        let mut notification = ProgressNotificationParam::new(token.clone(), progress.done);
        (notification.total, notification.message) = (progress.total, progress.message);
        let _ = peer.notify_progress(notification).await;
    }

    /// Starts progress reports on a job.
    pub(crate) fn progress(&self) -> JobProgress<'_> {
        let now = Instant::now();
        JobProgress { request: self, checked: now, notified: now, seen_bytes: 0, steps: 0.0 }
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
        let Some((peer, token)) = &self.request.progress_target else { return };
        if now < self.checked + MIN_PROGRESS_INTERVAL {
            return;
        }
        self.checked = now;
        let streams = job.streams();
        let total: u64 = streams.iter().map(|(_, output)| output.total_bytes()).sum();
        if total == self.seen_bytes && now < self.notified + MAX_PROGRESS_INTERVAL {
            return;
        }
        (self.seen_bytes, self.notified, self.steps) = (total, now, self.steps + 1.0);
        let elapsed = job.started.elapsed().as_secs();
        let line = streams.iter().find_map(|(_, output)| last_line(output));
        let message =
            line.map_or_else(|| format!("running for {elapsed} s"), |line| format!("{elapsed} s: {line}"));
        let notification = ProgressNotificationParam::new(token.clone(), self.steps).with_message(message);
        let _ = peer.notify_progress(notification).await;
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
