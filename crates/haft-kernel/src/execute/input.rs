//! A script on standard input, read command by command while it runs.
//!
//! No byte beyond the next command is read, so that `read` and `cat` in such a script find the rest of it in their standard
//! input.

use std::io;

use haft_lang::ast::WarningKind;
use haft_lang::{Opened, ParseOptions, Script};

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// The most bytes that are read at once where the excess can be given back.
const READ_AHEAD_BYTES: usize = 4096;

/// Whether a text that was read can run.
enum ParseProgress {
    /// It is one or more commands, or an error that no further line can fix.
    Complete,
    /// More lines are needed, to close this construct if it is known.
    Incomplete(Option<Opened>),
    /// It has a here-document that ends with this delimiter.
    HereDocument(Vec<u8>),
}

/// The result of parsing the lines read so far.
enum ParsedLines {
    /// They can run.
    Script(Script),
    /// More lines are needed, to close this construct if it is known.
    Incomplete(Option<Opened>),
}

/// The source of a program's lines.
pub(super) enum LineSource<'t> {
    /// Standard input.
    Input,
    /// A text, from an offset on.
    Text { text: &'t [u8], offset: usize },
}

impl Session {
    /// Runs the script on standard input as the program of this session, and then the `EXIT` trap. Returns the status.
    pub fn run_input(&mut self) -> Flow {
        let before = self.save_calls();
        let result = self.run_from_input();
        let result = self.end_program(result);
        self.restore_calls(before);
        result
    }

    fn run_from_input(&mut self) -> Flow {
        let mut lines = 0;
        let mut status = 0;
        while let Some(script) = self.next_commands(&mut LineSource::Input, lines)? {
            status = self.run_part(&script, lines, true)?;
            if script.error().is_some_and(|error| !error.skips_line()) {
                return Ok(status);
            }
            lines = lines.saturating_add(count_lines(script.source()));
        }
        Ok(status)
    }

    /// Runs the commands of a text line by line while `set -o history` is on. Returns the offset of the rest and the status, if a
    /// command was run.
    pub(super) fn run_remembered_lines(
        &mut self,
        mut source: LineSource<'_>,
        lines_before: u32,
        resume: bool,
    ) -> Result<(usize, Option<i32>), Unwind> {
        let LineSource::Text { text, offset } = source else { return Ok((0, None)) };
        let mut lines = lines_before.saturating_add(count_lines(&text[..offset]));
        let mut status = None;
        while self.history().is_remembering
            && let Some(script) = self.next_commands(&mut source, lines)?
        {
            status = Some(self.run_part(&script, lines, resume)?);
            if script.error().is_some_and(|error| !error.skips_line()) {
                return Ok((text.len(), status));
            }
            lines = lines.saturating_add(count_lines(script.source()));
        }
        match source {
            LineSource::Text { offset, .. } => Ok((offset, status)),
            LineSource::Input => Ok((0, status)),
        }
    }

    /// Reads and parses the lines of the next command; `None` at the end.
    fn next_commands(
        &mut self,
        source: &mut LineSource<'_>,
        lines_before: u32,
    ) -> Result<Option<Script>, Unwind> {
        if self.history().is_remembering {
            self.start_history_entry();
        }
        let mut text = Vec::new();
        let mut open: Option<Opened> = None;
        let mut seen = 0;
        loop {
            if !self.read_script_line(source, &mut text, lines_before)? {
                return Ok((!text.is_empty()).then(|| Script::new(text)));
            }
            if is_continued(&text) {
                continue;
            }
            // A long command is parsed again only after a line that may close the open construct.
            let line = &text[seen..];
            let may_be_complete = open.is_none_or(|opened| opened.may_end_in(line));
            seen = text.len();
            if !may_be_complete {
                continue;
            }
            match self.parse_lines(source, &mut text, lines_before)? {
                ParsedLines::Script(script) => return Ok(Some(script)),
                ParsedLines::Incomplete(opened) => {
                    // An alias can stand for the token that closes the construct.
                    open = opened.filter(|_| self.expanded_aliases().is_none());
                    seen = text.len();
                }
            }
        }
    }

    /// Parses lines after reading their here-documents.
    fn parse_lines(
        &mut self,
        source: &mut LineSource<'_>,
        text: &mut Vec<u8>,
        lines_before: u32,
    ) -> Result<ParsedLines, Unwind> {
        loop {
            let cancel = self.parse_cancel(text);
            let options = ParseOptions { lines_before, cancel, ..self.parse_options() };
            let script = Script::parse(text.as_slice(), &options);
            match progress(&script) {
                ParseProgress::Complete => return Ok(ParsedLines::Script(script)),
                ParseProgress::Incomplete(opened) => return Ok(ParsedLines::Incomplete(opened)),
                ParseProgress::HereDocument(delimiter) => {
                    if !self.read_document(source, text, lines_before, &delimiter)? {
                        return Ok(ParsedLines::Script(Script::new(text.as_slice())));
                    }
                }
            }
        }
    }

    /// Reads up to the line that ends a here-document. Returns whether there is one.
    fn read_document(
        &mut self,
        source: &mut LineSource<'_>,
        text: &mut Vec<u8>,
        lines_before: u32,
        delimiter: &[u8],
    ) -> Result<bool, Unwind> {
        loop {
            let from = text.len();
            if !self.read_script_line(source, text, lines_before)? {
                return Ok(false);
            }
            let line = text[from..].trim_ascii();
            if line == delimiter.trim_ascii() {
                return Ok(true);
            }
        }
    }

    /// Appends a line with its newline to the text, and to the history. Returns whether there was one.
    fn read_script_line(
        &mut self,
        source: &mut LineSource<'_>,
        text: &mut Vec<u8>,
        lines_before: u32,
    ) -> Result<bool, Unwind> {
        if !self.history().is_remembering {
            return self.read_source_line(source, text);
        }
        loop {
            let mut line = Vec::new();
            if !self.read_source_line(source, &mut line)? {
                return Ok(false);
            }
            let is_ended = line.pop_if(|byte| *byte == b'\n').is_some();
            self.calls.set_line(lines_before.saturating_add(count_lines(text)).saturating_add(1));
            if let Some(line) = self.remember_line(line) {
                text.extend_from_slice(&line);
                text.extend(is_ended.then_some(b'\n'));
                return Ok(true);
            }
        }
    }

    /// Appends a line with its newline to the text. Returns whether there was one.
    fn read_source_line(&mut self, source: &mut LineSource<'_>, text: &mut Vec<u8>) -> Result<bool, Unwind> {
        match source {
            LineSource::Input => self.read_input_line(text),
            LineSource::Text { text: whole, offset } => {
                let rest = whole.get(*offset..).unwrap_or_default();
                let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                text.extend_from_slice(&rest[..length]);
                *offset += length;
                Ok(length > 0)
            }
        }
    }

    /// Reads a line of standard input.
    fn read_input_line(&mut self, text: &mut Vec<u8>) -> Result<bool, Unwind> {
        let _ = self.flush();
        let Some(file) = self.open_files.get(0).cloned() else { return Ok(false) };
        let from = text.len();
        let mut buffer = [0; READ_AHEAD_BYTES];
        let room = if file.is_seekable() { READ_AHEAD_BYTES } else { 1 };
        loop {
            let length = match file.read(&mut buffer[..room], None, self.limits.cancel()) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.check()?;
                    continue;
                }
                Err(_) => 0,
            };
            let read = &buffer[..length];
            let taken = memchr::memchr(b'\n', read).map_or(length, |end| end + 1);
            text.extend_from_slice(&read[..taken]);
            self.memory.note_growth(taken);
            self.check_cancelled()?;
            if taken < length && file.unread(length - taken).is_err() {
                text.extend_from_slice(&read[taken..]);
            }
            if length == 0 || text.ends_with(b"\n") {
                return Ok(text.len() > from);
            }
        }
    }
}

fn progress(script: &Script) -> ParseProgress {
    match script.error() {
        Some(error) if error.incomplete => ParseProgress::Incomplete(error.opened),
        Some(_) => ParseProgress::Complete,
        None => {
            let open = script.warnings().find_map(|warning| match &warning.kind {
                WarningKind::UnterminatedHereDocument { delimiter } => Some(delimiter.to_vec()),
                _ => None,
            });
            open.map_or(ParseProgress::Complete, ParseProgress::HereDocument)
        }
    }
}

/// Whether the last line ends with a backslash that joins the next one to it.
fn is_continued(text: &[u8]) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn count_lines(text: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}
