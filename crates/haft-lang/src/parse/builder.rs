//! Builds words from their parts.

use crate::ast::{Bytes, PartKind, SharedSlice, Span, Word, WordContent, WordFlags, WordPart};
use crate::sys::Arena;

use super::braces::BraceMark;

/// Builds a word.
#[derive(Default)]
pub(super) struct WordBuilder {
    pub(super) parts: Vec<WordPart>,
    /// Literal text that is not a part yet, so adjacent literals become one part.
    literal: Bytes,
    /// The concatenation, if there is more than one adjacent literal.
    joined: Vec<u8>,
    literal_span: Span,
    pub(super) flags: WordFlags,
    /// Braces and commas that may form a brace expansion.
    pub(super) marks: Vec<BraceMark>,
}

impl WordBuilder {
    /// Appends literal text.
    pub(super) fn literal(&mut self, text: &[u8], span: Span) {
        if self.literal.is_empty() {
            self.literal_span = span;
            self.literal = Bytes::from(text);
            return;
        }
        if self.joined.is_empty() {
            self.joined.extend_from_slice(&self.literal);
        }
        self.joined.extend_from_slice(text);
        self.literal_span.end = span.end;
    }

    /// Turns pending literal text into a part.
    pub(super) fn flush(&mut self) {
        if self.literal.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.literal);
        if !self.joined.is_empty() {
            text = Bytes::from(self.joined.as_slice());
            self.joined.clear();
        }
        self.parts.push(WordPart { span: self.literal_span, kind: PartKind::Literal(text) });
    }

    /// Appends a part.
    pub(super) fn push(&mut self, kind: PartKind, span: Span, flags: WordFlags) {
        self.flush();
        self.parts.push(WordPart { span, kind });
        self.flags = self.flags.union(flags);
    }

    /// Appends a part of another word.
    pub(super) fn append(&mut self, part: WordPart) {
        match &part.kind {
            PartKind::Literal(text) => self.literal(text, part.span),
            _ => self.push(part.kind, part.span, WordFlags::NONE),
        }
    }

    /// Returns the text if the word is one unquoted literal so far.
    pub(super) fn only_literal(&self) -> Option<&[u8]> {
        let text = if self.joined.is_empty() { self.literal.as_bytes() } else { self.joined.as_slice() };
        (self.parts.is_empty() && self.marks.is_empty()).then_some(text)
    }

    /// Whether the word is still empty.
    pub(super) fn is_empty(&self) -> bool {
        self.flags == WordFlags::NONE && self.only_literal().is_some_and(<[u8]>::is_empty)
    }

    /// Takes the parts.
    pub(super) fn take_parts(&mut self, arena: &mut Arena) -> SharedSlice<WordPart> {
        self.flush();
        arena.slice_from(&mut self.parts)
    }

    /// Takes the word and leaves the builder empty.
    pub(super) fn finish(&mut self, span: Span, arena: &mut Arena) -> Word {
        const DYNAMIC: WordFlags =
            WordFlags::EXPANSION.union(WordFlags::GLOB).union(WordFlags::BRACES).union(WordFlags::TILDE);
        self.flush();
        let content = match self.parts.as_slice() {
            [] => WordContent::Plain(Bytes::new()),
            [WordPart { kind: PartKind::Literal(_), .. }] => WordContent::Plain(self.only_text()),
            parts if !self.flags.contains(DYNAMIC) => {
                let text = static_text(parts);
                WordContent::Static { text, parts: arena.slice_from(&mut self.parts) }
            }
            _ => WordContent::Parts(arena.slice_from(&mut self.parts)),
        };
        Word { span, flags: std::mem::take(&mut self.flags), content }
    }

    /// Takes the text of the only part.
    fn only_text(&mut self) -> Bytes {
        match self.parts.pop().map(|part| part.kind) {
            Some(PartKind::Literal(text)) => text,
            _ => Bytes::new(),
        }
    }
}

/// Returns the text of parts without expansions, after quote removal.
fn static_text(parts: &[WordPart]) -> Bytes {
    if let [WordPart { kind, .. }] = parts {
        match kind {
            PartKind::Literal(text) | PartKind::SingleQuoted(text) | PartKind::AnsiQuoted(text) => {
                return text.clone();
            }
            PartKind::DoubleQuoted(parts) | PartKind::LocaleQuoted(parts) => return static_text(parts),
            _ => {}
        }
    }
    let mut text = Vec::new();
    append_static(parts, &mut text);
    Bytes::from(text.as_slice())
}

fn append_static(parts: &[WordPart], text: &mut Vec<u8>) {
    for part in parts {
        match &part.kind {
            PartKind::Literal(piece) | PartKind::SingleQuoted(piece) | PartKind::AnsiQuoted(piece) => {
                text.extend_from_slice(piece);
            }
            PartKind::Escaped(byte) => text.push(*byte),
            PartKind::DoubleQuoted(parts) | PartKind::LocaleQuoted(parts) => append_static(parts, text),
            _ => {}
        }
    }
}
