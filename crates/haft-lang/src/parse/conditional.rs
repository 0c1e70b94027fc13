//! Conditional commands: `[[ … ]]`.

use crate::Expected;
use crate::ast::{BinaryTest, CommandKind, Conditional, ConditionalKind, SharedSlice, UnaryTest, Word};
use crate::error::Opened;

use super::word::WordMode;
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses `[[ … ]]`, after the opening brackets.
    pub(super) fn conditional_command(&mut self, opened: Opened) -> Result<CommandKind> {
        let expression = self.alternation(opened)?;
        if !self.eat_closing_brackets() {
            let mut error = self.unexpected(Some(Expected::Token("]]")), Some(opened));
            error.hint = Some(
                "\"]]\" must be a separate word; quote operands that contain blanks or operators".to_owned(),
            );
            return Err(error);
        }
        Ok(CommandKind::Conditional(Box::new(expression)))
    }

    fn at_closing_brackets(&mut self) -> bool {
        let start = self.input.at;
        let found = self.eat_closing_brackets();
        self.input.at = start;
        found
    }

    fn eat_closing_brackets(&mut self) -> bool {
        let start = self.input.at;
        let found = self.eat_all(b"]]") && self.at_break();
        if !found {
            self.input.at = start;
        }
        found
    }

    /// `a || b`.
    fn alternation(&mut self, opened: Opened) -> Result<Conditional> {
        self.chain(b"||", opened, Self::conjunction, ConditionalKind::Or)
    }

    /// `a && b`.
    fn conjunction(&mut self, opened: Opened) -> Result<Conditional> {
        self.chain(b"&&", opened, Self::term, ConditionalKind::And)
    }

    fn chain(
        &mut self,
        operator: &[u8],
        opened: Opened,
        operand: fn(&mut Self, Opened) -> Result<Conditional>,
        join: fn(SharedSlice<Conditional>) -> ConditionalKind,
    ) -> Result<Conditional> {
        let first = operand(self, opened)?;
        let mut all = vec![first];
        self.skip_newlines()?;
        while self.eat_all(operator) {
            all.push(operand(self, opened)?);
            self.skip_newlines()?;
        }
        let span = all[0].span.to(all[all.len() - 1].span);
        if all.len() > 1 {
            return Ok(Conditional { span, kind: join(self.arena.slice_from(&mut all)) });
        }
        Ok(all.remove(0))
    }

    fn term(&mut self, opened: Opened) -> Result<Conditional> {
        self.skip_newlines()?;
        let start = self.input.at;
        let kind = match self.peek() {
            Some(b'(') => self.nested(|parser| parser.grouped(opened))?,
            Some(b'!') if self.at_lone_bang() => {
                self.input.at += 1;
                ConditionalKind::Not(Box::new(self.nested(|parser| parser.term(opened))?))
            }
            _ => self.test(opened)?,
        };
        Ok(Conditional { span: self.span_from(start), kind })
    }

    fn at_lone_bang(&mut self) -> bool {
        let start = self.input.at;
        self.input.at += 1;
        let lone = self.at_break();
        self.input.at = start;
        lone
    }

    fn grouped(&mut self, opened: Opened) -> Result<ConditionalKind> {
        let start = self.input.at;
        self.input.at += 1;
        let inner = self.alternation(opened)?;
        if !self.eat(b')') {
            let opened = self.opened("(", start);
            return Err(self.unexpected(Some(Expected::Token(")")), Some(opened)));
        }
        Ok(ConditionalKind::Group(Box::new(inner)))
    }

    /// Parses a unary test, a binary test or a single word.
    fn test(&mut self, opened: Opened) -> Result<ConditionalKind> {
        let single = WordMode::single(self.options.extglob);
        let left = self.operand(single, opened, Expected::Test)?;
        if let Some(test) = unary(&left) {
            self.skip_blanks();
            let operand = self.operand(single, opened, Expected::UnaryOperand)?;
            return Ok(ConditionalKind::Unary { test, operand });
        }
        self.skip_blanks();
        let ends = match self.peek() {
            Some(b')') => true,
            Some(b'&') => self.peek_second() == Some(b'&'),
            Some(b'|') => self.peek_second() == Some(b'|'),
            _ => self.at_closing_brackets(),
        };
        if ends {
            return Ok(ConditionalKind::Word(left));
        }
        let Some(test) = self.binary_test()? else {
            let mut error = self.unexpected(Some(Expected::TestOperator), None);
            error.opened = error.incomplete.then_some(opened);
            return Err(error);
        };
        self.skip_blanks();
        let mode = match test {
            BinaryTest::Regex => WordMode::regex(),
            BinaryTest::Matches | BinaryTest::MatchesSingle | BinaryTest::NotMatches => {
                WordMode::pattern(true)
            }
            _ => single,
        };
        let right = self.operand(mode, opened, Expected::BinaryOperand)?;
        Ok(ConditionalKind::Binary { test, left, right })
    }

    fn operand(&mut self, mode: WordMode, opened: Opened, expected: Expected) -> Result<Word> {
        let start = self.input.at;
        if !self.at_closing_brackets() {
            let word = self.word(mode)?;
            if self.input.at > start {
                return Ok(word);
            }
        }
        let mut error = self.unexpected(Some(expected), None);
        error.opened = error.incomplete.then_some(opened);
        Err(error)
    }

    fn binary_test(&mut self) -> Result<Option<BinaryTest>> {
        match self.peek() {
            Some(b'<') => {
                self.input.at += 1;
                return Ok(Some(BinaryTest::Before));
            }
            Some(b'>') => {
                self.input.at += 1;
                return Ok(Some(BinaryTest::After));
            }
            Some(b'=' | b'!' | b'-') => {}
            _ => return Ok(None),
        }
        let start = self.input.at;
        let word = self.word(WordMode::single(false))?;
        let test = word.plain().and_then(BinaryTest::from_symbol);
        if test.is_none() {
            self.input.at = start;
        }
        Ok(test)
    }
}

/// Returns the unary test for a word.
fn unary(word: &Word) -> Option<UnaryTest> {
    match word.plain()? {
        [b'-', letter] => UnaryTest::from_letter(*letter),
        _ => None,
    }
}
