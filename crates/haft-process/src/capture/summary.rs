use std::sync::Arc;

use serde::Serialize;

use super::{OutputId, OutputSlice};

/// An output as it appears in a result: text within a budget, and how to get at the rest.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputSummary {
    /// What the view shows, as [`OutputSlice::to_text`] writes it.
    pub text: String,
    /// Whether something in the text was not UTF-8.
    pub lossy: bool,
    /// All bytes of the stream.
    pub total_bytes: u64,
    /// All lines of the stream.
    pub total_lines: u64,
    /// Whether the text shows less than the whole stream.
    pub truncated: bool,
    /// What the text does not show; only when it is truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
    /// Why spilling was given up; only when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_failed: Option<String>,
    /// Why later processes cannot ask for it by its name; only if it should have been stored and could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_stored: Option<String>,
    /// The name under which the rest can be asked for.
    pub id: OutputId,
}

/// How much of an output a summary does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Omitted {
    /// Bytes not shown.
    pub bytes: u64,
    /// Lines of which nothing is shown.
    pub lines: u64,
    /// Bytes that are lost, so that no view can show them; only when there are some.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_bytes: u64,
}

impl OutputSummary {
    pub(super) fn new(slice: &OutputSlice, id: OutputId, spill_failure: Option<Arc<str>>) -> Self {
        let text = slice.to_text();
        let bytes: u64 = slice.pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
        let truncated = bytes < slice.total_bytes;
        let omitted = Omitted {
            bytes: slice.total_bytes - bytes,
            lines: slice.total_lines.saturating_sub(slice.shown_lines()),
            lost_bytes: slice.lost_bytes,
        };
        Self {
            text: text.text,
            lossy: text.lossy,
            total_bytes: slice.total_bytes,
            total_lines: slice.total_lines,
            truncated,
            omitted: truncated.then_some(omitted),
            spill_failed: spill_failure.map(|reason| reason.to_string()),
            not_stored: None,
            id,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
