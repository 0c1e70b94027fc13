//! The history list.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use haft_text::Bytes;
use haft_text::history::{EntryJoiner, ExpansionMemory};

use super::Session;

/// An entry of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    /// The command, which may have several lines.
    pub(crate) line: Bytes,
    /// When it was entered, in seconds since the epoch, if times are kept.
    pub(crate) time: Option<i64>,
}

impl HistoryEntry {
    /// An entry of this moment.
    pub(crate) fn now(line: impl Into<Bytes>, has_time: bool) -> Self {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self { line: line.into(), time: has_time.then(|| i64::try_from(now()).unwrap_or(0)) }
    }
}

/// The outcome of the last line that was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastHistoryLine {
    /// Whether it became an entry of its own.
    pub(crate) is_added: bool,
    /// Whether `history -s` has added an entry since.
    pub(crate) is_replaced: bool,
    /// Whether the first line of its command is in the history.
    pub(crate) has_first_line: bool,
}

/// The history: entries, the latest last.
#[derive(Clone, Debug)]
pub(crate) struct CommandHistory {
    entries: VecDeque<HistoryEntry>,
    /// The number of the first entry.
    first_number: usize,
    /// The most entries that are kept.
    limit: Option<usize>,
    /// The number of entries since the history was last written to its file.
    pub(crate) unsaved: usize,
    /// The number of lines of the history file that are known.
    pub(crate) lines_in_file: usize,
    /// Whether the lines of the program are remembered.
    pub(crate) is_remembering: bool,
    pub(crate) last: LastHistoryLine,
    /// The lines of the current command.
    pub(crate) joiner: EntryJoiner,
    pub(crate) expansion: ExpansionMemory,
}

impl Default for CommandHistory {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            first_number: 1,
            limit: None,
            unsaved: 0,
            lines_in_file: 0,
            is_remembering: false,
            last: LastHistoryLine::default(),
            joiner: EntryJoiner::default(),
            expansion: ExpansionMemory::default(),
        }
    }
}

impl CommandHistory {
    /// The entries.
    pub(crate) fn entries(&self) -> &VecDeque<HistoryEntry> {
        &self.entries
    }

    /// The number of the first entry.
    pub(crate) fn first_number(&self) -> usize {
        self.first_number
    }

    /// The number of the next entry.
    pub(crate) fn next_number(&self) -> usize {
        self.first_number + self.entries.len()
    }

    /// The text of the last entry.
    pub(crate) fn last_line(&self) -> Option<&Bytes> {
        self.entries.back().map(|entry| &entry.line)
    }

    /// Sets the most entries that are kept, and drops the oldest ones beyond.
    pub(crate) fn set_limit(&mut self, limit: Option<usize>) {
        self.limit = limit;
        let surplus = self.entries.len().saturating_sub(limit.unwrap_or(usize::MAX));
        self.entries.drain(..surplus);
        if surplus > 0 {
            // As in bash, the numbers start again.
            self.first_number = surplus;
            self.unsaved = self.unsaved.min(self.entries.len());
        }
    }

    /// Adds an entry from a file.
    pub(crate) fn add(&mut self, entry: HistoryEntry) {
        if self.limit == Some(0) {
            return;
        }
        if self.limit == Some(self.entries.len()) {
            self.entries.pop_front();
            self.first_number += 1;
        }
        self.entries.push_back(entry);
    }

    /// Adds an entry of this session.
    pub(crate) fn add_new(&mut self, line: impl Into<Bytes>, has_time: bool) {
        self.last.is_added = true;
        self.last.is_replaced = false;
        self.add(HistoryEntry::now(line, has_time));
        self.unsaved += 1;
    }

    /// Replaces the text of the last entry.
    pub(crate) fn replace_last(&mut self, line: Vec<u8>) {
        if let Some(last) = self.entries.back_mut() {
            last.line = line.into();
        }
    }

    /// Removes the entries with this text.
    pub(crate) fn erase(&mut self, line: &[u8]) {
        self.entries.retain(|entry| &*entry.line != line);
    }

    /// Removes a range of entries, by index.
    pub(crate) fn remove(&mut self, range: std::ops::RangeInclusive<usize>) {
        let count = self.entries.drain(range).count();
        self.unsaved = self.unsaved.saturating_sub(count);
    }

    /// Removes the last entry. Returns whether there was one.
    pub(crate) fn remove_last(&mut self) -> bool {
        let removed = self.entries.pop_back().is_some();
        self.unsaved = self.unsaved.saturating_sub(usize::from(removed));
        removed
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.first_number = 1;
        self.unsaved = 0;
    }
}

impl Session {
    /// The history.
    #[inline]
    pub(crate) fn history(&self) -> &CommandHistory {
        self.interactive.history()
    }

    /// The history, to change it.
    pub(crate) fn history_mut(&mut self) -> &mut CommandHistory {
        Arc::make_mut(self.interactive.history_mut())
    }

    /// The number of the next entry: `\!` in a prompt. `HISTCMD` is the number before.
    #[must_use]
    pub fn history_number(&self) -> usize {
        match self.options.has(crate::options::SetOption::History) {
            true => self.history().next_number(),
            false => 1,
        }
    }
}
