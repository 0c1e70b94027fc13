//! Parameter expansion: `${…}`.

use crate::ast::{
    Bytes, CaseChange, Parameter, ParameterExpansion, ParameterOperator, ReplaceScope, SpecialParameter,
    Subscript, SubscriptKind, Transform, Word,
};

use super::builder::WordBuilder;
use super::bytes::{self, DIGIT, NAME_START};
use super::dollar::{plain, special};
use super::word::{Tilde, WordMode};
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses `${…}`. `start` is the position of the dollar sign; the next byte is the brace.
    pub(super) fn braced_parameter(
        &mut self,
        start: usize,
        quoted: bool,
        builder: &mut WordBuilder,
    ) -> Result<()> {
        self.input.at += 1;
        let inside = self.input.at;
        let expansion = match self.expansion(quoted)? {
            Some(expansion) if self.eat(b'}') => expansion,
            _ => self.invalid_expansion(start, inside, quoted)?,
        };
        self.push_parameter(expansion, start, quoted, builder);
        Ok(())
    }

    /// Parses the text between the braces up to an invalid part; `None` if it is invalid from the start.
    fn expansion(&mut self, quoted: bool) -> Result<Option<ParameterExpansion>> {
        if let Some(length) = self.length_expansion()? {
            return Ok(Some(length));
        }
        let indirect = self.indirection();
        let Some(mut expansion) = self.parameter()? else { return Ok(None) };
        if expansion.parameter == Parameter::Special(SpecialParameter::Count) && self.is_length_of_nothing() {
            return Ok(None);
        }
        if indirect && let Some(operator) = self.names_or_keys(&expansion) {
            expansion.operator = operator;
            return Ok(Some(expansion));
        }
        expansion.indirect = indirect;
        let Some(operator) = self.operator(quoted)? else { return Ok(None) };
        expansion.operator = operator;
        Ok(Some(expansion))
    }

    /// Parses `#name`, if nothing follows.
    fn length_expansion(&mut self) -> Result<Option<ParameterExpansion>> {
        let start = self.input.at;
        if !self.eat(b'#') {
            return Ok(None);
        }
        let named = self.peek().is_some_and(|byte| bytes::is(byte, NAME_START | DIGIT));
        if self.peek() != Some(b'}')
            && let Some(mut expansion) = self.parameter()?
            && (named || self.peek() == Some(b'}'))
        {
            expansion.operator = ParameterOperator::Length;
            return Ok(Some(expansion));
        }
        self.input.at = start;
        Ok(None)
    }

    /// Whether an operator without an operand ends the expansion. After `#`, bash takes it for a parameter that does not
    /// exist.
    fn is_length_of_nothing(&mut self) -> bool {
        matches!(self.peek(), Some(b'/' | b'%' | b'=' | b'+' | b'^' | b','))
            && self.peek_second() == Some(b'}')
    }

    /// Consumes a `!` that makes the expansion indirect.
    fn indirection(&mut self) -> bool {
        let posix = self.options.posix;
        let indirect = self.peek() == Some(b'!')
            && self.peek_second().is_some_and(|byte| {
                bytes::is(byte, NAME_START | DIGIT)
                    || matches!(byte, b'#' | b'@' | b'*')
                    || (byte == b'?' && !posix)
            });
        indirect && self.eat(b'!')
    }

    /// Parses a parameter and its subscript.
    fn parameter(&mut self) -> Result<Option<ParameterExpansion>> {
        let name = self.name();
        if !name.is_empty() {
            let mut expansion = plain(Parameter::Variable(name));
            if self.peek() == Some(b'[') {
                let subscript = self.braced_subscript()?.filter(|subscript| !subscript.span.is_empty());
                let Some(subscript) = subscript else { return Ok(None) };
                expansion.subscript = Some(Box::new(subscript));
            }
            return Ok(Some(expansion));
        }
        let mut number: Option<u32> = None;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            let digit = u32::from(byte - b'0');
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.input.at += 1;
        }
        if let Some(number) = number {
            return Ok(Some(plain(Parameter::Positional(number))));
        }
        if self.peek() == Some(b'$') && matches!(self.peek_second(), Some(b'{' | b'(')) {
            // A nested expansion makes the outer one invalid.
            return Ok(None);
        }
        let symbol = self.peek().and_then(special);
        self.input.at += usize::from(symbol.is_some());
        Ok(symbol.map(|symbol| plain(Parameter::Special(symbol))))
    }

    /// After `!name`: parses `*}`, `@}`, or `}` after `[@]` or `[*]`.
    fn names_or_keys(&mut self, expansion: &ParameterExpansion) -> Option<ParameterOperator> {
        let kind = expansion.subscript.as_deref().map(|subscript: &Subscript| &subscript.kind);
        let next = self.peek()?;
        match (&expansion.parameter, kind, next) {
            (Parameter::Variable(_), Some(SubscriptKind::At), b'}') => {
                Some(ParameterOperator::Keys { fields: true })
            }
            (Parameter::Variable(_), Some(SubscriptKind::Star), b'}') => {
                Some(ParameterOperator::Keys { fields: false })
            }
            (Parameter::Variable(_), None, b'@' | b'*') if self.peek_second() == Some(b'}') => {
                self.input.at += 1;
                Some(ParameterOperator::Names { fields: next == b'@' })
            }
            _ => None,
        }
    }

    /// Parses the operator after the parameter; `None` if bash has no such operator.
    fn operator(&mut self, quoted: bool) -> Result<Option<ParameterOperator>> {
        let Some(byte) = self.peek() else { return Ok(None) };
        if byte == b'}' {
            return Ok(Some(ParameterOperator::Value));
        }
        let start = self.input.at;
        self.input.at += 1;
        let operator = match byte {
            b':' => return self.colon(quoted),
            b'-' | b'=' | b'?' | b'+' => self.alternative(byte, false, quoted)?,
            b'#' => {
                let longest = self.eat(b'#');
                ParameterOperator::RemovePrefix { longest, pattern: self.word(WordMode::operand_pattern())? }
            }
            b'%' => {
                let longest = self.eat(b'%');
                ParameterOperator::RemoveSuffix { longest, pattern: self.word(WordMode::operand_pattern())? }
            }
            b'/' => self.replace()?,
            b'^' | b',' | b'~' => self.change_case(byte)?,
            b'@' => return Ok(self.transform()),
            _ => {
                self.input.at = start;
                return Ok(None);
            }
        };
        Ok(Some(operator))
    }

    fn colon(&mut self, quoted: bool) -> Result<Option<ParameterOperator>> {
        match self.peek() {
            Some(byte @ (b'-' | b'=' | b'?' | b'+')) => {
                self.input.at += 1;
                self.alternative(byte, true, quoted).map(Some)
            }
            Some(b'}') => Ok(None),
            _ => {
                let offset = Box::new(self.arithmetic_until(b":}")?);
                let length = if self.eat(b':') { Some(Box::new(self.arithmetic_until(b"}")?)) } else { None };
                Ok(Some(ParameterOperator::Substring { offset, length }))
            }
        }
    }

    fn alternative(&mut self, symbol: u8, or_empty: bool, quoted: bool) -> Result<ParameterOperator> {
        let word = self.word(WordMode::operand(quoted))?;
        Ok(match symbol {
            b'-' => ParameterOperator::Default { or_empty, word },
            b'=' => ParameterOperator::Assign { or_empty, word },
            b'?' => ParameterOperator::Require { or_empty, word },
            _ => ParameterOperator::Alternative { or_empty, word },
        })
    }

    fn replace(&mut self) -> Result<ParameterOperator> {
        let scope = match self.peek() {
            Some(b'/') => ReplaceScope::All,
            Some(b'#') => ReplaceScope::Prefix,
            Some(b'%') => ReplaceScope::Suffix,
            _ => ReplaceScope::First,
        };
        self.input.at += usize::from(scope != ReplaceScope::First);
        let pattern = self.replaced_pattern(scope)?;
        let replacement = if self.eat(b'/') { Some(self.word(WordMode::replacement())?) } else { None };
        Ok(ParameterOperator::Replace { scope, pattern, replacement })
    }

    /// Parses the pattern to replace. After `//`, a third slash belongs to the pattern.
    fn replaced_pattern(&mut self, scope: ReplaceScope) -> Result<Word> {
        let start = self.input.at;
        let mut builder = self.builder();
        if scope == ReplaceScope::All && self.peek() == Some(b'/') {
            self.literal_byte(&mut builder);
        }
        // After `//`, `/#` or `/%`, a tilde is not at the start and is not expanded.
        let tilde = if scope == ReplaceScope::First { Tilde::Start } else { Tilde::Never };
        self.parts(WordMode { tilde, ..WordMode::replaced() }, &mut builder)?;
        Ok(self.finish_word(start, builder))
    }

    fn change_case(&mut self, symbol: u8) -> Result<ParameterOperator> {
        let change = match symbol {
            b'^' => CaseChange::Upper,
            b',' => CaseChange::Lower,
            _ => CaseChange::Toggle,
        };
        let all = self.eat(symbol);
        let pattern = self.word(WordMode::operand_pattern())?;
        let pattern = (pattern.plain() != Some(b"")).then_some(pattern);
        Ok(ParameterOperator::ChangeCase { change, all, pattern })
    }

    fn transform(&mut self) -> Option<ParameterOperator> {
        let transform = match self.peek()? {
            b'U' => Transform::Upper,
            b'u' => Transform::UpperFirst,
            b'L' => Transform::Lower,
            b'Q' => Transform::Quote,
            b'E' => Transform::Escapes,
            b'P' => Transform::Prompt,
            b'A' => Transform::Assignment,
            b'K' => Transform::Pairs,
            b'a' => Transform::Attributes,
            b'k' => Transform::PairWords,
            _ => return None,
        };
        self.input.at += 1;
        Some(ParameterOperator::Transform(transform))
    }

    /// Handles an invalid expansion. Searches its end from where it became invalid, without reading the text
    /// before it again.
    fn invalid_expansion(&mut self, start: usize, inside: usize, quoted: bool) -> Result<ParameterExpansion> {
        self.parts(WordMode::operand(quoted), &mut WordBuilder::default())?;
        if self.peek() != Some(b'}') {
            return Err(self.unclosed("}", "${", start));
        }
        let text = Bytes::from(self.input.slice(inside, self.input.at));
        self.input.at += 1;
        let operator = ParameterOperator::Invalid { text };
        Ok(ParameterExpansion { operator, ..plain(Parameter::Special(SpecialParameter::Count)) })
    }
}
