//! The changes of an overlay as a patch.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::changes::{Change, ChangeKind, EntryType, FileState};
use crate::error::Error;
use crate::overlay::Overlay;
use crate::unified::{self, Names};

/// Larger files are not compared line by line.
const MAX_TEXT_BYTES: usize = 16 << 20;

impl Overlay {
    /// Writes changes in the format of `git diff`. Binary files are named but not shown.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_diff(&self, changes: &[Change], writer: &mut dyn Write) -> Result<(), Error> {
        for change in changes {
            let written = self.write_change(change, writer);
            written.map_err(Error::file("write the diff of", &change.path))?;
        }
        Ok(())
    }

    fn write_change(&self, change: &Change, writer: &mut dyn Write) -> io::Result<()> {
        let shown = self.shown(&change.path);
        let old_path = change.renamed_from.as_deref().map_or_else(|| shown.clone(), |path| self.shown(path));
        let (before, after) = (change.file.before, change.file.after);
        let is_folder =
            |state: Option<FileState>| state.is_some_and(|state| state.kind == EntryType::Directory);
        if is_folder(before.or(after)) && before.is_none_or(|_| after.is_none()) {
            // A patch knows no directories; their files say it all.
            return Ok(());
        }
        writeln!(writer, "diff --git a/{old_path} b/{shown}")?;
        write!(writer, "{}", headers(change, &old_path, &shown))?;
        if change.kind == ChangeKind::Attributes || change.kind == ChangeKind::Renamed {
            return Ok(());
        }
        let (Some(old), Some(new)) = (self.old_text(change), self.new_text(change)) else {
            return writeln!(writer, "Binary files differ");
        };
        let is_binary =
            |text: &[u8]| text.len() > MAX_TEXT_BYTES || text.iter().take(8000).any(|&byte| byte == 0);
        let old_name = if before.is_none() { "/dev/null".to_owned() } else { format!("a/{old_path}") };
        let new_name = if after.is_none() { "/dev/null".to_owned() } else { format!("b/{shown}") };
        if is_binary(&old) || is_binary(&new) {
            return writeln!(writer, "Binary files {old_name} and {new_name} differ");
        }
        unified::write(&old, &new, &Names { old: &old_name, new: &new_name }, writer)
    }

    /// A path relative to its tree, as a patch names it.
    fn shown(&self, path: &Path) -> String {
        let relative = self.relative(path).map_or(path, |(_, relative)| relative);
        relative.display().to_string()
    }

    fn old_text(&self, change: &Change) -> Option<Vec<u8>> {
        match change.file.before.map(|state| state.kind) {
            None => Some(Vec::new()),
            Some(EntryType::File) => self.before(&change.path),
            Some(EntryType::Symlink) => Some(self.link(&change.path, false)?.into_encoded_bytes()),
            Some(_) => None,
        }
    }

    fn new_text(&self, change: &Change) -> Option<Vec<u8>> {
        match change.file.after.map(|state| state.kind) {
            None => Some(Vec::new()),
            Some(EntryType::File) => self.after(&change.path),
            Some(EntryType::Symlink) => Some(self.link(&change.path, true)?.into_encoded_bytes()),
            Some(_) => None,
        }
    }
}

/// The extended header lines of `git diff`.
fn headers(change: &Change, old_path: &str, new_path: &str) -> String {
    let mut text = String::new();
    match (change.file.before, change.file.after) {
        (None, Some(after)) => {
            let _ = writeln!(text, "new file mode {}", mode(after));
        }
        (Some(before), None) => {
            let _ = writeln!(text, "deleted file mode {}", mode(before));
        }
        (Some(before), Some(after)) if mode(before) != mode(after) => {
            let _ = write!(text, "old mode {}\nnew mode {}\n", mode(before), mode(after));
        }
        _ => {}
    }
    if change.kind == ChangeKind::Renamed {
        let _ = write!(text, "similarity index 100%\nrename from {old_path}\nrename to {new_path}\n");
    }
    text
}

/// The mode as git writes it, with the type of the file.
fn mode(state: FileState) -> String {
    let kind = match state.kind {
        EntryType::File | EntryType::Special => 0o100_000,
        EntryType::Directory => 0o040_000,
        EntryType::Symlink => 0o120_000,
    };
    let permissions = if state.kind == EntryType::Symlink { 0 } else { state.mode & 0o777 };
    format!("{:06o}", kind | permissions)
}
