//! Subscripts, and the arithmetic that is read up to a closing byte.

use crate::ast::{Arithmetic, Subscript, SubscriptKind};

use super::word::Mode;
use super::{Parser, Result, arithmetic};

impl Parser<'_> {
    /// `[…]`, which must close.
    pub(super) fn subscript(&mut self, quoted: bool) -> Result<Subscript> {
        let start = self.input.at;
        self.input.at += 1;
        let inside = self.input.at;
        let key = self.nested(|parser| parser.word(Mode::subscript(quoted)))?;
        let span = self.span_from(inside);
        if !self.eat(b']') {
            return Err(self.unclosed("]", "[", start));
        }
        let kind = match key.plain() {
            Some(b"@") => SubscriptKind::At,
            Some(b"*") => SubscriptKind::Star,
            _ => {
                let form = arithmetic::form(&key);
                let index = Box::new(Arithmetic { span, text: key.clone(), form });
                SubscriptKind::Element { key, index }
            }
        };
        Ok(Subscript { span, kind })
    }

    /// An arithmetic expression up to one of `ends`, which is left.
    pub(super) fn arithmetic_until(&mut self, ends: &[u8]) -> Result<Arithmetic> {
        let text = self.nested(|parser| parser.arithmetic_word(ends))?;
        let form = arithmetic::form(&text);
        Ok(Arithmetic { span: text.span, text, form })
    }

    /// An arithmetic expression that is all there is.
    pub(super) fn arithmetic_to_end(&mut self) -> Result<Arithmetic> {
        self.arithmetic_until(b"")
    }
}
