//! Aliases.

use crate::ast::Text;

use super::Parser;
use super::bytes::{self, BLANK, BREAK, QUOTE};

/// An alias whose text is being read, up to a position. It is not expanded again in there.
pub(super) struct ActiveAlias {
    name: Text,
    end: usize,
}

impl Parser<'_> {
    /// Puts the text of an alias in the place of the word that comes next, if it is one; and again, if that text begins
    /// with another.
    pub(super) fn expand_aliases(&mut self) {
        while self.expand_alias() {
            self.skip_blanks();
        }
    }

    /// Expands an alias where a word follows an alias whose text ended in a blank.
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
        let Some(text) = self.options.aliases.get(name) else { return false };
        if self.active.iter().any(|active| *active.name == *name) {
            return false;
        }
        let (name, text) = (Text::from(name), text.clone());
        self.activate(name, &text, start, start + length);
        true
    }

    /// Puts `text` in the place of the alias between two positions. If it ends in a blank, the word after it may be an
    /// alias too; if it is itself the end of another alias's text, that one decides.
    fn activate(&mut self, name: Text, text: &Text, start: usize, end: usize) {
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
            // Aliases that double their text again and again are stopped at the next word.
            self.next_check_at = 0;
        }
        self.active.push(ActiveAlias { name, end: grown(end) });
    }
}
