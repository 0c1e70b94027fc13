//! News for clients that did not ask: a job that they have left running is over.
//!
//! A client that knows tasks waits for those. All others hear of it twice, as they may listen to either: as a message of the
//! log, and as a change of the job's log, if they have subscribed to that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::jobs::Job;
use super::reply::line;
use super::resources;
use super::shared::Shared;

/// How often it is looked whether what a script has left in the background still runs: nothing tells of that.
const LOOK: Duration = Duration::from_millis(500);

/// A job is over.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// Whose job it was.
    pub(crate) owner: u64,
    /// The job's log.
    pub(crate) uri: String,
    /// What to say.
    pub(crate) data: Value,
}

/// Waits for the end of a job that goes on without a call, and tells of it. Whoever waits for it with a call of his own needs
/// no news.
pub(crate) async fn follow(shared: Arc<Shared>, job: Arc<Job>) {
    let ended = job.end().await;
    while job.is_alive() {
        tokio::time::sleep(LOOK).await;
    }
    let Some(ended) = ended.filter(|_| !job.is_waited_for()) else { return };
    let facts = line(&ended.facts(false, &job.redactor));
    let message = format!("job {} has ended: {} {}", job.id, job.title(), facts.trim_end());
    let data =
        json!({ "job": job.id, "message": message, "status": ended.data(false, &job.redactor)["status"] });
    let news = News { owner: job.owner, uri: resources::of_job(&job.id), data };
    // Nobody may be there to hear it.
    let _ = shared.news.send(news);
}
