//! Outputs: windows of lines, and the whole as a download.

use std::sync::{Arc, Mutex, PoisonError};

use haft_process::capture::{Output, OutputStore};
use haft_process::live::ReadableOutput;
use http::{HeaderValue, header};
use hyper::body::Bytes;
use tokio::sync::mpsc;

use crate::query::Query;
use crate::reply::{Reply, RequestError, json, stream};
use crate::runs;
use crate::server::WatchState;

/// Stored outputs that stay open, because opening one counts its lines.
const MAX_OPEN_OUTPUTS: usize = 8;
/// The most lines of one reply.
const MAX_LINES: u64 = 1000;
/// Bytes of a download that are read at once.
const CHUNK_BYTES: usize = 256 << 10;
/// Parts of a download that wait for the browser.
const MAX_PARTS: usize = 4;

/// The stored outputs, of which the last used ones stay open.
#[derive(Debug)]
pub(crate) struct OutputCache {
    stores: Vec<OutputStore>,
    open: Mutex<Vec<Output>>,
}

impl OutputCache {
    pub(crate) fn new(stores: Vec<OutputStore>) -> OutputCache {
        OutputCache { stores, open: Mutex::default() }
    }

    /// A stored output.
    fn get(&self, id: &str) -> Option<Output> {
        let lock = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = lock();
        if let Some(place) = open.iter().position(|output| output.id().as_str() == id) {
            let found = open.remove(place);
            open.push(found.clone());
            return Some(found);
        }
        drop(open);
        let output = self.stores.iter().find_map(|store| store.get(id))?;
        let mut open = lock();
        if open.len() >= MAX_OPEN_OUTPUTS {
            open.remove(0);
        }
        open.push(output.clone());
        Some(output)
    }
}

/// Finds an output of this machine.
fn find(id: &str, query: &Query, state: &WatchState) -> Result<ReadableOutput, RequestError> {
    if let Some(output) = state.outputs.get(id) {
        return Ok(ReadableOutput::Stored(output));
    }
    let run = query.get("run").map(|run| runs::find(run, state)).transpose()?;
    let client = run.and_then(|run| runs::live(&run.start.process));
    let client = client.ok_or_else(|| RequestError::not_found("the output is no longer stored"))?;
    Ok(ReadableOutput::Live(client, id.to_owned()))
}

/// Lines of an output.
pub(crate) fn lines(id: &str, query: &Query, state: &WatchState) -> Result<Reply, RequestError> {
    let (first, count) = (query.number("first").unwrap_or(1), query.number("count").unwrap_or(100));
    let window = find(id, query, state)?.window(first, count.min(MAX_LINES));
    json(&window.map_err(|error| RequestError::not_found(error.to_string()))?)
}

/// When the bytes of an output arrived; null if it is not that of a terminal.
pub(crate) fn recording(id: &str, query: &Query, state: &WatchState) -> Result<Reply, RequestError> {
    let recording = find(id, query, state)?.recording();
    json(&recording.map_err(|error| RequestError::not_found(error.to_string()))?)
}

/// The whole output, byte for byte, as a file to save.
pub(crate) fn raw(id: &str, query: &Query, state: &Arc<WatchState>) -> Result<Reply, RequestError> {
    let output = find(id, query, state)?;
    let (sender, parts) = mpsc::channel(MAX_PARTS);
    tokio::task::spawn_blocking(move || {
        let mut cursor = 0;
        while let Ok(growth) = output.read(cursor, CHUNK_BYTES) {
            cursor = growth.next;
            if growth.bytes.is_empty() || sender.blocking_send(Bytes::from(growth.bytes)).is_err() {
                return;
            }
        }
    });
    let mut reply = stream("application/octet-stream", parts);
    let name = HeaderValue::from_static("attachment; filename=\"output.txt\"");
    reply.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(reply)
}
