//! Redirections.

use crate::Expected;
use crate::ast::{Duplicate, Redirect, RedirectDescriptor, RedirectKind, SharedSlice, Word};
use crate::error::SyntaxError;

use super::bytes::{self, DIGIT};
use super::word::WordMode;
use super::{Parser, Result};

/// A redirection operator.
#[derive(Clone, Copy)]
enum RedirectOperator {
    Read,
    Write,
    Clobber,
    Append,
    ReadWrite,
    HereString,
    HereDocument,
    HereDocumentTabs,
    DuplicateInput,
    DuplicateOutput,
    WriteBoth,
    AppendBoth,
}

impl Parser<'_> {
    /// Parses a redirection, if one comes next.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>> {
        let start = self.input.at;
        let descriptor = match self.peek() {
            Some(b'<' | b'>' | b'&') => RedirectDescriptor::Default,
            Some(b'0'..=b'9') => match self.descriptor_number() {
                Some(number) => RedirectDescriptor::Number(number),
                None => return Ok(None),
            },
            Some(b'{') => match self.descriptor_variable()? {
                Some(descriptor) => descriptor,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(operator) = self.redirect_operator() else {
            self.input.at = start;
            return Ok(None);
        };
        let kind = self.redirect_kind(operator, start)?;
        Ok(Some(Redirect { span: self.span_from(start), descriptor, kind }))
    }

    /// Parses all redirections that come next.
    pub(super) fn redirects(&mut self) -> Result<SharedSlice<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None if redirects.is_empty() => return Ok(SharedSlice::EMPTY),
                None => {
                    self.no_reserved = Some(self.input.at);
                    return Ok(self.arena.slice_from(&mut redirects));
                }
            }
        }
    }

    /// Parses a file descriptor number directly before `<` or `>`.
    fn descriptor_number(&mut self) -> Option<u32> {
        let start = self.input.at;
        if !self.peek().is_some_and(|byte| bytes::is(byte, DIGIT)) {
            return None;
        }
        let mut number = Some(0u32);
        while let Some(byte) = self.peek().filter(|byte| bytes::is(*byte, DIGIT)) {
            let digit = u32::from(byte - b'0');
            number = number.and_then(|number| number.checked_mul(10)?.checked_add(digit));
            self.input.at += 1;
        }
        if matches!(self.peek(), Some(b'<' | b'>'))
            && number.is_some_and(|number| i32::try_from(number).is_ok())
        {
            return number;
        }
        self.input.at = start;
        None
    }

    /// Parses `{name}` or `{name[subscript]}` directly before `<` or `>`.
    fn descriptor_variable(&mut self) -> Result<Option<RedirectDescriptor>> {
        let start = self.input.at;
        self.input.at += 1;
        let name = self.name();
        let subscript = match self.peek() {
            Some(b'[') if !name.is_empty() && self.closes_descriptor() => Some(Box::new(self.subscript()?)),
            _ => None,
        };
        if !name.is_empty() && self.eat(b'}') && matches!(self.peek(), Some(b'<' | b'>')) {
            return Ok(Some(RedirectDescriptor::Variable { name, subscript }));
        }
        self.input.at = start;
        Ok(None)
    }

    /// Whether an unquoted subscript is followed by `}` and an operator.
    fn closes_descriptor(&self) -> bool {
        let rest = self.input.remaining();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        let length = 1 + rest[1..].iter().take_while(|byte| plain(byte)).count();
        matches!(rest.get(length..length + 3), Some([b']', b'}', b'<' | b'>']))
    }

    /// Consumes a redirection operator. `<(` and `>(` are not redirections.
    fn redirect_operator(&mut self) -> Option<RedirectOperator> {
        let (first, second) = (self.peek()?, self.peek_second());
        let operator = match (first, second) {
            (b'<' | b'>', Some(b'(')) => return None,
            (b'<', Some(b'<')) => RedirectOperator::HereDocument,
            (b'<', Some(b'&')) => RedirectOperator::DuplicateInput,
            (b'<', Some(b'>')) => RedirectOperator::ReadWrite,
            (b'>', Some(b'>')) => RedirectOperator::Append,
            (b'>', Some(b'&')) => RedirectOperator::DuplicateOutput,
            (b'>', Some(b'|')) => RedirectOperator::Clobber,
            (b'&', Some(b'>')) => RedirectOperator::WriteBoth,
            (b'<', _) => RedirectOperator::Read,
            (b'>', _) => RedirectOperator::Write,
            _ => return None,
        };
        self.input.at += 1;
        if matches!(operator, RedirectOperator::Read | RedirectOperator::Write) {
            return Some(operator);
        }
        if let Some(second) = second {
            self.eat(second);
        }
        Some(match (operator, self.peek()) {
            (RedirectOperator::HereDocument, Some(b'<')) if self.eat(b'<') => RedirectOperator::HereString,
            (RedirectOperator::HereDocument, Some(b'-')) if self.eat(b'-') => {
                RedirectOperator::HereDocumentTabs
            }
            (RedirectOperator::WriteBoth, Some(b'>')) if self.eat(b'>') => RedirectOperator::AppendBoth,
            _ => operator,
        })
    }

    fn redirect_kind(&mut self, operator: RedirectOperator, start: usize) -> Result<RedirectKind> {
        Ok(match operator {
            RedirectOperator::Read => RedirectKind::Read(self.target()?),
            RedirectOperator::Write => RedirectKind::Write(self.target()?),
            RedirectOperator::Clobber => RedirectKind::Clobber(self.target()?),
            RedirectOperator::Append => RedirectKind::Append(self.target()?),
            RedirectOperator::ReadWrite => RedirectKind::ReadWrite(self.target()?),
            RedirectOperator::WriteBoth => RedirectKind::WriteBoth(self.target()?),
            RedirectOperator::AppendBoth => RedirectKind::AppendBoth(self.target()?),
            RedirectOperator::HereString => {
                RedirectKind::HereString(self.target_in(WordMode::single(self.options.extglob))?)
            }
            RedirectOperator::HereDocument => {
                RedirectKind::HereDocument(Box::new(self.here_document(start, false)?))
            }
            RedirectOperator::HereDocumentTabs => {
                RedirectKind::HereDocument(Box::new(self.here_document(start, true)?))
            }
            RedirectOperator::DuplicateInput => RedirectKind::DuplicateInput(self.duplicate()?),
            RedirectOperator::DuplicateOutput => RedirectKind::DuplicateOutput(self.duplicate()?),
        })
    }

    fn duplicate(&mut self) -> Result<Duplicate> {
        let word = self.any_target(WordMode::argument(self.options.extglob))?;
        let Some(text) = word.plain() else { return Ok(Duplicate::Word(word)) };
        if text == b"-" {
            return Ok(Duplicate::Close);
        }
        let digits = text.strip_suffix(b"-").unwrap_or(text);
        let number = std::str::from_utf8(digits)
            .ok()
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match number.and_then(|number| number.parse().ok()) {
            Some(number) => Ok(Duplicate::Descriptor { number, close: digits.len() < text.len() }),
            None => Ok(Duplicate::Word(word)),
        }
    }

    /// Parses the word after the operator.
    fn target(&mut self) -> Result<Word> {
        self.target_in(WordMode::argument(self.options.extglob))
    }

    /// Parses the word after the operator in another mode. A number directly before the next redirection
    /// belongs to that redirection.
    fn target_in(&mut self, mode: WordMode) -> Result<Word> {
        self.skip_blanks();
        self.refuse_descriptor()?;
        self.any_target(mode)
    }

    /// Fails if the file descriptor number of the next redirection comes instead of a word.
    pub(super) fn refuse_descriptor(&mut self) -> Result<()> {
        let start = self.input.at;
        if self.descriptor_number().is_none() {
            return Ok(());
        }
        self.input.at = start;
        Err(self.no_target())
    }

    fn any_target(&mut self, mode: WordMode) -> Result<Word> {
        self.skip_blanks();
        let start = self.input.at;
        let word = self.word(mode)?;
        if self.input.at == start { Err(self.no_target()) } else { Ok(word) }
    }

    fn no_target(&mut self) -> Box<SyntaxError> {
        self.unexpected(Some(Expected::Word("a word after the redirection operator")), None)
    }
}
