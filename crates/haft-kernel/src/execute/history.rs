//! The history of a session: which lines are remembered, history expansion, the history file.

use std::io::{self, Write as _};

use haft_fs::OpenOptions;
use haft_text::Bytes;
use haft_text::history::{ExpandedLine, ExpansionOptions, HistoryCharacters, LineJoin, expand};
use haft_text::pattern::{self, Pattern, PatternOptions};

use crate::flow::Unwind;
use crate::options::{SetOption, ShellOption};
use crate::session::{HistoryEntry, Session};

/// `HISTSIZE` of a shell that does not set it.
const DEFAULT_SIZE: &[u8] = b"500";

/// The mode of a new history file: only its owner may read it.
const FILE_MODE: u32 = 0o600;

/// `HISTCONTROL`
#[derive(Clone, Copy, Default)]
struct HistoryControl {
    ignores_space: bool,
    ignores_duplicates: bool,
    erases_duplicates: bool,
}

impl HistoryControl {
    fn parse(value: &[u8]) -> Self {
        let has = |name: &[u8]| value.split(|byte| *byte == b':').any(|word| word == name);
        let both = has(b"ignoreboth");
        Self {
            ignores_space: both || has(b"ignorespace"),
            ignores_duplicates: both || has(b"ignoredups"),
            erases_duplicates: has(b"erasedups"),
        }
    }
}

impl Session {
    /// Turns `set -o history` on or off. The first time, the history file is read.
    pub(crate) fn follow_history_option(&mut self, on: bool) {
        self.history_mut().is_remembering = on;
        if on && self.history().unsaved == 0 && !self.is_interactive() {
            self.load_history();
        }
    }

    /// Sets the defaults of `HISTSIZE` and `HISTFILESIZE` and reads the history file.
    pub fn load_history(&mut self) {
        if self.value(b"HISTSIZE").is_none() {
            let _ = self.set(b"HISTSIZE", DEFAULT_SIZE);
        }
        self.update_history_limit();
        if self.value(b"HISTFILESIZE").is_none() {
            let size = self.value(b"HISTSIZE").unwrap_or_default();
            let _ = self.set(b"HISTFILESIZE", size);
        }
        self.truncate_history_file();
        if let Some(file) = self.history_file() {
            let _ = self.read_history(&file, 0);
        }
    }

    /// The value of `HISTFILE`, if it is not empty.
    pub(crate) fn history_file(&self) -> Option<Bytes> {
        self.value(b"HISTFILE").filter(|file| !file.is_empty())
    }

    /// Follows `HISTSIZE`.
    pub(crate) fn update_history_limit(&mut self) {
        let limit = match self.value(b"HISTSIZE").filter(|size| !size.is_empty()) {
            None => None,
            Some(size) => match number(&size) {
                Some(size) => usize::try_from(size).ok(),
                None => return,
            },
        };
        self.history_mut().set_limit(limit);
    }

    /// Starts a command whose lines are remembered as one entry.
    pub(crate) fn start_history_entry(&mut self) {
        self.history_mut().joiner = haft_text::history::EntryJoiner::default();
    }

    /// Expands the history references of a line of the program, and remembers it. Returns the line to run, if there is one.
    pub(super) fn remember_line(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let expanded =
            match self.options.has(SetOption::HistoryExpand) && !self.history().joiner.is_in_document() {
                true => self.expand_history_line(&line),
                false => Ok(None),
            };
        let (line, is_run) = match expanded {
            Ok(None) => (line, true),
            Ok(Some(expanded)) => {
                let mut shown = expanded.text.clone();
                shown.push(b'\n');
                let _ = self.write(2, &shown);
                (expanded.text, !expanded.is_printed_only)
            }
            Err(message) => {
                self.report(Bytes::from(message));
                return None;
            }
        };
        let joiner = (!is_run).then(|| self.history().joiner.clone());
        if !line.is_empty() || self.history().joiner.line_count() > 0 {
            self.add_history_line(&line);
        }
        if let Some(joiner) = joiner {
            self.history_mut().joiner = joiner;
        }
        is_run.then_some(line)
    }

    /// Expands the history references of a further line of the current command.
    fn expand_history_line(&mut self, line: &[u8]) -> Result<Option<ExpandedLine>, Vec<u8>> {
        let history = self.history();
        let is_further = history.joiner.line_count() > 0 && history.last.has_first_line;
        let is_joined = is_further && self.options.shell(ShellOption::CommandHistory);
        let quote = history.joiner.open_quote();
        self.expand_references(line, usize::from(is_joined), quote)
    }

    /// Expands the history references of a text. Returns `None` if it has none.
    ///
    /// # Errors
    /// A message, if a reference is wrong.
    pub fn expand_history(&mut self, text: &[u8]) -> Result<Option<ExpandedLine>, Vec<u8>> {
        self.expand_references(text, 0, None)
    }

    /// The same without the last `hidden` entries, and with an open quote.
    fn expand_references(
        &mut self,
        text: &[u8],
        hidden: usize,
        open_quote: Option<u8>,
    ) -> Result<Option<ExpandedLine>, Vec<u8>> {
        let options = ExpansionOptions {
            characters: self.history_characters(),
            open_quote,
            posix: self.options.has(SetOption::Posix),
            extglob: self.options.shell(ShellOption::ExtendedGlob),
        };
        let mut memory = self.history().expansion.clone();
        let entries = self.history().entries();
        let kept = entries.len().saturating_sub(hidden);
        let events: Vec<&[u8]> = entries.iter().take(kept).map(|entry| &*entry.line).collect();
        let result = expand(text, &events, self.history().first_number(), options, &mut memory);
        self.history_mut().expansion = memory;
        result
    }

    /// The value of `histchars`. A script has no comment character until it sets one.
    fn history_characters(&self) -> HistoryCharacters {
        let value = self.value(b"histchars");
        let characters = HistoryCharacters::parse(value.as_deref().unwrap_or_default());
        let has_comments =
            value.is_some() || self.is_interactive() || self.value(b"HISTTIMEFORMAT").is_some();
        HistoryCharacters { comment: if has_comments { characters.comment } else { 0 }, ..characters }
    }

    /// Adds a line to the history, as part of the current command.
    pub(crate) fn add_history_line(&mut self, line: &[u8]) {
        let literal = self.options.shell(ShellOption::LiteralHistory);
        let is_joined = self.options.shell(ShellOption::CommandHistory);
        let has_time = self.history_characters().comment != 0;
        let history = self.history_mut();
        history.last.is_added = false;
        match history.joiner.add(line, literal) {
            LineJoin::First => {
                let is_saved = self.add_history_entry(line);
                self.history_mut().last.has_first_line = is_saved;
            }
            LineJoin::Skip => {}
            _ if !history.last.has_first_line => {}
            join => match history.last_line().filter(|_| is_joined).map(|line| line.to_vec()) {
                Some(mut entry) => {
                    join.apply(&mut entry, line);
                    history.replace_last(entry);
                }
                None => history.add_new(line, has_time),
            },
        }
    }

    /// Adds an entry, unless `HISTCONTROL` or `HISTIGNORE` exclude it. Returns whether it was added.
    pub(crate) fn add_history_entry(&mut self, line: &[u8]) -> bool {
        self.update_history_limit();
        let mut control = HistoryControl::parse(&self.value(b"HISTCONTROL").unwrap_or_default());
        control.ignores_duplicates |= self.is_interactive();
        let is_duplicate = self.history().last_line().is_some_and(|last| &**last == line);
        if (control.ignores_space && line.starts_with(b" "))
            || (control.ignores_duplicates && is_duplicate)
            || self.is_ignored_in_history(line)
        {
            return false;
        }
        let has_time = self.history_characters().comment != 0;
        let history = self.history_mut();
        if control.erases_duplicates {
            history.erase(line);
        }
        history.add_new(line, has_time);
        true
    }

    /// Whether a pattern of `HISTIGNORE` matches a line.
    fn is_ignored_in_history(&self, line: &[u8]) -> bool {
        let patterns = self.value(b"HISTIGNORE").unwrap_or_default();
        if patterns.is_empty() {
            return false;
        }
        let last = self.history().last_line().map(|last| last.to_vec());
        let options = PatternOptions { extended: true, ..self.pattern_options() };
        split_patterns(&patterns, last.as_deref())
            .iter()
            .any(|text| Pattern::compile(text, options).matches(line))
    }

    /// Reads entries from a file, except for the first `known` lines. Returns whether it could be read.
    pub(crate) fn read_history(&mut self, file: &[u8], known: usize) -> Result<bool, Unwind> {
        let Ok(text) = self.read_file(file)? else { return Ok(false) };
        self.add_history_text(&text, known);
        Ok(true)
    }

    /// Adds the entries of a history file, except for the first `known` lines.
    pub fn add_history_text(&mut self, text: &[u8], known: usize) {
        self.update_history_limit();
        let format = HistoryFileFormat {
            has_times: self.history_characters().comment != 0,
            is_multiline: self.writes_history_times(),
        };
        let (entries, count) = parse_file(text, known, format);
        let history = self.history_mut();
        entries.into_iter().for_each(|entry| history.add(entry));
        history.lines_in_file = count;
    }

    /// Whether the history file has the times of its entries.
    fn writes_history_times(&self) -> bool {
        self.is_interactive() || self.value(b"HISTTIMEFORMAT").is_some()
    }

    /// The last `count` entries as the text of a history file.
    #[must_use]
    pub fn history_text(&self, count: usize) -> Vec<u8> {
        let has_times = self.writes_history_times();
        let entries = self.history().entries();
        let mut text = Vec::new();
        for entry in entries.iter().skip(entries.len().saturating_sub(count)) {
            if let Some(time) = entry.time.filter(|_| has_times) {
                text.extend_from_slice(format!("#{time}\n").as_bytes());
            }
            text.extend_from_slice(&entry.line);
            text.push(b'\n');
        }
        text
    }

    /// Writes all entries to a file. Returns whether that was possible.
    pub(crate) fn write_history(&mut self, file: &[u8]) -> bool {
        let text = self.history_text(usize::MAX);
        let options = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE);
        let is_written = self.write_history_file(file, options, &text).is_ok();
        if is_written {
            let count = self.history().entries().len();
            self.history_mut().lines_in_file = count;
        }
        is_written
    }

    /// Appends the entries of this session to a file. Returns whether that was possible.
    pub(crate) fn append_history(&mut self, file: &[u8]) -> io::Result<()> {
        let count = self.history().unsaved.min(self.history().entries().len());
        if count == 0 {
            return Ok(());
        }
        let text = self.history_text(count);
        let options = OpenOptions::new().append(true).create(true).mode(FILE_MODE);
        self.write_history_file(file, options, &text)?;
        self.mark_history_saved();
        Ok(())
    }

    /// Says that the history file has all entries.
    pub fn mark_history_saved(&mut self) {
        let history = self.history_mut();
        history.lines_in_file += history.unsaved;
        history.unsaved = 0;
    }

    fn write_history_file(&self, file: &[u8], options: OpenOptions, text: &[u8]) -> io::Result<()> {
        let path = self.resolve(file);
        self.kernel.files.open(haft_text::path(&path), &options)?.write_all(text)
    }

    /// Writes a new file that only its owner may read.
    pub(crate) fn write_private_file(&self, file: &[u8], text: &[u8]) -> io::Result<()> {
        let options = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE);
        self.write_history_file(file, options, text)
    }

    /// Removes a file.
    pub(crate) fn remove_file(&self, file: &[u8]) {
        let _ = self.kernel.files.remove(haft_text::path(&self.resolve(file)));
    }

    /// Appends the entries of this session to the history file at the end of the shell.
    pub(crate) fn save_history(&mut self) {
        let history = self.history();
        if !history.is_remembering || history.unsaved == 0 || self.identity.is_subshell() {
            return;
        }
        let Some(file) = self.history_file() else { return };
        let appends =
            history.unsaved <= history.entries().len() || self.options.shell(ShellOption::HistoryAppend);
        match appends {
            true => drop(self.append_history(&file)),
            false => drop(self.write_history(&file)),
        }
        self.truncate_history_file();
    }

    /// Cuts the history file to its last `HISTFILESIZE` lines.
    pub(crate) fn truncate_history_file(&mut self) {
        let size = self.value(b"HISTFILESIZE").and_then(|size| number(&size));
        let Some(size) = size.and_then(|size| usize::try_from(size).ok()) else { return };
        let Some(file) = self.history_file() else { return };
        let path = self.resolve(&file);
        if !self.kernel.files.metadata(haft_text::path(&path)).is_ok_and(|metadata| metadata.is_file()) {
            return;
        }
        let Ok(Ok(text)) = self.read_file(&file) else { return };
        let kept = last_lines(&text, size, self.history_characters().comment != 0);
        if kept.len() < text.len() {
            let options = OpenOptions::new().write(true).truncate(true);
            let _ = self.write_history_file(&file, options, kept);
        }
    }

    /// Runs commands that were edited with `fc`: they are shown and remembered.
    pub(crate) fn run_edited(&mut self, text: &[u8]) -> crate::flow::Flow {
        let verbose = self.options.has(SetOption::Verbose);
        self.options.put(SetOption::Verbose, true);
        let result = self.run_remembered_text(text);
        self.options.put(SetOption::Verbose, verbose);
        result
    }
}

/// A whole number.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// The patterns of `HISTIGNORE`. An `&` stands for the last entry.
fn split_patterns(value: &[u8], last: Option<&[u8]>) -> Vec<Vec<u8>> {
    let mut patterns = vec![Vec::new()];
    let mut bytes = value.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let Some(pattern) = patterns.last_mut() else { break };
        match (byte, last) {
            (b'\\', _) if bytes.peek() == Some(&b'&') => pattern.extend(bytes.next()),
            (b'\\', _) => {
                pattern.push(byte);
                pattern.extend(bytes.next());
            }
            (b':', _) => patterns.push(Vec::new()),
            (b'&', Some(last)) => pattern::quote_into(pattern, last),
            _ => pattern.push(byte),
        }
    }
    patterns.retain(|pattern| !pattern.is_empty());
    patterns
}

/// The format of a history file.
#[derive(Clone, Copy)]
struct HistoryFileFormat {
    /// Whether there are lines with times.
    has_times: bool,
    /// Whether an entry after a time can have several lines.
    is_multiline: bool,
}

/// The time in a line of a history file, if it is one: `#1700000000`.
fn time_line(line: &[u8]) -> Option<i64> {
    let digits = line.strip_prefix(b"#")?;
    digits.first().filter(|digit| digit.is_ascii_digit())?;
    let length = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
    Some(number(&digits[..length]).unwrap_or(0))
}

/// The entries of a history file after its first `known` lines, and the number of its lines. Lines with times do not count. With times,
/// an entry can have several lines.
fn parse_file(text: &[u8], known: usize, format: HistoryFileFormat) -> (Vec<HistoryEntry>, usize) {
    let HistoryFileFormat { has_times, is_multiline } = format;
    let is_multiline = is_multiline && text.split(|byte| *byte == b'\n').next().and_then(time_line).is_some();
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let (mut count, mut time, mut is_continued) = (0, None, false);
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        if let Some(entered) = time_line(line).filter(|_| has_times) {
            (time, is_continued) = (Some(entered), false);
            continue;
        }
        if line.is_empty() && !is_continued {
            continue;
        }
        count += usize::from(!is_continued);
        if count <= known {
            is_continued = is_multiline;
            continue;
        }
        match entries.last_mut().filter(|_| is_continued) {
            Some(entry) => entry.line = [&*entry.line, b"\n", line].concat().into(),
            None => {
                let entry = HistoryEntry::now(line, has_times);
                entries.push(HistoryEntry { time: time.take().or(entry.time), ..entry });
                is_continued = is_multiline;
            }
        }
    }
    (entries, count)
}

/// The last lines of a history file, with their times.
fn last_lines(text: &[u8], count: usize, has_times: bool) -> &[u8] {
    let mut start = text.len();
    let mut lines = 0;
    while start > 0 {
        let before = &text[..start - 1];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let is_time = has_times && time_line(&text[line_start..start - 1]).is_some();
        if lines == count && !is_time {
            break;
        }
        lines += usize::from(!is_time);
        start = line_start;
        if lines > count {
            break;
        }
    }
    &text[start..]
}
