//! Function definitions and coprocesses.

use std::sync::Arc;

use crate::Expected;
use crate::ast::{Bytes, Command, CommandKind, Coprocess, Function, Name, SharedSlice, Span};

use super::bytes::{self, BREAK, QUOTE};
use super::reserved::Reserved;
use super::word::WordMode;
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses `function name …`, after the reserved word.
    pub(super) fn function(&mut self, start: usize) -> Result<Command> {
        self.skip_blanks();
        let from = self.input.at;
        let word = self.word(WordMode::argument(self.options.extglob))?;
        if self.input.at == from {
            return Err(self.unexpected(Some(Expected::Word("a function name")), None));
        }
        let name = match word.literal_text() {
            Some(text) => text.clone(),
            None => Bytes::from(self.input.slice(from, self.input.at)),
        };
        self.skip_blanks();
        let open = self.input.at;
        if self.eat(b'(') {
            self.skip_blanks();
            if !self.eat(b')') {
                // The parenthesis starts the body.
                self.input.at = open;
            }
        }
        self.function_body(start, name, word.span)
    }

    /// Parses the body of a function, after its name and parentheses.
    pub(super) fn function_body(&mut self, start: usize, name: Name, name_span: Span) -> Result<Command> {
        let line = self.line_at(start);
        self.skip_newlines()?;
        if !self.at_compound() {
            let mut error = self.unexpected(Some(Expected::FunctionBody), None);
            error.hint = Some("a function body is a compound command, usually \"{ …; }\"".to_owned());
            return Err(error);
        }
        let body = self.nested(Self::any_command)?;
        let kind = CommandKind::Function(Arc::new(Function { name, name_span, body }));
        Ok(Command { span: self.span_from(start), line, kind, redirects: SharedSlice::EMPTY })
    }

    /// Whether a compound command starts here.
    pub(super) fn at_compound(&mut self) -> bool {
        if self.peek() == Some(b'(') {
            return true;
        }
        let reserved = self.reserved_ahead().map(|(reserved, _)| reserved);
        reserved.is_some_and(|reserved| {
            !reserved.closes()
                && !matches!(
                    reserved,
                    Reserved::Bang | Reserved::Time | Reserved::Coproc | Reserved::Function
                )
        })
    }

    /// Parses `coproc …`, after the reserved word.
    pub(super) fn coprocess(&mut self, start: usize) -> Result<Command> {
        let line = self.line_at(start);
        self.skip_blanks();
        let (name, end) = if self.at_compound() { (None, None) } else { self.coprocess_name()? };
        let limit = self.input.limit();
        self.input.set_limit(end.unwrap_or(limit));
        let body = self.nested(Self::any_command);
        self.input.set_limit(limit.max(self.input.limit()));
        let body = body?;
        let kind = CommandKind::Coprocess(Box::new(Coprocess { name, body }));
        Ok(Command { span: self.span_from(start), line, kind, redirects: SharedSlice::EMPTY })
    }

    /// Returns the name if a compound command follows it. Otherwise, if a closing reserved word follows the
    /// first word, returns the end of that word, which is the whole command. No other reserved word may
    /// follow.
    fn coprocess_name(&mut self) -> Result<(Option<Name>, Option<usize>)> {
        let start = self.input.at;
        let rest = self.input.remaining();
        let length = bytes::run(rest, BREAK | QUOTE);
        let name = bytes::name_length(rest);
        if length == 0 || name > 0 && rest.get(name) == Some(&b'[') {
            return Ok((None, None));
        }
        self.input.at += length;
        let end = self.input.at;
        self.skip_blanks();
        if self.at_compound() {
            return Ok((Some(Bytes::from(self.input.slice(start, end))), None));
        }
        match self.reserved_ahead() {
            Some((reserved, _)) if !reserved.closes() && reserved != Reserved::Time => Err(self.stray()),
            reserved => {
                self.input.at = start;
                Ok((None, reserved.filter(|(reserved, _)| reserved.closes()).map(|_| end)))
            }
        }
    }
}
