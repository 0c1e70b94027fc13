//! Double quotes, and text that is treated like it: here-documents and arithmetic.

use crate::ast::{PartKind, Word, WordFlags};

use super::builder::WordBuilder;
use super::bytes::{self, BRACKET, BREAK, CLOSE_BRACE, COLON, DOUBLE, GLOB, GROUP, QUOTE};
use super::dollar::Quoting;
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses `"…"`, or `$"…"` if `locale`. `start` is its first position; the next byte is the quote.
    pub(super) fn double_quoted(
        &mut self,
        builder: &mut WordBuilder,
        start: usize,
        locale: bool,
    ) -> Result<()> {
        self.double_quoted_in(builder, start, locale, false)
    }

    /// The same. In the operand of `"${name:-…}"`, which is in double quotes itself, a backslash in inner double quotes
    /// escapes every character.
    pub(super) fn double_quoted_in(
        &mut self,
        builder: &mut WordBuilder,
        start: usize,
        locale: bool,
        operand: bool,
    ) -> Result<()> {
        let quote = self.input.at;
        self.input.at += 1;
        let mut inner = self.builder();
        self.nested(|parser| parser.quoted_parts(&mut inner, quote, operand))?;
        let flags = std::mem::take(&mut inner.flags).union(WordFlags::QUOTED);
        let parts = inner.take_parts(&mut self.arena);
        self.recycle(inner);
        let kind = if locale { PartKind::LocaleQuoted(parts) } else { PartKind::DoubleQuoted(parts) };
        builder.push(kind, self.span_from(start), flags);
        Ok(())
    }

    fn quoted_parts(&mut self, builder: &mut WordBuilder, quote: usize, operand: bool) -> Result<()> {
        loop {
            self.quoted_run(DOUBLE, builder);
            match self.input.ahead(0) {
                Some(b'"') => {
                    self.input.at += 1;
                    return Ok(());
                }
                Some(b'\\') if operand && self.input.ahead(1).is_some_and(|byte| byte != b'\n') => {
                    let start = self.input.at;
                    let byte = self.input.slice(start + 1, start + 2)[0];
                    self.input.at += 2;
                    builder.push(PartKind::Escaped(byte), self.span_from(start), WordFlags::NONE);
                }
                Some(byte) => self.quoted_part(byte, true, builder)?,
                None if self.input.refill() => {}
                None => return Err(self.unclosed("\"", "\"", quote)),
            }
        }
    }

    /// Parses the rest of the input as the body of a here-document.
    pub(super) fn here_body(&mut self) -> Result<Word> {
        let start = self.input.at;
        let mut builder = self.builder();
        loop {
            self.quoted_run(DOUBLE, &mut builder);
            match self.input.ahead(0) {
                Some(b'"') => self.literal_byte(&mut builder),
                Some(byte) => self.quoted_part(byte, false, &mut builder)?,
                None => return Ok(self.finish_word(start, builder)),
            }
        }
    }

    /// Parses the text of an arithmetic expression up to one of the bytes in `ends` outside brackets, or to
    /// the end of the input. Single quotes do not quote in it, but they must be balanced, and no byte between
    /// them ends the expression.
    pub(super) fn arithmetic_word(&mut self, ends: &[u8]) -> Result<Word> {
        const STOP: u16 = DOUBLE | BREAK | GROUP | BRACKET | COLON | CLOSE_BRACE | GLOB | QUOTE;
        let start = self.input.at;
        let mut builder = self.builder();
        let mut balance = Balance::new(ends);
        loop {
            self.quoted_run(STOP, &mut builder);
            match self.input.ahead(0) {
                Some(byte) if balance.ends_at(byte) => break,
                Some(b'"') if balance.quote.is_none() => {
                    self.double_quoted(&mut builder, self.input.at, false)?;
                }
                Some(b'"') => self.literal_byte(&mut builder),
                Some(b'\\')
                    if self.input.ahead(1).is_some_and(|byte| balance.is_quoted_by_backslash(byte)) =>
                {
                    // The backslash disables the byte and stays part of the text.
                    self.literal_byte(&mut builder);
                    self.literal_byte(&mut builder);
                }
                Some(byte) if bytes::is(byte, DOUBLE) => self.quoted_part(byte, true, &mut builder)?,
                Some(byte) => {
                    balance.pass(byte, self.input.at);
                    self.literal_byte(&mut builder);
                }
                None if self.input.refill() => {}
                None => break,
            }
        }
        match balance.quote {
            Some(quote) => Err(self.unclosed("'", "'", quote)),
            None => Ok(self.finish_word(start, builder)),
        }
    }

    /// Appends literal bytes up to a byte of a class in `stop`.
    fn quoted_run(&mut self, stop: u16, builder: &mut WordBuilder) {
        let start = self.input.at;
        let length = bytes::run(self.input.remaining(), stop);
        if length > 0 {
            let span = self.input.span(start, start + length);
            builder.literal(self.input.slice(start, start + length), span);
            self.input.at += length;
        }
    }

    /// Parses a backslash or an expansion. In double quotes a backslash also escapes a double quote.
    fn quoted_part(&mut self, byte: u8, in_quotes: bool, builder: &mut WordBuilder) -> Result<()> {
        match byte {
            b'$' => self.dollar(Quoting::Double, builder),
            b'`' => self.backquoted(in_quotes, builder),
            _ => {
                self.quoted_backslash(in_quotes, builder);
                Ok(())
            }
        }
    }

    fn quoted_backslash(&mut self, in_quotes: bool, builder: &mut WordBuilder) {
        if self.peek() != Some(b'\\') {
            return;
        }
        let start = self.input.at;
        match self.input.ahead(1) {
            Some(byte @ (b'$' | b'`' | b'\\')) => {
                self.input.at += 2;
                builder.push(PartKind::Escaped(byte), self.span_from(start), WordFlags::NONE);
            }
            Some(byte @ b'"') if in_quotes => {
                self.input.at += 2;
                builder.push(PartKind::Escaped(byte), self.span_from(start), WordFlags::NONE);
            }
            _ => self.literal_byte(builder),
        }
    }
}

/// Tracks open brackets, parentheses and quotes in an arithmetic expression.
struct Balance<'a> {
    ends: &'a [u8],
    /// Whether to count brackets.
    brackets: bool,
    /// Whether to count parentheses.
    parentheses: bool,
    open: usize,
    /// The number of question marks without their colon.
    choices: usize,
    /// The position of an open single quote.
    quote: Option<usize>,
}

impl<'a> Balance<'a> {
    fn new(ends: &'a [u8]) -> Self {
        let brackets = ends.iter().any(|byte| matches!(byte, b']' | b':'));
        Self { ends, brackets, parentheses: ends != b"]", open: 0, choices: 0, quote: None }
    }

    fn ends_at(&self, byte: u8) -> bool {
        self.open == 0
            && self.quote.is_none()
            && self.ends.contains(&byte)
            && (byte != b':' || self.choices == 0)
    }

    /// Whether a backslash before this byte prevents it from opening or closing anything.
    fn is_quoted_by_backslash(&self, byte: u8) -> bool {
        bytes::is(byte, GROUP | BRACKET) || byte == b'\'' && self.quote.is_none()
    }

    fn pass(&mut self, byte: u8, at: usize) {
        match byte {
            b'\'' => self.quote = if self.quote.is_some() { None } else { Some(at) },
            _ if self.quote.is_some() => {}
            b'(' if self.parentheses => self.open += 1,
            b')' if self.parentheses => self.open = self.open.saturating_sub(1),
            b'[' if self.brackets => self.open += 1,
            b']' if self.brackets => self.open = self.open.saturating_sub(1),
            b'?' => self.choices += 1,
            b':' => self.choices = self.choices.saturating_sub(1),
            _ => {}
        }
    }
}
