//! Putting words together from their parts.

use crate::ast::{PartKind, Slice, Span, Text, Word, WordContent, WordFlags, WordPart};
use crate::sys::Slab;

use super::braces::BraceMark;

/// A word in the making.
#[derive(Default)]
pub(super) struct WordBuilder {
    pub(super) parts: Vec<WordPart>,
    /// Literal text that has not become a part yet: what stands next to each other becomes one part.
    literal: Text,
    /// More than one run of it, put together.
    joined: Vec<u8>,
    literal_span: Span,
    pub(super) flags: WordFlags,
    /// Braces and commas that may turn out to be a brace expansion.
    pub(super) marks: Vec<BraceMark>,
}

impl WordBuilder {
    /// Adds literal text.
    pub(super) fn literal(&mut self, text: &[u8], span: Span) {
        if self.literal.is_empty() {
            self.literal_span = span;
            self.literal = Text::from(text);
            return;
        }
        if self.joined.is_empty() {
            self.joined.extend_from_slice(&self.literal);
        }
        self.joined.extend_from_slice(text);
        self.literal_span.end = span.end;
    }

    /// Makes what literal text there is a part.
    pub(super) fn flush(&mut self) {
        if self.literal.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.literal);
        if !self.joined.is_empty() {
            text = Text::from(self.joined.as_slice());
            self.joined.clear();
        }
        self.parts.push(WordPart { span: self.literal_span, kind: PartKind::Literal(text) });
    }

    /// Adds a part.
    pub(super) fn push(&mut self, kind: PartKind, span: Span, flags: WordFlags) {
        self.flush();
        self.parts.push(WordPart { span, kind });
        self.flags = self.flags.union(flags);
    }

    /// Adds a part of another word.
    pub(super) fn append(&mut self, part: WordPart) {
        match &part.kind {
            PartKind::Literal(text) => self.literal(text, part.span),
            _ => self.push(part.kind, part.span, WordFlags::NONE),
        }
    }

    /// The text, if all that was added so far is one unquoted literal.
    pub(super) fn only_literal(&self) -> Option<&[u8]> {
        let text = if self.joined.is_empty() { self.literal.as_bytes() } else { self.joined.as_slice() };
        (self.parts.is_empty() && self.marks.is_empty()).then_some(text)
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.flags == WordFlags::NONE && self.only_literal().is_some_and(<[u8]>::is_empty)
    }

    /// The parts as they are.
    pub(super) fn take_parts(&mut self, slab: &mut Slab) -> Slice<WordPart> {
        self.flush();
        slab.cut(&mut self.parts)
    }

    /// The word.
    pub(super) fn finish(&mut self, span: Span, slab: &mut Slab) -> Word {
        const DYNAMIC: WordFlags =
            WordFlags::EXPANSION.union(WordFlags::GLOB).union(WordFlags::BRACES).union(WordFlags::TILDE);
        self.flush();
        let content = match self.parts.as_slice() {
            [] => WordContent::Plain(Text::new()),
            [WordPart { kind: PartKind::Literal(_), .. }] => WordContent::Plain(self.only_text()),
            parts if !self.flags.contains(DYNAMIC) => {
                let text = static_text(parts);
                WordContent::Static { text, parts: slab.cut(&mut self.parts) }
            }
            _ => WordContent::Parts(slab.cut(&mut self.parts)),
        };
        Word { span, flags: std::mem::take(&mut self.flags), content }
    }

    /// Takes the text of the one part there is.
    fn only_text(&mut self) -> Text {
        match self.parts.pop().map(|part| part.kind) {
            Some(PartKind::Literal(text)) => text,
            _ => Text::new(),
        }
    }
}

/// What parts without expansions stand for.
fn static_text(parts: &[WordPart]) -> Text {
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
    Text::from(text.as_slice())
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
