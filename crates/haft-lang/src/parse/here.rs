//! Here-documents. The parser reads their bodies at the end of the line with the redirection.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::Expected;
use crate::ast::{
    Bytes, HereContent, HereDocument, Span, Warning, WarningKind, Word, WordContent, WordFlags,
};
use crate::error::ErrorKind;

use super::input::DerivedText;
use super::word::WordMode;
use super::{Parser, Result};

/// The most here-documents of one command, as in bash.
const MAX_HERE_DOCUMENTS: usize = 16;

/// A here-document whose body has not been read yet.
pub(super) struct PendingHereDocument {
    document: HereDocument,
    span: Span,
}

/// The position of a body, and where parsing continues after it.
struct HereExtent {
    start: usize,
    end: usize,
    next: usize,
    terminated: bool,
    /// Whether a parenthesis follows the delimiter on its line.
    before_parenthesis: bool,
}

impl Parser<'_> {
    /// Parses the delimiter after `<<` or `<<-`, which starts at `start`.
    pub(super) fn here_document(&mut self, start: usize, strip_tabs: bool) -> Result<HereDocument> {
        self.skip_blanks();
        let from = self.input.at;
        self.refuse_descriptor()?;
        let word = self.word(WordMode::single(false))?;
        if self.input.at == from {
            return Err(self.unexpected(Some(Expected::Word("a here-document delimiter")), None));
        }
        let quoted = word.flags.contains(WordFlags::QUOTED);
        let delimiter = match word.literal_text() {
            Some(text) => text.clone(),
            None => unquoted(self.input.slice(from, self.input.at)),
        };
        if self.pending.len() - self.pending_from >= MAX_HERE_DOCUMENTS {
            let mut error = self.unexpected(None, None);
            error.kind = ErrorKind::TooManyHereDocuments;
            return Err(error);
        }
        let content = Arc::new(OnceLock::new());
        let document = HereDocument { delimiter, quoted, strip_tabs, content };
        self.pending.push(PendingHereDocument { document: document.clone(), span: self.span_from(start) });
        Ok(document)
    }

    /// Reads the bodies of pending here-documents, which start here.
    pub(super) fn read_here_documents(&mut self) -> Result<()> {
        for pending in self.pending.split_off(self.pending_from) {
            let extent = self.here_extent(&pending.document);
            let (body, error) = match self.nested(|parser| parser.here_word(&pending.document, &extent)) {
                Ok(body) => (body, None),
                Err(error) if error.kind.is_final() => return Err(error),
                Err(error) => (self.here_text(&pending.document, &extent), Some(error)),
            };
            self.input.at = extent.next;
            if !extent.terminated {
                let delimiter = pending.document.delimiter.clone();
                let kind = WarningKind::UnterminatedHereDocument { delimiter };
                self.warnings.push(Warning { span: pending.span, kind });
            }
            if extent.before_parenthesis {
                let delimiter = pending.document.delimiter.clone();
                let end = self.input.span(extent.end, extent.end).start;
                let kind = WarningKind::HereDocumentBeforeParenthesis { delimiter, end };
                self.warnings.push(Warning { span: pending.span, kind });
            }
            // The cell is still empty, because each body is read once.
            let _ = pending.document.content.set(HereContent { body, terminated: extent.terminated, error });
        }
        Ok(())
    }

    /// Finds the line with the delimiter.
    fn here_extent(&mut self, document: &HereDocument) -> HereExtent {
        let start = self.input.at;
        let mut at = start;
        loop {
            let (end, next) = self.here_line(at, !document.quoted);
            let mut line = self.input.slice(at, end);
            // The delimiter itself may start with tabs.
            if document.strip_tabs && *line != *document.delimiter {
                line = &line[leading_tabs(line)..];
            }
            let continued = !document.quoted && line.contains(&b'\n');
            if *line == *document.delimiter || (continued && joined(line) == *document.delimiter) {
                return HereExtent { start, end: at, next, terminated: true, before_parenthesis: false };
            }
            if self.substitutions > 0
                && line.starts_with(&document.delimiter)
                && line[document.delimiter.len()..].contains(&b')')
            {
                let next = end - line.len() + document.delimiter.len();
                return HereExtent { start, end: at, next, terminated: true, before_parenthesis: true };
            }
            if next == end {
                return HereExtent { start, end, next, terminated: false, before_parenthesis: false };
            }
            at = next;
        }
    }

    /// Returns the end of the line at a position, and the start of the next one. Both are equal at the end of
    /// the input. With `continued`, a backslash at the end joins the next line.
    fn here_line(&mut self, at: usize, continued: bool) -> (usize, usize) {
        let mut from = at;
        loop {
            let Some(length) = memchr::memchr(b'\n', self.input.slice(from, self.input.limit())) else {
                if self.input.refill() {
                    continue;
                }
                return (self.input.limit(), self.input.limit());
            };
            let end = from + length;
            let line = self.input.slice(from, end);
            let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            if !continued || backslashes % 2 == 0 {
                return (end, end + 1);
            }
            from = end + 1;
        }
    }

    /// Returns the body as literal text.
    fn here_text(&self, document: &HereDocument, extent: &HereExtent) -> Word {
        let text = self.input.slice(extent.start, extent.end);
        let mut text = if document.strip_tabs { Cow::Owned(without_tabs(text)) } else { Cow::Borrowed(text) };
        if lacks_newline(&text) {
            text.to_mut().push(b'\n');
        }
        let text = Bytes::from(&*text);
        let span = self.input.span(extent.start, extent.end);
        Word { span, flags: WordFlags::NONE, content: WordContent::Plain(text) }
    }

    fn here_word(&mut self, document: &HereDocument, extent: &HereExtent) -> Result<Word> {
        if document.quoted {
            return Ok(self.here_text(document, extent));
        }
        let text = self.input.slice(extent.start, extent.end);
        let tabs =
            document.strip_tabs && (text.starts_with(b"\t") || memchr::memmem::find(text, b"\n\t").is_some());
        if tabs || lacks_newline(text) {
            let mut derived = DerivedText::default();
            let mut at = extent.start;
            let mut continued = false;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                let skipped = if tabs && !continued { leading_tabs(line) } else { 0 };
                derived.push(&line[skipped..], self.input.source(at + skipped));
                at += line.len();
                continued = line.iter().rev().skip(1).take_while(|byte| **byte == b'\\').count() % 2 == 1;
            }
            if lacks_newline(text) {
                derived.push(b"\n", self.input.source(extent.end));
            }
            let inner = derived.into_input(self.input.source(extent.end));
            return self.with_input(inner, Parser::own_body);
        }
        let limit = self.input.set_limit(extent.end);
        self.input.at = extent.start;
        let word = self.own_body();
        self.input.set_limit(limit);
        word
    }

    /// Parses the body of a here-document. Its end also ends here-documents that start inside it, because no
    /// line can end them.
    fn own_body(&mut self) -> Result<Word> {
        let outer = std::mem::replace(&mut self.pending_from, self.pending.len());
        let nested = std::mem::replace(&mut self.in_document, true);
        let word = self.here_body();
        self.in_document = nested;
        for pending in self.pending.split_off(self.pending_from) {
            let content = WordContent::Plain(Bytes::new());
            let body = Word { span: pending.span, flags: WordFlags::NONE, content };
            let _ = pending.document.content.set(HereContent { body, terminated: false, error: None });
        }
        self.pending_from = outer;
        word
    }
}

/// Whether the last line ends with the input instead of a newline. bash adds one.
fn lacks_newline(text: &[u8]) -> bool {
    text.last().is_some_and(|last| *last != b'\n')
}

fn leading_tabs(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b'\t').count()
}

fn without_tabs(text: &[u8]) -> Vec<u8> {
    let mut stripped = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        stripped.extend_from_slice(&line[leading_tabs(line)..]);
    }
    stripped
}

/// Removes line continuations from a line.
pub(super) fn joined(line: &[u8]) -> Bytes {
    if !line.contains(&b'\n') {
        return Bytes::from(line);
    }
    let mut joined = Vec::with_capacity(line.len());
    for piece in line.split_inclusive(|byte| *byte == b'\n') {
        joined.extend_from_slice(piece.strip_suffix(b"\\\n").unwrap_or(piece));
    }
    Bytes::from(joined.as_slice())
}

/// Removes quotes from a delimiter that looks like an expansion. Delimiters are never expanded.
fn unquoted(text: &[u8]) -> Bytes {
    let kept: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\'' | b'\\')).collect();
    Bytes::from(kept.as_slice())
}
