//! News for clients that did not ask: a job that they have left running is over.
//!
//! A client that knows tasks waits for those. All others hear of it twice, as they may listen to either: as a message of the
//! log, and as a change of the job's log, if they have subscribed to that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::jobs::ScriptJob;
use super::reply::facts_line;
use super::resources;
use super::server_state::ServerState;

/// How often it is looked whether what a script has left in the background still runs: nothing tells of that.
const BACKGROUND_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A job is over.
#[derive(Clone, Debug)]
pub(crate) struct JobEnded {
    /// Whose job it was.
    pub(crate) owner: u64,
    /// The job's log.
    pub(crate) uri: String,
    /// What to say.
    pub(crate) data: Value,
}

/// Waits for the end of a job that goes on without a call, and tells of it. Whoever waits for it with a call of his own needs
/// no news.
pub(crate) async fn notify_when_ended(state: Arc<ServerState>, job: Arc<ScriptJob>) {
    let ended = job.end().await;
    while job.is_alive() {
        tokio::time::sleep(BACKGROUND_POLL_INTERVAL).await;
    }
    let Some(ended) = ended.filter(|_| !job.is_waited_for()) else { return };
    let facts = facts_line(&ended.facts(false, &job.redactor));
    let message = format!("job {} has ended: {} {}", job.id, job.title(), facts.trim_end());
    let data =
        json!({ "job": job.id, "message": message, "status": ended.data(false, &job.redactor)["status"] });
    let news = JobEnded { owner: job.owner, uri: resources::job_uri(&job.id), data };
    // Nobody may be there to hear it.
    let _ = state.ended_jobs.send(news);
}
