//! Tilde expansion.

use crate::ast::{Bytes, PartKind, WordFlags};

use super::Parser;
use super::builder::WordBuilder;
use super::bytes::{self, BREAK, COLON, QUOTE};
use super::word::{Tilde, WordEnd, WordMode};

impl Parser<'_> {
    /// Parses a tilde prefix up to the next slash. The tilde is literal if the prefix contains quotes or
    /// expansions.
    pub(super) fn tilde(&mut self, mode: WordMode, builder: &mut WordBuilder) {
        let rest = self.input.remaining().get(1..).unwrap_or_default();
        let ends = |byte: u8| match byte {
            b'/' => true,
            b':' => mode.tilde == Tilde::Assignment || mode.ends == WordEnd::Brace,
            b'}' => matches!(mode.ends, WordEnd::Brace | WordEnd::Slash),
            _ => mode.ends == WordEnd::Break && bytes::is(byte, BREAK),
        };
        let mut name = Vec::new();
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            if rest[length..].starts_with(b"\\\n") {
                length += 2;
                continue;
            }
            if ends(*byte) || bytes::is(*byte, QUOTE) {
                break;
            }
            name.push(*byte);
            length += 1;
        }
        let quoted = rest.get(length).is_some_and(|byte| bytes::is(*byte, QUOTE) && !ends(*byte));
        if quoted || name.iter().any(|byte| matches!(byte, b'{' | b'*' | b'?' | b'[' | b'=')) {
            return self.literal_byte(builder);
        }
        let kind = PartKind::Tilde(Bytes::from(name.as_slice()));
        let start = self.input.at;
        self.input.at += 1 + length;
        builder.push(kind, self.span_from(start), WordFlags::TILDE);
    }

    /// Parses an equals sign or colon and a tilde prefix after it.
    pub(super) fn assignment_tilde(&mut self, byte: u8, mode: &mut WordMode, builder: &mut WordBuilder) {
        let assigns = byte == b'=' && builder.only_literal().is_some_and(is_target);
        self.literal_byte(builder);
        if assigns && mode.tilde == Tilde::Word {
            mode.tilde = Tilde::Assignment;
            mode.stop |= COLON;
            builder.flags = builder.flags.union(WordFlags::ASSIGNMENT);
        }
        if mode.tilde == Tilde::Assignment && self.peek() == Some(b'~') {
            self.tilde(*mode, builder);
        }
    }
}

/// Whether the text can be the left side of an assignment.
fn is_target(text: &[u8]) -> bool {
    bytes::is_name(text.strip_suffix(b"+").unwrap_or(text))
}
