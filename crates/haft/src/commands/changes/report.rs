//! Overlays and changes as text and JSON.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use haft_overlay::{Change, ChangeKind, EntryType, Overlay, OverlayState, OverlaySummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::units::count;

/// How many paths a result names.
const LISTED_PATHS: usize = 20;

/// All overlays.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OverlayListReport<'a> {
    /// The overlays, oldest first.
    pub(crate) overlays: &'a [OverlaySummary],
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
    pub(crate) fn new(overlay: &Overlay, changes: &'a [Change]) -> ChangesReport<'a> {
        ChangesReport { overlay: overlay.summary(), counts: ChangeCounts::new(changes), changes }
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

/// How many paths changed, and how.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Eq, Serialize)]
pub(crate) struct ChangeCounts {
    /// New paths.
    pub(crate) added: usize,
    /// Files with other contents.
    pub(crate) modified: usize,
    /// Files with other attributes only.
    pub(crate) attributes: usize,
    /// Paths that are gone.
    pub(crate) deleted: usize,
    /// Files that were moved.
    pub(crate) renamed: usize,
    /// Size of new and changed files.
    pub(crate) bytes: u64,
}

impl ChangeCounts {
    pub(crate) fn new(changes: &[Change]) -> ChangeCounts {
        let mut counts = ChangeCounts::default();
        for change in changes {
            match change.kind {
                ChangeKind::Added => counts.added += 1,
                ChangeKind::Modified => counts.modified += 1,
                ChangeKind::Attributes => counts.attributes += 1,
                ChangeKind::Deleted => counts.deleted += 1,
                ChangeKind::Renamed => counts.renamed += 1,
            }
            counts.bytes += change.file.after.map_or(0, |state| state.size);
        }
        counts
    }
}

/// One line about all changes.
pub(crate) fn summary_line(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "no changes".to_owned();
    }
    let counts = ChangeCounts::new(changes);
    let kinds = [
        (counts.added, "added"),
        (counts.modified, "modified"),
        (counts.attributes, "with other attributes"),
        (counts.deleted, "deleted"),
        (counts.renamed, "renamed"),
    ];
    let parts = kinds.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, kind)| format!("{number} {kind}")).collect();
    let size = crate::units::bytes(counts.bytes);
    format!("{}: {} ({size})", count(changes.len(), "changed path"), parts.join(", "))
}

/// All changes, one per line, as `git status --short` prints them.
pub(crate) fn change_list(overlay: &Overlay, changes: &[Change]) -> String {
    let roots: Vec<&Path> = overlay.trees().collect();
    let shown = |path: &Path| match roots.as_slice() {
        [root] => path.strip_prefix(root).unwrap_or(path).display().to_string(),
        _ => path.display().to_string(),
    };
    let mut text = String::new();
    for change in changes {
        let _ = write!(text, "{} ", change.kind.letter());
        if let Some(old) = &change.renamed_from {
            let _ = write!(text, "{} -> ", shown(old));
        }
        let is_folder =
            change.file.after.or(change.file.before).is_some_and(|state| state.kind == EntryType::Directory);
        let _ = writeln!(text, "{}{}", shown(&change.path), if is_folder { "/" } else { "" });
    }
    text + &summary_line(changes) + "\n"
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
        let size = crate::units::bytes(overlay.bytes);
        let name = overlay.name.as_ref().map(|name| format!("  ({name})")).unwrap_or_default();
        let _ = writeln!(text, "{:8}{state:11}{age:>6}{size:>10}  {}{name}", overlay.id, trees.join(" "));
    }
    text
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
