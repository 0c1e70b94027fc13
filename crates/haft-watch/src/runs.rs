//! Runs: lists, one run, statistics, and ending a run.

use std::time::Duration;

use haft_process::live::{LiveClient, LiveStatus};
use haft_process::{ProcessTable, RunProcesses, end_process};
use haft_records::{RecordedProcess, RunDetail, RunFilter, RunKind, RunState, RunSummary};
use http::StatusCode;
use serde::Serialize;

use crate::query::Query;
use crate::reply::{Reply, RequestError, json};
use crate::server::WatchState;

/// The most characters of a script in a list.
const MAX_TEXT_CHARACTERS: usize = 300;
/// How long a run may take to end: longer than the default grace period.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// A part of a list.
#[derive(Serialize)]
struct RunPage {
    /// The runs, latest first.
    runs: Vec<RunSummary>,
    /// The number of all runs that match.
    total: usize,
}

/// Everything about a run.
#[derive(Serialize)]
struct RunPageDetail {
    #[serde(flatten)]
    detail: RunDetail,
    /// The state of its outputs, if the process that has them can be asked.
    live: Option<LiveStatus>,
    /// The processes of a run that has not ended.
    processes: Option<RunProcesses>,
}

/// Lists runs, latest first.
pub(crate) fn list(query: &Query, state: &WatchState) -> Result<Reply, RequestError> {
    let (offset, count) = query.range();
    let filter = RunFilter { limit: Some(offset + count), ..query.filter()? };
    let found = state.records.runs(&filter)?;
    let total = found.omitted + found.runs.len();
    let runs = found.runs.into_iter().rev().skip(offset).map(short).collect();
    json(&RunPage { runs, total })
}

/// A run for a list, with the beginning of its text.
pub(crate) fn short(mut run: RunSummary) -> RunSummary {
    if let Some((end, _)) = run.text.char_indices().nth(MAX_TEXT_CHARACTERS) {
        run.text.truncate(end);
    }
    run
}

/// Sums per day, agent and program.
pub(crate) fn statistics(query: &Query, state: &WatchState) -> Result<Reply, RequestError> {
    let offset = query.get("offset").and_then(|minutes| minutes.parse::<i64>().ok()).unwrap_or(0);
    json(&state.records.statistics(&query.filter()?, offset.clamp(-1440, 1440) * 60_000)?)
}

/// Shows a run.
pub(crate) fn detail(id: &str, state: &WatchState) -> Result<Reply, RequestError> {
    let detail = find(id, state)?;
    let is_running = detail.state == RunState::Running;
    let live = live(&detail.start.process).and_then(|client| client.status(&detail.start.run).ok());
    let processes = is_running.then(|| ProcessTable::read().of_run(&detail.start.run));
    json(&RunPageDetail { detail, live, processes })
}

/// Finds a run by its id.
pub(crate) fn find(id: &str, state: &WatchState) -> Result<RunDetail, RequestError> {
    let found = state.records.find(id)?;
    found.ok_or_else(|| RequestError::not_found(format!("unknown run '{id}'")))
}

/// A client of the process of a run, if the process has not ended.
pub(crate) fn live(process: &RecordedProcess) -> Option<LiveClient> {
    process.is_alive().then(|| LiveClient::new(process.pid, process.started))
}

/// Ends a run with all its processes.
pub(crate) fn kill(id: &str, state: &WatchState) -> Result<Reply, RequestError> {
    let RunDetail { state, start, .. } = find(id, state)?;
    if state != RunState::Running {
        return Err(RequestError::new(StatusCode::CONFLICT, format!("run '{}' has ended", start.run)));
    }
    if start.kind == RunKind::Mcp {
        // Its process is a server, which runs other scripts too.
        let client = LiveClient::new(start.process.pid, start.process.started);
        client
            .kill(&start.run)
            .map_err(|error| RequestError::new(StatusCode::CONFLICT, error.to_string()))?;
    } else if !end_process(start.process.pid, || start.process.is_alive(), END_TIMEOUT) {
        let message = format!("run '{}' cannot be ended", start.run);
        return Err(RequestError::new(StatusCode::CONFLICT, message));
    }
    json(&true)
}
