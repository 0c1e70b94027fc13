//! Command, process and arithmetic substitution.

use crate::Expected;
use crate::ast::{
    Arithmetic, BackquoteError, Bytes, CommandSubstitution, List, PartKind, ProcessSubstitution, SharedNode,
    SharedSlice, SubstitutionDirection, WordFlags,
};

use super::builder::WordBuilder;
use super::dollar::expansion_flags;
use super::input::{DerivedText, SourceBuffer};
use super::{Parser, Result, Speculation};

impl Parser<'_> {
    /// Parses `$(…)` or `$((…))`. `start` is the position of the dollar sign; the next byte is the
    /// parenthesis.
    pub(super) fn parenthesized(
        &mut self,
        start: usize,
        quoted: bool,
        builder: &mut WordBuilder,
    ) -> Result<()> {
        if self.peek_second() == Some(b'(')
            && let Some(arithmetic) = self.double_parentheses("$((", start)?
        {
            let flags = arithmetic_flags(&arithmetic, quoted);
            builder.push(
                PartKind::Arithmetic(SharedNode::new(arithmetic, &mut self.arena)),
                self.span_from(start),
                flags,
            );
            return Ok(());
        }
        self.input.at += 1;
        let body = self.substituted_list("$(", start)?;
        let substitution = CommandSubstitution {
            backquoted: false,
            aliased: self.options.aliases.is_some(),
            body,
            error: None,
        };
        let flags = expansion_flags(quoted).union(WordFlags::COMMANDS);
        builder.push(
            PartKind::Command(SharedNode::new(substitution, &mut self.arena)),
            self.span_from(start),
            flags,
        );
        Ok(())
    }

    /// Parses `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self, byte: u8, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        self.input.at += 1;
        self.eat(b'(');
        let (direction, what) = if byte == b'<' {
            (SubstitutionDirection::Read, "<(")
        } else {
            (SubstitutionDirection::Write, ">(")
        };
        let body = self.nested(|parser| parser.substituted_list(what, start))?;
        let kind = PartKind::Process(Box::new(ProcessSubstitution {
            direction,
            aliased: self.options.aliases.is_some(),
            body,
        }));
        builder.push(kind, self.span_from(start), WordFlags::EXPANSION.union(WordFlags::COMMANDS));
        Ok(())
    }

    /// Parses a list and the `)` after it.
    fn substituted_list(&mut self, what: &'static str, start: usize) -> Result<List> {
        let outer = std::mem::replace(&mut self.pending_from, self.pending.len());
        let alias_next = std::mem::take(&mut self.alias_next);
        let in_document = std::mem::take(&mut self.in_document);
        self.substitutions += 1;
        let list = self.list();
        self.substitutions -= 1;
        self.in_document = in_document;
        self.alias_next = alias_next;
        self.pending_from = outer;
        let list = list?;
        if self.eat(b')') {
            return Ok(list);
        }
        let opened = self.opened(what, start);
        Err(self.unexpected_in_list(Expected::Token(")"), opened))
    }

    /// Parses the expression between `((` and `))`, from the first parenthesis on. Returns `None` and
    /// consumes nothing if it is not an expression. `what` is the opening token, at `start`.
    pub(super) fn double_parentheses(
        &mut self,
        what: &'static str,
        start: usize,
    ) -> Result<Option<Arithmetic>> {
        let before = self.input.at;
        if self.has_failed(Speculation::Arithmetic, before) {
            return Ok(None);
        }
        let (pending, warnings) = (self.pending.len(), self.warnings.len());
        self.input.at += 1;
        self.eat(b'(');
        let arithmetic = self.arithmetic_until(b")")?;
        if self.peek().is_none() {
            return Err(self.unclosed("))", what, start));
        }
        self.input.at += 1;
        if self.eat(b')') {
            return Ok(Some(arithmetic));
        }
        self.input.at = before;
        self.pending.truncate(pending);
        self.warnings.truncate(warnings);
        self.note_failed(Speculation::Arithmetic, before);
        Ok(None)
    }

    /// Parses `$[…]`.
    pub(super) fn old_arithmetic(
        &mut self,
        start: usize,
        quoted: bool,
        builder: &mut WordBuilder,
    ) -> Result<()> {
        self.input.at += 1;
        let arithmetic = self.arithmetic_until(b"]")?;
        if !self.eat(b']') {
            return Err(self.unclosed("]", "$[", start));
        }
        let flags = arithmetic_flags(&arithmetic, quoted);
        builder.push(
            PartKind::Arithmetic(SharedNode::new(arithmetic, &mut self.arena)),
            self.span_from(start),
            flags,
        );
        Ok(())
    }

    /// Parses `` `…` ``. Backslashes are removed before the text is parsed; inside double quotes, also those
    /// before double quotes.
    pub(super) fn backquoted(&mut self, in_quotes: bool, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        let (derived, end) = self.backquoted_text(in_quotes)?;
        let text = Bytes::from(self.input.slice(start + 1, end));
        let inner = derived.into_input(self.input.source(end));
        let (body, error) = match self.nested(|parser| parser.with_input(inner, Parser::whole_list)) {
            Ok(body) => (body, None),
            Err(error) if error.kind.is_final() => return Err(error),
            Err(error) => {
                let span = self.input.span(start + 1, start + 1);
                let body = List { span, statements: SharedSlice::EMPTY };
                (body, Some(Box::new(BackquoteError { text, error: *error })))
            }
        };
        self.input.at = end + 1;
        let substitution =
            CommandSubstitution { backquoted: true, aliased: self.options.aliases.is_some(), body, error };
        let flags = expansion_flags(in_quotes).union(WordFlags::COMMANDS);
        builder.push(
            PartKind::Command(SharedNode::new(substitution, &mut self.arena)),
            self.span_from(start),
            flags,
        );
        Ok(())
    }

    /// Returns the text between backquotes, and the position of the closing one.
    fn backquoted_text(&mut self, in_quotes: bool) -> Result<(DerivedText, usize)> {
        let start = self.input.at;
        let mut derived = DerivedText::default();
        let mut from = start + 1;
        let mut at = from;
        loop {
            let Some(found) = memchr::memchr2(b'`', b'\\', self.input.slice(at, self.input.limit())) else {
                at = self.input.limit();
                if self.input.refill() {
                    continue;
                }
                return Err(self.unclosed("`", "`", start));
            };
            at += found;
            if self.input.slice(at, at + 1) == b"`" {
                derived.push(self.input.slice(from, at), self.input.source(from));
                return Ok((derived, at));
            }
            if at + 1 == self.input.limit() && !self.input.refill() {
                return Err(self.unclosed("`", "`", start));
            }
            let next = self.input.slice(at + 1, at + 2)[0];
            if matches!(next, b'`' | b'$' | b'\\') || (in_quotes && next == b'"') {
                derived.push(self.input.slice(from, at), self.input.source(from));
                from = at + 1;
            } else if next == b'\n' {
                // Line continuations are removed in any quotes.
                derived.push(self.input.slice(from, at), self.input.source(from));
                from = at + 2;
            }
            at += 2;
        }
    }

    /// Runs `parse` on another input with the same options and state.
    pub(super) fn with_input<T>(
        &mut self,
        input: SourceBuffer<'static>,
        parse: impl FnOnce(&mut Parser<'static>) -> Result<T>,
    ) -> Result<T> {
        let mut parser = Parser {
            options: std::mem::take(&mut self.options),
            depth: self.depth,
            lines: std::mem::take(&mut self.lines),
            line: self.line.clone(),
            warnings: std::mem::take(&mut self.warnings),
            arena: std::mem::take(&mut self.arena),
            pool: std::mem::take(&mut self.pool),
            ..Parser::over(input)
        };
        let result = parse(&mut parser);
        self.options = parser.options;
        self.lines = parser.lines;
        self.warnings = parser.warnings;
        self.arena = parser.arena;
        self.pool = parser.pool;
        result
    }
}

fn arithmetic_flags(arithmetic: &Arithmetic, quoted: bool) -> WordFlags {
    let commands = arithmetic.text.flags.contains(WordFlags::COMMANDS);
    let flags = expansion_flags(quoted);
    if commands { flags.union(WordFlags::COMMANDS) } else { flags }
}
