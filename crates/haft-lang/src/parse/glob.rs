//! Globs and extended globs.

use crate::ast::{Bytes, ExtendedGlob, Glob, GlobOperator, PartKind, SharedSlice, Span, WordFlags, WordPart};

use super::builder::WordBuilder;
use super::bytes::{self, BREAK, QUOTE};
use super::here::joined;
use super::word::{WordEnd, WordMode};
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses a byte that is a glob, starts an extended glob, or is a literal.
    pub(super) fn glob(&mut self, byte: u8, mode: WordMode, builder: &mut WordBuilder) -> Result<()> {
        if mode.extglob && !mode.quoted && self.peek_second() == Some(b'(') {
            return self.extended_glob(byte, mode, builder);
        }
        simple_glob(byte, mode, self.next_span(), builder);
        self.input.at += 1;
        Ok(())
    }

    fn extended_glob(&mut self, byte: u8, mode: WordMode, builder: &mut WordBuilder) -> Result<()> {
        let operator = match byte {
            b'?' => GlobOperator::ZeroOrOne,
            b'*' => GlobOperator::ZeroOrMore,
            b'+' => GlobOperator::OneOrMore,
            b'@' => GlobOperator::One,
            _ => GlobOperator::Not,
        };
        let start = self.input.at;
        self.input.at += 1;
        self.eat(b'(');
        let mut flags = WordFlags::GLOB;
        let alternatives = self.nested(|parser| parser.alternatives(start, mode, &mut flags))?;
        if self.eat(b')') {
            let group = ExtendedGlob { operator, alternatives };
            builder.push(PartKind::ExtendedGlob(Box::new(group)), self.span_from(start), flags);
        } else {
            builder.flags = builder.flags.union(flags);
            simple_glob(byte, mode, self.input.span(start, start + 1), builder);
            unclosed_group(&alternatives, self.span_from(start + 1), builder);
        }
        Ok(())
    }

    /// Parses the alternatives up to the closing parenthesis, without it. Inside `${…}`, an unclosed group
    /// ends at the end of the expansion.
    fn alternatives(
        &mut self,
        start: usize,
        mode: WordMode,
        flags: &mut WordFlags,
    ) -> Result<SharedSlice<SharedSlice<WordPart>>> {
        let mut alternatives = Vec::new();
        loop {
            let mut builder = WordBuilder::default();
            self.parts(mode.alternative(), &mut builder)?;
            *flags = flags.union(builder.flags);
            alternatives.push(builder.take_parts(&mut self.arena));
            match self.peek() {
                Some(b'|') => self.input.at += 1,
                Some(b')' | b'}' | b'/') => return Ok(self.arena.slice_from(&mut alternatives)),
                _ => return Err(self.unclosed(")", "(", start + 1)),
            }
        }
    }

    /// Parses a `[`: a whole bracket expression, the start of one, or a literal.
    pub(super) fn bracket(&mut self, mode: WordMode, builder: &mut WordBuilder) {
        let start = self.input.at;
        let text = match self.bracket_extent(mode, !builder.marks.is_empty()) {
            BracketExtent::None => return self.literal_byte(builder),
            BracketExtent::Open => {
                self.input.at += 1;
                Bytes::from("[")
            }
            BracketExtent::Whole(length) => {
                self.input.at += length;
                joined(self.input.slice(start, start + length))
            }
        };
        builder.push(PartKind::Glob(Glob::Bracket(text)), self.span_from(start), WordFlags::GLOB);
    }

    /// Returns the extent of the bracket expression that starts here. The result is cached, so a row of
    /// brackets is not scanned again for each of them.
    fn bracket_extent(&mut self, mode: WordMode, in_braces: bool) -> BracketExtent {
        let at = self.input.at;
        if self.brackets.0.contains(&at) {
            return self.brackets.1;
        }
        let rest = self.input.remaining();
        let mut index = 1 + usize::from(matches!(rest.get(1), Some(b'!' | b'^')));
        let mut first = index;
        let extent = loop {
            match rest.get(index) {
                Some(b']') if index > first => return BracketExtent::Whole(index + 1),
                Some(b'[') if matches!(rest.get(index + 1), Some(b':' | b'.' | b'=')) => {
                    index += class_length(&rest[index..]);
                }
                Some(b'\\') if rest.get(index + 1) == Some(&b'\n') => {
                    first += if index == first { 2 } else { 0 };
                    index += 2;
                }
                Some(byte) if bytes::is(*byte, QUOTE) => break BracketExtent::Open,
                Some(b',' | b'{' | b'}') if in_braces => break BracketExtent::Open,
                Some(byte) if !ends_bracket(*byte, mode) => index += 1,
                _ => break BracketExtent::None,
            }
        };
        self.brackets = (at..at + index, extent);
        extent
    }
}

/// `*`, `?`, or a literal.
fn simple_glob(byte: u8, mode: WordMode, span: Span, builder: &mut WordBuilder) {
    match byte {
        b'*' if mode.globs => builder.push(PartKind::Glob(Glob::AnyString), span, WordFlags::GLOB),
        b'?' if mode.globs => builder.push(PartKind::Glob(Glob::AnyCharacter), span, WordFlags::GLOB),
        _ => builder.literal(&[byte], span),
    }
}

/// Appends an unclosed group, in which `(` and `|` are literals.
fn unclosed_group(alternatives: &[SharedSlice<WordPart>], span: Span, builder: &mut WordBuilder) {
    let mut separator = b"(";
    for alternative in alternatives {
        builder.literal(separator, span);
        alternative.iter().cloned().for_each(|part| builder.append(part));
        separator = b"|";
    }
}

/// The extent of a bracket expression.
#[derive(Clone, Copy)]
pub(super) enum BracketExtent {
    /// The bracket is a literal.
    None,
    /// It contains quotes or expansions.
    Open,
    /// It has this length.
    Whole(usize),
}

fn ends_bracket(byte: u8, mode: WordMode) -> bool {
    match mode.ends {
        WordEnd::Break | WordEnd::Regex => bytes::is(byte, BREAK),
        WordEnd::Brace => byte == b'}',
        WordEnd::Slash => byte == b'}' || byte == b'/',
        WordEnd::Alternative => byte == b')' || byte == b'|',
        WordEnd::Parenthesis => byte == b')',
        WordEnd::Bracket | WordEnd::BracedBracket | WordEnd::Input => false,
    }
}

/// Returns the length of `[:name:]`, `[.name.]` or `[=name=]`; 1 if it is only a bracket.
fn class_length(rest: &[u8]) -> usize {
    let mark = rest[1];
    let name = rest[2..].iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(0);
    let closed = rest.get(2 + name) == Some(&mark) && rest.get(3 + name) == Some(&b']');
    if closed { name + 4 } else { 1 }
}
