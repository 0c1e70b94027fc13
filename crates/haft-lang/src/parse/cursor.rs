//! Cursor movement: blanks, comments, line continuations, positions, errors.

use crate::Expected;
use crate::ast::{Span, WarningKind};
use crate::error::{ErrorKind, Opened, SyntaxError};

use super::bytes::{self, BLANK, BREAK};
use super::{MAX_NESTING_DEPTH, Parser, Result, Speculation};

pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Parser<'_> {
    /// Returns the next byte and skips line continuations (a backslash before a newline). They are ignored
    /// everywhere except in single quotes, comments and quoted here-documents, which do not use this
    /// function.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.input.ahead(0) {
            Some(byte) if byte != b'\\' => Some(byte),
            _ => self.peek_slow(),
        }
    }

    #[cold]
    fn peek_slow(&mut self) -> Option<u8> {
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

    /// Returns the byte after the next one, ignoring line continuations.
    #[inline]
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        let start = self.input.at;
        self.peek()?;
        self.input.at += 1;
        let second = self.peek();
        self.input.at = start;
        second
    }

    /// Consumes the next byte if it equals `byte`.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.input.at += usize::from(found);
        found
    }

    /// Consumes `text` if it comes next, ignoring line continuations.
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

    /// Skips blanks and a comment.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.input.remaining();
        let length = bytes::run_of(rest, BLANK);
        let ended = rest.get(length).is_some_and(|byte| !matches!(byte, b'#' | b'\\'));
        if ended {
            self.input.at += length;
        } else {
            self.skip_blanks_slow();
        }
    }

    /// The slow path of `skip_blanks`, for comments, line continuations and refills.
    #[inline(never)]
    fn skip_blanks_slow(&mut self) {
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

    /// Whether a word can start here. Blanks were skipped since `from`.
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

    /// Skips blanks, comments and newlines, and reads the bodies of pending here-documents.
    pub(super) fn skip_newlines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Consumes a newline and the bodies of pending here-documents.
    pub(super) fn newline(&mut self) -> Result<()> {
        self.input.at += 1;
        if self.pending.len() > self.pending_from { self.read_here_documents() } else { Ok(()) }
    }

    /// Returns the span from a position to the current one.
    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.input.span(start, self.input.at)
    }

    /// Returns the line number of a position.
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

    /// Runs `parse` one nesting level deeper. Fails if the nesting is too deep.
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

    /// Records that a speculation failed at a position.
    pub(super) fn note_failed(&mut self, attempt: Speculation, at: usize) {
        self.failed_speculations.insert((attempt, at));
    }

    /// Whether a speculation failed at a position before.
    pub(super) fn has_failed(&self, attempt: Speculation, at: usize) -> bool {
        !self.failed_speculations.is_empty() && self.failed_speculations.contains(&(attempt, at))
    }

    /// Fails if the text is too long for 32-bit offsets.
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
        error.hint =
            Some(format!("commands and expansions can be nested at most {MAX_NESTING_DEPTH} levels deep"));
        error
    }

    /// Creates an error about the next token.
    #[cold]
    pub(super) fn unexpected(
        &mut self,
        expected: Option<Expected>,
        opened: Option<Opened>,
    ) -> Box<SyntaxError> {
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
            expected,
            opened,
            here_document: if incomplete { self.open_document() } else { None },
            hint: if incomplete { self.missing_delimiter() } else { None },
            incomplete,
        })
    }

    /// The first here-document that the end of the input delimited.
    fn open_document(&self) -> Option<Box<(crate::Bytes, crate::ast::Span)>> {
        self.warnings.iter().find_map(|warning| match &warning.kind {
            WarningKind::UnterminatedHereDocument { delimiter } => {
                Some(Box::new((delimiter.clone(), warning.span)))
            }
            _ => None,
        })
    }

    /// A hint for the likely cause: an unterminated here-document that swallowed the rest of the input.
    fn missing_delimiter(&self) -> Option<String> {
        self.warnings.iter().find_map(|warning| match &warning.kind {
            WarningKind::UnterminatedHereDocument { delimiter } => Some(format!(
                "a here-document has no line with its delimiter \"{delimiter}\"; it must be alone on its line"
            )),
            _ => None,
        })
    }

    /// Creates an error about a construct that is still open at the end of the input.
    #[cold]
    pub(super) fn unclosed(
        &mut self,
        closer: &'static str,
        what: &'static str,
        start: usize,
    ) -> Box<SyntaxError> {
        self.input.at = self.input.limit();
        let opened = self.opened(what, start);
        let mut error = self.unexpected(Some(Expected::Token(closer)), Some(opened));
        error.kind = ErrorKind::Unclosed;
        error
    }

    /// Describes the construct opened at a position.
    pub(super) fn opened(&self, what: &'static str, start: usize) -> Opened {
        Opened { what, span: self.input.span(start, start + what.len()) }
    }

    /// Returns the length of the next token, for error messages.
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
