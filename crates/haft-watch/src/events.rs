//! Server-sent events: changes of the list, and of one run.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use haft_process::ProcessTable;
use haft_process::live::LiveStatus;
use haft_records::{RunFilter, RunState, RunSummary};
use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{self, Sender};

use crate::query::Query;
use crate::reply::{Reply, RequestError, stream};
use crate::runs;
use crate::server::WatchState;
use crate::tracker::RunBatch;

/// Events that wait for the browser.
const MAX_EVENTS: usize = 64;
/// A line without meaning shows whether the browser is still there.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How often the processes of a run are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

/// Opens a stream of events. With a run in the query, it has the changes of that run too.
pub(crate) fn subscribe(query: &Query, state: &Arc<WatchState>) -> Result<Reply, RequestError> {
    let wanted = WantedRuns { filter: query.filter()?, only: query.get("run").map(str::to_owned) };
    let (sender, events) = mpsc::channel(MAX_EVENTS);
    let updates = state.updates.subscribe();
    if let Some(run) = wanted.only.clone() {
        let (state, sender) = (state.clone(), sender.clone());
        thread::Builder::new().name("run".to_owned()).spawn(move || follow_run(&run, &state, &sender))?;
    }
    tokio::spawn(send_changes(updates, wanted, sender));
    Ok(stream("text/event-stream", events))
}

/// The runs that a page shows.
struct WantedRuns {
    filter: RunFilter,
    /// The id of the only run, on its page.
    only: Option<String>,
}

impl WantedRuns {
    fn accepts(&self, run: &RunSummary) -> bool {
        if let Some(id) = &self.only {
            return run.id == *id;
        }
        // A list of running runs needs to know of their end, too.
        let state = if self.filter.running { RunState::Running } else { run.state };
        self.filter.accepts(&RunSummary { state, ..run.clone() })
    }
}

/// Sends the changed runs that the page shows.
async fn send_changes(mut updates: Receiver<RunBatch>, wanted: WantedRuns, sender: Sender<Bytes>) {
    if sender.send(event("ready", &true)).await.is_err() {
        return;
    }
    loop {
        let update = tokio::time::timeout(KEEP_ALIVE_INTERVAL, updates.recv()).await;
        let message = match update {
            Ok(Ok(batch)) => {
                let matching = batch.iter().filter(|run| wanted.accepts(run));
                let runs: Vec<RunSummary> = matching.cloned().map(runs::short).collect();
                if runs.is_empty() {
                    continue;
                }
                event("runs", &runs)
            }
            Ok(Err(RecvError::Lagged(_))) => event("reset", &true),
            Ok(Err(RecvError::Closed)) => return,
            Err(_) => Bytes::from_static(b": \n\n"),
        };
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

/// Sends the state and the resources of a run until it has ended or the browser has gone.
fn follow_run(run: &str, state: &WatchState, sender: &Sender<Bytes>) {
    let Ok(detail) = runs::find(run, state) else { return };
    let Some(client) = runs::live(&detail.start.process) else { return };
    let run = &detail.start.run;
    let mut sent: Option<LiveStatus> = None;
    let mut measured = None;
    let followed = client.follow(run, |status| {
        measure(run, &mut measured, sender);
        let is_new = sent.as_ref() != Some(&status);
        let result = if is_new { sender.blocking_send(event("status", &status)) } else { Ok(()) };
        sent = Some(status);
        result.is_ok() && !sender.is_closed()
    });
    // A run without captured output cannot be asked. Its processes can be measured.
    while followed.is_err() && !sender.is_closed() && detail.start.process.is_alive() {
        measure(run, &mut measured, sender);
        thread::sleep(MEASURE_INTERVAL / 4);
    }
}

/// Sends the resources of a run's processes, once in a while.
fn measure(run: &str, measured: &mut Option<std::time::Instant>, sender: &Sender<Bytes>) {
    if measured.is_none_or(|last| last.elapsed() >= MEASURE_INTERVAL) {
        *measured = Some(std::time::Instant::now());
        let _ = sender.blocking_send(event("processes", &ProcessTable::read().of_run(run)));
    }
}

/// An event with a value as JSON, which has no newlines.
fn event(name: &str, value: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(value).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
