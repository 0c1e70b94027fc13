//! One call of a tool: who calls, how it is cancelled, whom to tell how it goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use super::jobs::ScriptJob;
use super::owner::ResourceOwner;

/// A call that is going on.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub(crate) owner: Arc<ResourceOwner>,
    cancelled: CancellationToken,
    progress_target: Option<(Peer<RoleServer>, ProgressToken)>,
}

/// Between two tellings at least so long.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// A client that hears nothing gives up; so often it hears something.
const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// More of a line is not told.
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

    /// Waits until nobody wants the result any more.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// The same call under another way to be cancelled.
    pub(crate) fn with_cancellation(&self, cancelled: CancellationToken) -> ToolRequest {
        ToolRequest { cancelled, ..self.clone() }
    }

    /// Tells the client, where it has asked for it, how far a tool of others is.
    pub(crate) async fn forward_progress(&self, progress: haft_tools::CallProgress) {
        let Some((peer, token)) = &self.progress_target else { return };
        let mut told = ProgressNotificationParam::new(token.clone(), progress.done);
        (told.total, told.message) = (progress.total, progress.message);
        let _ = peer.notify_progress(told).await;
    }

    pub(crate) fn progress(&self) -> JobProgress<'_> {
        let now = Instant::now();
        JobProgress { call: self, looked: now, told: now, seen: 0, steps: 0.0 }
    }
}

/// Tells the client, where it has asked for it, what a job wrote last.
#[derive(Debug)]
pub(crate) struct JobProgress<'a> {
    call: &'a ToolRequest,
    looked: Instant,
    told: Instant,
    seen: u64,
    steps: f64,
}

impl JobProgress<'_> {
    /// When to look again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.call.progress_target.as_ref().map(|_| self.looked + MIN_PROGRESS_INTERVAL)
    }

    /// Tells what is new, or after a while that nothing is.
    pub(crate) async fn tell(&mut self, job: &ScriptJob, now: Instant) {
        let Some((peer, token)) = &self.call.progress_target else { return };
        if now < self.looked + MIN_PROGRESS_INTERVAL {
            return;
        }
        self.looked = now;
        let streams = job.streams();
        let total: u64 = streams.iter().map(|(_, output)| output.total_bytes()).sum();
        if total == self.seen && now < self.told + MAX_PROGRESS_INTERVAL {
            return;
        }
        (self.seen, self.told, self.steps) = (total, now, self.steps + 1.0);
        let elapsed = job.started.elapsed().as_secs();
        let line = streams.iter().find_map(|(_, output)| last_line(output));
        let message =
            line.map_or_else(|| format!("running for {elapsed} s"), |line| format!("{elapsed} s: {line}"));
        let told = ProgressNotificationParam::new(token.clone(), self.steps).with_message(message);
        let _ = peer.notify_progress(told).await;
    }
}

/// The last line that has something in it.
fn last_line(output: &haft_process::capture::Output) -> Option<String> {
    let end = output.total_bytes();
    let growth = output
        .read_since(end.saturating_sub(MAX_PROGRESS_LINE_CHARS as u64 * 2), MAX_PROGRESS_LINE_CHARS * 2)
        .ok()?;
    let mut plain = Vec::new();
    super::ansi::AnsiStripper::default().push(&growth.bytes, &mut plain);
    let text = String::from_utf8_lossy(&plain);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.chars().take(MAX_PROGRESS_LINE_CHARS).collect())
}
