//! The history file, which several shells append to.
//!
//! It has the format of bash with `HISTTIMEFORMAT`: a line with the time before each entry, so that an entry can have several lines.
//! Each entry is appended at once, in one write under a lock, so that a killed shell loses nothing and entries of two shells do not
//! mix.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The default of `HISTSIZE`, and the number of entries to which a file is truncated.
pub(crate) const MAX_HISTORY_ENTRIES: usize = 10_000;

/// Reads a file; a missing file is empty. A file that is too long is truncated.
pub(crate) fn load(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let Ok(mut file) = open_locked(path, OpenOptions::new().read(true)) else { return text };
    if file.read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let is_entry = |line: &[u8]| !line.is_empty() && !line.starts_with(b"#");
    let mut ends = text.split_inclusive(|byte| *byte == b'\n').rev().scan(0, |entries, line| {
        *entries += usize::from(is_entry(line));
        Some((*entries, line.len()))
    });
    let kept: usize = ends
        .by_ref()
        .take_while(|(entries, _)| *entries <= MAX_HISTORY_ENTRIES)
        .map(|(_, length)| length)
        .sum();
    let surplus = ends.last().map_or(0, |(entries, _)| entries - MAX_HISTORY_ENTRIES);
    text.drain(..text.len() - kept);
    if surplus > MAX_HISTORY_ENTRIES / 2 {
        let _ = rewrite(path, &text);
    }
    text
}

/// Replaces the content of the file.
fn rewrite(path: &Path, text: &[u8]) -> io::Result<()> {
    let temporary = temporary_path(path);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text)?;
    std::fs::rename(&temporary, path)
}

/// Appends the text of an entry to a file. A new file is readable by its owner only.
pub(crate) fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = open_locked(path, OpenOptions::new().append(true).create(true).mode(0o600))?;
    file.write_all(text)
}

/// Opens and locks a file. Opens it again if it was replaced meanwhile.
fn open_locked(path: &Path, options: &OpenOptions) -> io::Result<File> {
    loop {
        let file = options.open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        let same =
            std::fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino()));
        if same {
            return Ok(file);
        }
    }
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_test_support::Scratch;

    #[test]
    fn several_shells_append_to_one_file() {
        let scratch = Scratch::new();
        let path = scratch.file("state/haft/history");
        std::thread::scope(|scope| {
            for shell in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    (0..50)
                        .for_each(|n| append(path, format!("#1\necho {shell}\n{n}\n").as_bytes()).unwrap());
                });
            }
        });
        let text = String::from_utf8(load(&path)).unwrap();
        assert_eq!(text.matches("#1\necho ").count(), 200);
        assert!(text.contains("#1\necho 3\n49\n"));
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_too_long_is_truncated() {
        let scratch = Scratch::new();
        let path = scratch.file("history");
        let lines: String =
            (0..MAX_HISTORY_ENTRIES * 2).map(|number| format!("#1\necho {number}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        let text = load(&path);
        assert!(text.starts_with(b"#1\necho 10000\n"), "{:?}", String::from_utf8_lossy(&text[..40]));
        assert_eq!(scratch.lines("history"), 2 * MAX_HISTORY_ENTRIES);
        assert_eq!(scratch.listing(), ["history"]);
    }
}
