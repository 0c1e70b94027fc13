//! Recognises files that were moved.

use std::path::Path;

use crate::changes::{Change, ChangeKind, EntryType, FileState};
use crate::overlay::Overlay;

impl Overlay {
    /// Joins a deleted and an added file with the same contents into a rename.
    pub(crate) fn with_renames(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let is_file =
            |state: Option<FileState>| state.filter(|state| state.kind == EntryType::File && state.size > 0);
        let mut deleted: Vec<(usize, u64)> = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            if change.kind == ChangeKind::Deleted
                && let Some(state) = is_file(change.file.before)
            {
                deleted.push((index, state.size));
            }
        }
        let mut gone = vec![false; changes.len()];
        for index in 0..changes.len() {
            if changes[index].kind != ChangeKind::Added || deleted.is_empty() {
                continue;
            }
            let Some(state) = is_file(changes[index].file.after) else { continue };
            let path = changes[index].path.clone();
            let found = deleted.iter().position(|(old, size)| {
                *size == state.size && self.has_same_contents(&changes[*old].path, &path)
            });
            if let Some(position) = found {
                let (old, _) = deleted.remove(position);
                gone[old] = true;
                changes[index].kind = ChangeKind::Renamed;
                changes[index].file.before = changes[old].file.before;
                changes[index].renamed_from = Some(changes[old].path.clone());
            }
        }
        let mut gone = gone.into_iter();
        changes.retain(|_| !gone.next().unwrap_or(false));
        changes
    }

    fn has_same_contents(&self, old: &Path, new: &Path) -> bool {
        match (self.before(old), self.after(new)) {
            (Some(old), Some(new)) => old == new,
            _ => false,
        }
    }
}
