//! Moving over the input: blanks, comments, continued lines, positions, errors.

use crate::ast::{Span, WarningKind};
use crate::error::{ErrorKind, Opened, SyntaxError};

use super::bytes::{self, BLANK, BREAK};
use super::{MAX_NESTING_DEPTH, Parser, Result, Speculation};

pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Parser<'_> {
    /// The next byte. Continued lines (a backslash before a newline) are skipped: they are nowhere part of a token,
    /// save in single quotes, comments and quoted here-documents, which do not come here.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.input.ahead(0) {
            Some(byte) if byte != b'\\' => Some(byte),
            _ => self.peek_slowly(),
        }
    }

    #[cold]
    fn peek_slowly(&mut self) -> Option<u8> {
        loop {
            match self.input.ahead(0) {
                None if self.input.refill() => {}
                Some(b'\\') if self.continued() => self.input.at += 2,
                byte => return byte,
            }
        }
    }

    /// Whether a backslash and a newline come next.
    fn continued(&mut self) -> bool {
        if self.input.ahead(1).is_none() {
            self.input.refill();
        }
        self.input.ahead(1) == Some(b'\n')
    }

    /// The byte after the next one, continued lines aside.
    #[inline]
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        let start = self.input.at;
        self.peek()?;
        self.input.at += 1;
        let second = self.peek();
        self.input.at = start;
        second
    }

    /// Takes the next byte if it is this one.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.input.at += usize::from(found);
        found
    }

    /// Takes what comes next if it is this, continued lines aside.
    pub(super) fn eat_all(&mut self, text: &[u8]) -> bool {
        let start = self.input.at;
        for byte in text {
            if !self.eat(*byte) {
                self.input.at = start;
                return false;
            }
        }
        true
    }

    /// Skips blanks, and a comment if there is one.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.input.remaining();
        let length = bytes::run_of(rest, BLANK);
        let ended = rest.get(length).is_some_and(|byte| !matches!(byte, b'#' | b'\\'));
        if ended {
            self.input.at += length;
        } else {
            self.skip_blanks_slowly();
        }
    }

    /// The same where a comment or a continued line may come, or more of the input.
    #[inline(never)]
    fn skip_blanks_slowly(&mut self) {
        let from = self.input.at;
        while let Some(byte) = self.peek() {
            if bytes::is(byte, BLANK) {
                self.input.at += 1;
            } else if byte == b'#' && self.at_word_start(from) {
                self.skip_comment();
            } else {
                return;
            }
        }
    }

    /// Whether a word may begin here, given that blanks were skipped since `from`.
    fn at_word_start(&self, from: usize) -> bool {
        let at = self.input.at;
        at > from || at == 0 || bytes::is(self.input.slice(at - 1, at)[0], BREAK)
    }

    fn skip_comment(&mut self) {
        loop {
            let rest = self.input.remaining();
            if let Some(length) = memchr::memchr(b'\n', rest) {
                self.input.at += length;
                return;
            }
            self.input.at += rest.len();
            if !self.input.refill() {
                return;
            }
        }
    }

    /// Skips blanks, comments and newlines. Here-documents whose line ends are read on the way.
    pub(super) fn skip_newlines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Takes a newline, and the here-documents that it makes due.
    pub(super) fn newline(&mut self) -> Result<()> {
        self.input.at += 1;
        if self.pending.len() > self.pending_from { self.read_here_documents() } else { Ok(()) }
    }

    /// The span from a position to the current one.
    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.input.span(start, self.input.at)
    }

    /// The number of the line that holds the position.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        let offset = offset(self.input.source(at));
        let mut line = self.line.get();
        if self.lines.start_of(line).is_none_or(|start| start > offset) {
            line = self.lines.line(offset);
        }
        for _ in 0..8 {
            match self.lines.start_of(line + 1) {
                Some(next) if next <= offset => line += 1,
                _ => break,
            }
        }
        if self.lines.start_of(line + 1).is_some_and(|next| next <= offset) {
            line = self.lines.line(offset);
        }
        self.line.set(line);
        line + self.options.lines_before
    }

    /// Runs `parse` one level deeper.
    #[inline]
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_NESTING_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Remembers that an attempt at a position failed.
    pub(super) fn note_failed(&mut self, attempt: Speculation, at: usize) {
        self.failed_speculations.insert((attempt, at));
    }

    /// Whether an attempt at a position failed before.
    pub(super) fn has_failed(&self, attempt: Speculation, at: usize) -> bool {
        !self.failed_speculations.is_empty() && self.failed_speculations.contains(&(attempt, at))
    }

    /// Refuses a text that offsets do not reach to the end of.
    pub(super) fn check_length(&mut self) -> Result<()> {
        if u32::try_from(self.input.limit()).is_ok() {
            return Ok(());
        }
        let mut error = self.unexpected(None, None);
        error.kind = ErrorKind::TooLong;
        Err(error)
    }

    #[cold]
    pub(super) fn too_deep(&mut self) -> Box<SyntaxError> {
        let mut error = self.unexpected(None, None);
        error.kind = ErrorKind::TooDeep;
        error.incomplete = false;
        error.hint = Some(format!(
            "more than {MAX_NESTING_DEPTH} levels of commands and expansions inside one another"
        ));
        error
    }

    /// An error about what comes next.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: Option<&str>, opened: Option<Opened>) -> Box<SyntaxError> {
        let incomplete = self.peek().is_none();
        let start = self.input.at;
        let length = self.token_length();
        let span = self.input.span(start, start + length);
        let found = match self.input.slice(start, start + length) {
            [] => "end of input".to_owned(),
            b"\n" => "end of line".to_owned(),
            token => format!("\"{}\"", String::from_utf8_lossy(token)),
        };
        Box::new(SyntaxError {
            kind: ErrorKind::Unexpected,
            span,
            found,
            expected: expected.map(str::to_owned),
            opened,
            hint: if incomplete { self.missing_delimiter() } else { None },
            incomplete,
        })
    }

    /// A here-document that swallowed the rest of the input is likely why something is missing.
    fn missing_delimiter(&self) -> Option<String> {
        self.warnings.iter().find_map(|warning| match &warning.kind {
            WarningKind::UnterminatedHereDocument { delimiter } => Some(format!(
                "the delimiter \"{delimiter}\" of a here-document was never seen; it must stand alone on its line"
            )),
            _ => None,
        })
    }

    /// An error about something that is still open when the input ends.
    #[cold]
    pub(super) fn unclosed(&mut self, closer: &str, what: &'static str, start: usize) -> Box<SyntaxError> {
        self.input.at = self.input.limit();
        let opened = self.opened(what, start);
        let mut error = self.unexpected(Some(&format!("\"{closer}\"")), Some(opened));
        error.kind = ErrorKind::Unclosed;
        error
    }

    /// What was opened at a position.
    pub(super) fn opened(&self, what: &'static str, start: usize) -> Opened {
        Opened { what, span: self.input.span(start, start + what.len()) }
    }

    /// The length of what looks like a token at the position, for showing it.
    fn token_length(&self) -> usize {
        let rest = self.input.remaining();
        let word = bytes::run(rest, BREAK);
        if word > 0 {
            return word.min(40);
        }
        let operators: [&[u8]; 14] = [
            b";;&", b"<<<", b"<<-", b"&>>", b";;", b";&", b"&&", b"||", b"|&", b"<<", b">>", b"&>", b">&",
            b"<&",
        ];
        let longest = operators.iter().find(|operator| rest.starts_with(operator));
        longest.map_or(rest.len().min(1), |operator| operator.len())
    }
}
