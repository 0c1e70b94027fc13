//! Subscripts, and arithmetic expressions up to a closing byte.

use std::sync::Arc;

use crate::Expected;
use crate::ast::{Arithmetic, Subscript, SubscriptKind, Word};

use super::word::WordMode;
use super::{Parser, Result, arithmetic_form};

impl Parser<'_> {
    /// Parses `[…]`. Fails if it is not closed.
    pub(super) fn subscript(&mut self) -> Result<Subscript> {
        let start = self.input.at;
        match self.subscript_in(WordMode::subscript(false))? {
            Some(subscript) => Ok(subscript),
            None => Err(self.unclosed("]", "[", start)),
        }
    }

    /// Parses `[…]` in `${…}`; `None` if the brace is closed first. Quotes are recognized even if the
    /// expansion is quoted.
    pub(super) fn braced_subscript(&mut self) -> Result<Option<Subscript>> {
        self.subscript_in(WordMode::subscript(true))
    }

    /// Parses `[…]` as the whole input. Returns the word between the brackets.
    pub(super) fn whole_subscript(&mut self) -> Result<Word> {
        self.input.at += 1;
        let word = self.nested(|parser| parser.word(WordMode::subscript(false)))?;
        match self.eat(b']') && self.peek().is_none() {
            true => Ok(word),
            false => Err(self.unexpected(Some(Expected::Token("]")), None)),
        }
    }

    fn subscript_in(&mut self, mode: WordMode) -> Result<Option<Subscript>> {
        self.input.at += 1;
        let inside = self.input.at;
        let key = self.nested(|parser| parser.word(mode))?;
        let span = self.span_from(inside);
        if !self.eat(b']') {
            return Ok(None);
        }
        let kind = match key.plain() {
            Some(b"@") => SubscriptKind::At,
            Some(b"*") => SubscriptKind::Star,
            _ => {
                let form = arithmetic_form::form(&key, &mut self.arena);
                let key = Arc::new(key);
                let index = Box::new(Arithmetic { span, text: key.clone(), form });
                SubscriptKind::Element { key, index }
            }
        };
        Ok(Some(Subscript { span, kind }))
    }

    /// Parses an arithmetic expression up to one of the bytes in `ends`, without it.
    pub(super) fn arithmetic_until(&mut self, ends: &[u8]) -> Result<Arithmetic> {
        let text = self.nested(|parser| parser.arithmetic_word(ends))?;
        let form = arithmetic_form::form(&text, &mut self.arena);
        Ok(Arithmetic { span: text.span, text: Arc::new(text), form })
    }

    /// Parses the rest of the input as an arithmetic expression.
    pub(super) fn arithmetic_to_end(&mut self) -> Result<Arithmetic> {
        self.arithmetic_until(b"")
    }
}
