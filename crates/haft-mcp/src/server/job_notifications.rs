//! Notifies clients that a background job has ended.
//!
//! Clients that support tasks wait for their task. All others get two notifications, because a client may handle
//! either: a log message, and an update of the job log resource if they subscribed to it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::jobs::ScriptJob;
use super::reply::facts_line;
use super::resources;
use super::server_state::ServerState;

/// Interval between checks whether background processes still run. No event reports their end.
const BACKGROUND_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A job has ended.
#[derive(Clone, Debug)]
pub(crate) struct JobEnded {
    /// The owner of the job.
    pub(crate) owner: u64,
    /// The URI of the job log.
    pub(crate) uri: String,
    /// The payload of the log message.
    pub(crate) data: Value,
}

/// Waits until a job has ended and publishes that. Publishes nothing if a request waits for the job, because that
/// request reports the end.
pub(crate) async fn notify_when_ended(state: Arc<ServerState>, job: Arc<ScriptJob>) {
    let ended = job.end().await;
    while job.is_alive() {
        tokio::time::sleep(BACKGROUND_POLL_INTERVAL).await;
    }
    let Some(ended) = ended.filter(|_| !job.is_waited_for()) else { return };
    let facts = facts_line(&ended.facts(false, &job.redactor));
    let message = format!("job {} ended: {} {}", job.id, job.title(), facts.trim_end());
    let data =
        json!({ "job": job.id, "message": message, "status": ended.data(false, &job.redactor)["status"] });
    let event = JobEnded { owner: job.owner(), uri: resources::job_uri(&job.id), data };
    // Sending fails if no client is connected.
    let _ = state.ended_jobs.send(event);
}
