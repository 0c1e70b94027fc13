//! Changes in words and numbers.

use std::fmt::{self, Write as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::changes::{Change, ChangeKind, EntryType};
use crate::overlay::Overlay;

/// How many paths changed, and how.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    /// New paths.
    pub added: usize,
    /// Files with other contents.
    pub modified: usize,
    /// Files with other attributes only.
    pub attributes: usize,
    /// Paths that are gone.
    pub deleted: usize,
    /// Files that were moved.
    pub renamed: usize,
    /// Size of new and changed files.
    pub bytes: u64,
}

impl ChangeCounts {
    /// Counts changes.
    pub fn new(changes: &[Change]) -> ChangeCounts {
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

impl fmt::Display for ChangeCounts {
    /// Such as "3 changed paths: 1 added, 2 deleted".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.added, "added"),
            (self.modified, "modified"),
            (self.attributes, "with other attributes"),
            (self.deleted, "deleted"),
            (self.renamed, "renamed"),
        ];
        let total: usize = kinds.iter().map(|(number, _)| number).sum();
        match total {
            0 => return formatter.write_str("no changes"),
            1 => formatter.write_str("1 changed path: ")?,
            _ => write!(formatter, "{total} changed paths: ")?,
        }
        let present = kinds.iter().filter(|(number, _)| *number > 0);
        for (index, (number, kind)) in present.enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(formatter, "{separator}{number} {kind}")?;
        }
        Ok(())
    }
}

impl Overlay {
    /// Changes one per line, as `git status --short` prints them.
    pub fn describe(&self, changes: &[Change]) -> String {
        let roots: Vec<&Path> = self.trees().collect();
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
            let state = change.file.after.or(change.file.before);
            let is_folder = state.is_some_and(|state| state.kind == EntryType::Directory);
            let _ = writeln!(text, "{}{}", shown(&change.path), if is_folder { "/" } else { "" });
        }
        text
    }
}
