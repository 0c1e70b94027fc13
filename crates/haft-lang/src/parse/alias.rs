//! Alias expansion.

use crate::Bytes;

use super::Parser;
use super::bytes::{self, BLANK, BREAK, QUOTE};

/// An alias whose text ends at a position. It is not expanded again inside its own text.
pub(super) struct ActiveAlias {
    name: Bytes,
    end: usize,
}

impl Parser<'_> {
    /// Expands the next word if it is an alias, and again if its text starts with another alias.
    pub(super) fn expand_aliases(&mut self) {
        while self.expand_alias() {
            self.skip_blanks();
        }
    }

    /// Expands the next word if it follows an alias whose text ends in a blank.
    pub(super) fn expand_alias_after_blank(&mut self) {
        if self.alias_next.is_some_and(|end| end <= self.input.at) {
            self.alias_next = None;
            self.expand_aliases();
        }
    }

    fn expand_alias(&mut self) -> bool {
        self.peek();
        while self.input.remaining().iter().all(|byte| !bytes::is(*byte, BREAK)) && self.input.refill() {}
        let start = self.input.at;
        self.active.retain(|active| active.end > start);
        let rest = self.input.remaining();
        let length = bytes::run(rest, BREAK | QUOTE);
        let quoted = rest.get(length).is_some_and(|byte| bytes::is(*byte, QUOTE));
        if length == 0 || quoted {
            return false;
        }
        let name = &rest[..length];
        let Some(text) = self.options.aliases.as_ref().and_then(|aliases| aliases.get(name)) else {
            return false;
        };
        if self.active.iter().any(|active| *active.name == *name) {
            return false;
        }
        // The text is a word of its own: a digit at its end is not the descriptor of a redirection after it.
        let redirected = matches!(rest.get(length), Some(b'<' | b'>'));
        let text = match text.last() {
            Some(b'0'..=b'9') if redirected => [text, b" ".as_slice()].concat().into(),
            _ => text.clone(),
        };
        let name = Bytes::from(name);
        self.activate(name, &text, start, start + length);
        true
    }

    /// Replaces the alias between two positions by its text. If the text ends in a blank, the next word may
    /// also be an alias. If the alias is at the end of another alias's text, only that text counts.
    fn activate(&mut self, name: Bytes, text: &Bytes, start: usize, end: usize) {
        let grown = |position: usize| position + text.len() - (end - start);
        let decides = self.active.iter().all(|active| active.end != end);
        self.active.iter_mut().for_each(|active| active.end = grown(active.end));
        self.alias_next = self.alias_next.filter(|next| *next > start).map(grown);
        if decides && text.last().is_some_and(|byte| bytes::is(*byte, BLANK)) {
            self.alias_next = Some(grown(end));
        }
        self.input.replace(start, end, text);
        self.aliased += text.len();
        if self.aliased > self.max_aliased {
            // Aliases that grow without bound are stopped at the next word.
            self.next_check_at = 0;
        }
        self.active.push(ActiveAlias { name, end: grown(end) });
    }
}
