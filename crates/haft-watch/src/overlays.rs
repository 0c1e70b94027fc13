//! Overlays: their changes, and keeping or discarding them.

use std::io::{self, Write};

use haft_overlay::{Change, OnConflict, OverlaySummary, Selection};
use http::StatusCode;
use serde::Serialize;

use crate::reply::{Reply, RequestError, json};
use crate::server::WatchState;

/// The most bytes of a diff.
const MAX_DIFF_BYTES: usize = 1 << 20;
/// The most changed paths of a reply.
const MAX_CHANGES: usize = 2000;

/// An overlay with its changes.
#[derive(Serialize)]
struct OverlayPage {
    overlay: OverlaySummary,
    /// The first changed paths.
    changes: Vec<Change>,
    /// The number of all changed paths.
    count: usize,
    diff: String,
    /// Whether the end of the diff is left out.
    is_cut: bool,
}

impl From<haft_overlay::Error> for RequestError {
    fn from(error: haft_overlay::Error) -> RequestError {
        let status = match &error {
            haft_overlay::Error::Unknown(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::CONFLICT,
        };
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        RequestError::new(status, format!("{error}{hint}"))
    }
}

/// Lists the overlays.
pub(crate) fn list(state: &std::sync::Arc<WatchState>) -> Result<Reply, RequestError> {
    json(&state.overlays.list())
}

/// Shows an overlay.
pub(crate) fn show(id: &str, state: &WatchState) -> Result<Reply, RequestError> {
    let overlay = state.overlays.find(id)?;
    let mut changes = overlay.changes()?;
    let mut diff = LimitedBuffer::default();
    let written = overlay.write_diff(&changes, &mut diff);
    if !diff.is_full {
        written?;
    }
    let summary = overlay.summary_of(&changes);
    let count = changes.len();
    changes.truncate(MAX_CHANGES);
    let text = String::from_utf8_lossy(&diff.bytes).into_owned();
    json(&OverlayPage { overlay: summary, changes, count, diff: text, is_cut: diff.is_full })
}

/// Keeps the changes of an overlay, discards them, or takes a commit back.
pub(crate) fn change(id: &str, action: &str, state: &WatchState) -> Result<Reply, RequestError> {
    match action {
        "commit" => json(&state.overlays.find(id)?.commit(&Selection::all(), OnConflict::Refuse)?),
        "undo" => json(&state.overlays.find(id)?.undo(OnConflict::Refuse)?),
        "discard" => json(&state.overlays.discard(id)?),
        _ => Err(RequestError::not_found(format!("unknown action '{action}'"))),
    }
}

/// Takes a limited number of bytes.
#[derive(Default)]
struct LimitedBuffer {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_DIFF_BYTES - self.bytes.len();
        if bytes.len() > room {
            self.bytes.extend_from_slice(&bytes[..room]);
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
