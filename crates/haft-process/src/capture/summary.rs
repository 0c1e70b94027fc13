use std::sync::Arc;

use serde::Serialize;

use super::{OutputId, OutputSlice};

/// The JSON form of an output: text within a budget, totals, and the id for reading the rest.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct OutputSummary {
    /// The text of [`OutputSlice::to_text`].
    pub text: String,
    /// Whether the bytes contained invalid UTF-8.
    pub lossy: bool,
    /// Number of bytes of the stream.
    pub total_bytes: u64,
    /// Number of lines of the stream.
    pub total_lines: u64,
    /// Whether the text is not the whole stream.
    pub truncated: bool,
    /// The size of the missing part; omitted unless truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
    /// Why spilling failed; omitted if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_failed: Option<String>,
    /// Why the output could not be stored for later processes; omitted if it was stored or not meant to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_stored: Option<String>,
    /// The id for reading the whole output.
    pub id: OutputId,
}

/// The size of the part of an output that is missing in a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Omitted {
    /// Number of missing bytes.
    pub bytes: u64,
    /// Number of lines that are missing completely.
    pub lines: u64,
    /// Number of lost bytes, which no view can show; omitted if zero.
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
