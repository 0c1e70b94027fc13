//! A script that is read while it runs: standard input, command by command.
//!
//! Not a byte is taken beyond the command that is about to run, so that commands find the rest of the script in their own
//! standard input, as `read` and `cat` in such a script expect.

use std::io;

use haft_lang::ast::{Program, WarningKind};
use haft_lang::{ParseOptions, Parser};

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// How much is read ahead of a line where what is too much can be given back.
const AHEAD: usize = 4096;

/// Text that was read, and what has to be read before it can run.
enum Progress {
    /// It is a command, or several, or a mistake that no further line mends.
    Complete,
    /// It goes on.
    Incomplete,
    /// It has a here-document that ends with this line.
    HereDocument(Vec<u8>),
}

impl Session {
    /// Runs the script on standard input as the program of this session, to its end, and then the `EXIT` trap. Yields the
    /// status.
    pub fn run_input(&mut self) -> Flow {
        let before = self.calls();
        let result = self.run_from_input();
        let result = self.conclude(result);
        self.go_back(before);
        result
    }

    fn run_from_input(&mut self) -> Flow {
        let mut lines = 0;
        let mut status = 0;
        while let Some((text, wrong)) = self.next_command_text(lines)? {
            status = self.run_source(&text, lines, true)?;
            if wrong {
                return Ok(status);
            }
            lines = lines.saturating_add(count_lines(&text));
        }
        Ok(status)
    }

    /// Reads as many lines as a command has; `None` at the end. Yields also whether they are wrong.
    fn next_command_text(&mut self, lines_before: u32) -> Result<Option<(Vec<u8>, bool)>, Unwind> {
        let mut text = Vec::new();
        loop {
            if !self.read_script_line(&mut text)? {
                return Ok((!text.is_empty()).then_some((text, false)));
            }
            if is_continued(&text) {
                continue;
            }
            if let Some(wrong) = self.is_command(&mut text, lines_before)? {
                return Ok(Some((text, wrong)));
            }
        }
    }

    /// Whether a text is a command, with its here-documents, which are read; `None` if it goes on. Yields whether it is
    /// wrong.
    fn is_command(&mut self, text: &mut Vec<u8>, lines_before: u32) -> Result<Option<bool>, Unwind> {
        loop {
            let options = ParseOptions { lines_before, ..self.parse_options() };
            let parsed = Parser::new(text, options).next_complete_command();
            let wrong = parsed.as_ref().is_err_and(|error| !error.incomplete);
            match progress(&parsed) {
                Progress::Complete => return Ok(Some(wrong)),
                Progress::Incomplete => return Ok(None),
                Progress::HereDocument(delimiter) => {
                    if !self.read_document(text, &delimiter)? {
                        return Ok(Some(wrong));
                    }
                }
            }
        }
    }

    /// Reads on to the line that ends a here-document. Says whether it came.
    fn read_document(&mut self, text: &mut Vec<u8>, delimiter: &[u8]) -> Result<bool, Unwind> {
        loop {
            let from = text.len();
            if !self.read_script_line(text)? {
                return Ok(false);
            }
            let line = text[from..].trim_ascii();
            if line == delimiter.trim_ascii() {
                return Ok(true);
            }
        }
    }

    /// Adds a line with its newline to the text. Says whether there was one.
    fn read_script_line(&mut self, text: &mut Vec<u8>) -> Result<bool, Unwind> {
        let _ = self.flush();
        let Some(file) = self.open_files.get(0).cloned() else { return Ok(false) };
        let from = text.len();
        let mut buffer = [0; AHEAD];
        let room = if file.is_seekable() { AHEAD } else { 1 };
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

fn progress(parsed: &Result<Option<Program>, haft_lang::SyntaxError>) -> Progress {
    match parsed {
        Err(error) if error.incomplete => Progress::Incomplete,
        Ok(Some(program)) => {
            let open = program.warnings.iter().find_map(|warning| match &warning.kind {
                WarningKind::UnterminatedHereDocument { delimiter } => Some(delimiter.to_vec()),
                _ => None,
            });
            open.map_or(Progress::Complete, Progress::HereDocument)
        }
        Ok(None) | Err(_) => Progress::Complete,
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
