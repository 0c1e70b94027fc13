//! Overlays and changes as text and JSON.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use haft_fs::ByteSize;
use haft_overlay::{Change, ChangeCounts, Overlay, OverlayState, OverlaySummary, Retention};
use schemars::JsonSchema;
use serde::Serialize;

use super::SECONDS_PER_DAY;
use crate::units::count;

/// How many paths a result names.
const LISTED_PATHS: usize = 20;

/// All overlays.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OverlayListReport<'a> {
    /// The overlays, oldest first.
    pub(crate) overlays: &'a [OverlaySummary],
    /// Overlays that were removed now, because they were not used for a long time or needed too much space.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) removed: &'a [String],
}

/// The changes in an overlay.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ChangesReport<'a> {
    /// The overlay.
    pub(crate) overlay: OverlaySummary,
    /// How many paths changed, and how.
    pub(crate) counts: ChangeCounts,
    /// Every changed path.
    pub(crate) changes: &'a [Change],
}

impl<'a> ChangesReport<'a> {
    pub(crate) fn new(overlay: OverlaySummary, changes: &'a [Change]) -> ChangesReport<'a> {
        ChangesReport { overlay, counts: ChangeCounts::new(changes), changes }
    }
}

/// A commit or undo.
#[derive(JsonSchema, Serialize)]
pub(crate) struct CommittedReport<'a> {
    /// The overlay's id.
    pub(crate) id: &'a str,
    /// How many paths were replaced, added or removed. A directory that is new or gone counts once.
    pub(crate) paths: usize,
}

/// Overlays that were removed.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RemovedReport<'a> {
    /// Their ids.
    pub(crate) removed: &'a [String],
}

/// The overlay of a run, in its result.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct RunOverlayReport {
    /// The overlay's id, for 'haft changes'.
    pub(crate) id: String,
    /// Whether the changes were thrown away, as '--dry-run' does, or because there were none.
    pub(crate) discarded: bool,
    /// How the overlay is separated from the machine.
    pub(crate) level: haft_overlay::OverlayLevel,
    /// How many paths changed, and how.
    pub(crate) counts: ChangeCounts,
    /// The first changed paths.
    pub(crate) first: Vec<Change>,
}

impl RunOverlayReport {
    pub(crate) fn new(overlay: &Overlay, changes: &[Change], discarded: bool) -> RunOverlayReport {
        RunOverlayReport {
            id: overlay.id().to_owned(),
            discarded,
            level: overlay.level(),
            counts: ChangeCounts::new(changes),
            first: changes.iter().take(LISTED_PATHS).cloned().collect(),
        }
    }
}

/// One line about all changes.
pub(crate) fn summary_line(changes: &[Change]) -> String {
    let counts = ChangeCounts::new(changes);
    match changes.is_empty() {
        true => counts.to_string(),
        false => format!("{counts} ({})", ByteSize(counts.bytes)),
    }
}

/// The overlays as a table.
pub(crate) fn overlay_table(overlays: &[OverlaySummary]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut text = format!("{:8}{:11}{:>6}{:>10}  {}\n", "ID", "STATE", "AGE", "SIZE", "DIRECTORY");
    for overlay in overlays {
        let state = match overlay.state {
            OverlayState::Open => "open",
            OverlayState::Committed => "committed",
        };
        let trees: Vec<String> = overlay.trees.iter().map(|tree| tree.display().to_string()).collect();
        let age = crate::units::age(now.saturating_sub(overlay.created));
        let size = ByteSize(overlay.bytes).to_string();
        let name = overlay.name.as_ref().map(|name| format!("  ({name})")).unwrap_or_default();
        let _ = writeln!(text, "{:8}{state:11}{age:>6}{size:>10}  {}{name}", overlay.id, trees.join(" "));
    }
    text
}

/// How many overlays there are, what they need, and which of them are removed when.
pub(crate) fn overlay_totals(overlays: &[OverlaySummary], prunable: Duration, keep: Retention) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let bytes = ByteSize(overlays.iter().map(|overlay| overlay.bytes).sum());
    let old = overlays.iter().filter(|overlay| now.saturating_sub(overlay.used) >= prunable.as_secs());
    let days = |age: Duration| age.as_secs() / SECONDS_PER_DAY;
    let all = count(overlays.len(), "overlay");
    let prune = match old.count() {
        0 => String::new(),
        old => format!("; 'haft changes prune' removes {old} not used for {} days", days(prunable)),
    };
    let (kept, most) = (days(keep.age.unwrap_or_default()), ByteSize(keep.bytes.unwrap_or_default()));
    format!("{all}, {bytes}{prune}; unused ones are removed after {kept} days, the oldest above {most}")
}

/// A patch with the colours of `git diff`.
pub(crate) fn colored(patch: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(patch.len() + 64);
    for line in patch.split_inclusive(|&byte| byte == b'\n') {
        let color: &[u8] = match line {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', ..] => b"\x1b[1m",
            [b'+', ..] => b"\x1b[32m",
            [b'-', ..] => b"\x1b[31m",
            [b'@', ..] => b"\x1b[36m",
            _ => b"",
        };
        out.extend_from_slice(color);
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        out.extend_from_slice(body);
        if !color.is_empty() {
            out.extend_from_slice(b"\x1b[m");
        }
        out.extend_from_slice(&line[body.len()..]);
    }
    out
}
