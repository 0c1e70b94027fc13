//! The history, in memory and in a file that several shells append to.
//!
//! The file has one entry per line; a newline within an entry is written as `\n`, a backslash as `\\`. Each entry is appended at
//! once, in one write under a lock, so that a killed shell loses nothing and entries of two shells do not mix.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

pub(crate) const MAX_ENTRIES: usize = 10_000;

/// Which entries are left out: `HISTCONTROL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistoryRules {
    pub(crate) ignore_space: bool,
    /// Whether a new entry removes earlier equal ones.
    pub(crate) erase_duplicates: bool,
}

impl HistoryRules {
    /// Parses `HISTCONTROL`.
    pub(crate) fn parse(control: &[u8]) -> Self {
        let has = |name: &[u8]| control.split(|byte| *byte == b':').any(|word| word == name);
        Self { ignore_space: has(b"ignorespace") || has(b"ignoreboth"), erase_duplicates: has(b"erasedups") }
    }
}

/// The entries, the latest last.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    /// The number of entries that were dropped before the first one.
    dropped: usize,
}

impl History {
    /// Reads a file; a missing file is empty. A file that is too long is truncated.
    pub(crate) fn load(path: &Path) -> Self {
        let mut history = Self::default();
        let Ok(mut file) = open_locked(path, OpenOptions::new().read(true)) else { return history };
        let mut bytes = Vec::new();
        if file.read_to_end(&mut bytes).is_err() {
            return history;
        }
        let text = String::from_utf8_lossy(&bytes);
        history.entries = text.lines().filter(|line| !line.is_empty()).map(decode).collect();
        let surplus = history.entries.len().saturating_sub(MAX_ENTRIES);
        if surplus > 0 {
            history.entries.drain(..surplus);
            if surplus > MAX_ENTRIES / 2 {
                let _ = history.rewrite(path);
            }
        }
        history
    }

    pub(crate) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// The entries with their numbers, from 1.
    pub(crate) fn numbered(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> + ExactSizeIterator {
        let first = self.dropped + 1;
        self.entries.iter().enumerate().map(move |(at, entry)| (first + at, entry.as_str()))
    }

    /// The number that the next entry gets.
    pub(crate) fn next_number(&self) -> usize {
        self.dropped + self.entries.len() + 1
    }

    /// Adds an entry, unless it is empty, equal to the last one or excluded by the rules. Returns whether it was added.
    pub(crate) fn add(&mut self, text: &str, rules: HistoryRules) -> bool {
        let hidden = rules.ignore_space && text.starts_with(' ');
        if text.trim().is_empty() || hidden || self.entries.last().is_some_and(|last| last == text) {
            return false;
        }
        if rules.erase_duplicates {
            self.entries.retain(|entry| entry != text);
        }
        self.entries.push(text.to_owned());
        if self.entries.len() > MAX_ENTRIES {
            self.entries.remove(0);
            self.dropped += 1;
        }
        true
    }

    /// Removes the entry with this number. Returns whether it existed.
    pub(crate) fn remove(&mut self, number: usize) -> bool {
        let place = number.checked_sub(self.dropped + 1).filter(|at| *at < self.entries.len());
        place.map(|at| self.entries.remove(at)).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.dropped = 0;
    }

    /// Replaces the content of the file with these entries.
    pub(crate) fn rewrite(&self, path: &Path) -> io::Result<()> {
        let temporary = temporary_path(path);
        let mut text = String::new();
        self.entries.iter().for_each(|entry| text.push_str(&encode(entry)));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&temporary, path)
    }
}

/// Appends an entry to a file. A new file is readable by its owner only.
pub(crate) fn append(path: &Path, entry: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = open_locked(path, OpenOptions::new().append(true).create(true).mode(0o600))?;
    file.write_all(encode(entry).as_bytes())
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

fn encode(entry: &str) -> String {
    entry.replace('\\', "\\\\").replace('\n', "\\n") + "\n"
}

fn decode(line: &str) -> String {
    let mut entry = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => entry.push('\n'),
                Some(other) => entry.push(other),
                None => entry.push('\\'),
            },
            other => entry.push(other),
        }
    }
    entry
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
                    (0..50).for_each(|n| append(path, &format!("echo {shell}\n{n} \\n")).unwrap());
                });
            }
        });
        let history = History::load(&path);
        assert_eq!(history.entries().len(), 200);
        assert!(history.entries().contains(&"echo 3\n49 \\n".to_owned()));
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn empty_repeated_and_excluded_entries_are_left_out() {
        let mut history = History::default();
        let spaced = HistoryRules::parse(b"ignoreboth");
        assert!(history.add("ls", spaced));
        assert!(!history.add("ls", spaced) && !history.add(" secret", spaced) && !history.add(" \n", spaced));
        assert!(history.add(" kept", HistoryRules::default()));
        assert!(history.add("ls", HistoryRules::parse(b"erasedups")));
        assert_eq!(history.entries(), [" kept", "ls"]);
        assert_eq!(history.numbered().next_back(), Some((2, "ls")));
        assert!(history.remove(1) && !history.remove(7));
    }

    #[test]
    fn a_file_that_is_too_long_is_truncated() {
        let scratch = Scratch::new();
        let path = scratch.file("history");
        let lines: String = (0..MAX_ENTRIES * 2).map(|number| format!("echo {number}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        assert_eq!(History::load(&path).entries().len(), MAX_ENTRIES);
        assert_eq!(scratch.lines("history"), MAX_ENTRIES);
        assert_eq!(scratch.listing(), ["history"]);
    }
}
