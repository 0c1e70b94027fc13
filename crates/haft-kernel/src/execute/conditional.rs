//! `[[ … ]]`.

use haft_lang::ast::{BinaryTest, Conditional, ConditionalKind, UnaryTest, Word};

use crate::bytes::Bytes;
use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;
use crate::pattern::{Pattern, PatternOptions};
use crate::session::Session;

impl Session {
    #[inline(never)]
    pub(crate) fn run_conditional(&mut self, conditional: &Conditional) -> Flow {
        self.run_debug_trap()?;
        match self.test(conditional) {
            Ok(true) => Ok(0),
            Ok(false) => Ok(1),
            // A wrong expression ends the test, with a status of its own; what has been reported is not said again.
            Err(Unwind::Abort(status)) => Ok(status),
            Err(unwind) => Err(unwind),
        }
    }

    fn test(&mut self, conditional: &Conditional) -> Result<bool, Unwind> {
        match &conditional.kind {
            ConditionalKind::Or(operands) => {
                for operand in operands {
                    if self.test(operand)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            ConditionalKind::And(operands) => {
                for operand in operands {
                    if !self.test(operand)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ConditionalKind::Not(operand) => Ok(!self.test(operand)?),
            ConditionalKind::Group(operand) => self.test(operand),
            ConditionalKind::Unary { test, operand } => self.test_unary(*test, operand),
            ConditionalKind::Binary { test, left, right } => self.test_binary(*test, left, right),
            ConditionalKind::Word(word) => {
                let text = self.expand_string(word)?;
                self.trace_test(&[b"-n", &text])?;
                Ok(!text.is_empty())
            }
        }
    }

    fn trace_test(&mut self, words: &[&[u8]]) -> Result<(), Unwind> {
        if !self.options.has(crate::options::SetOption::Trace) {
            return Ok(());
        }
        let shown: Vec<Vec<u8>> = words.iter().map(|word| crate::quote::traced(word)).collect();
        self.trace_text(&[b"[[ ".as_slice(), &shown.join(&b' '), b" ]]"].concat())
    }

    fn test_unary(&mut self, test: UnaryTest, operand: &Word) -> Result<bool, Unwind> {
        let text = self.expand_string(operand)?;
        self.trace_test(&[&[b'-', test.letter()], &text])?;
        match test.letter() {
            b'z' => Ok(text.is_empty()),
            b'n' => Ok(!text.is_empty()),
            letter => self.test_letter(letter, &text),
        }
    }

    fn test_binary(&mut self, test: BinaryTest, left: &Word, right: &Word) -> Result<bool, Unwind> {
        let subject = self.expand_string(left)?;
        match test {
            BinaryTest::MatchesSingle | BinaryTest::Matches => self.test_match(test, &subject, right),
            BinaryTest::MatchesNot => Ok(!self.test_match(test, &subject, right)?),
            BinaryTest::Regex => self.test_regex(&subject, right),
            _ => {
                let other = self.expand_string(right)?;
                self.trace_test(&[&subject, test.symbol().as_bytes(), &other])?;
                self.compare(test, &subject, &other)
            }
        }
    }

    fn test_match(&mut self, test: BinaryTest, subject: &[u8], right: &Word) -> Result<bool, Unwind> {
        let ignore_case = self.options.shell(ShellOption::NoCaseMatch);
        if let (Some(text), false) = (right.literal(), ignore_case) {
            self.trace_test(&[subject, test.symbol().as_bytes(), text])?;
            return Ok(text == subject);
        }
        let pattern = self.expand_pattern(right)?;
        self.trace_test(&[subject, test.symbol().as_bytes(), &pattern])?;
        let options = PatternOptions { extended: true, ignore_case, bytewise: false };
        Ok(Pattern::compile(&pattern, options).matches(subject))
    }

    /// The tests that compare: numbers, strings, files.
    fn compare(&mut self, test: BinaryTest, left: &Bytes, right: &Bytes) -> Result<bool, Unwind> {
        match test {
            BinaryTest::Before => return Ok(left < right),
            BinaryTest::After => return Ok(left > right),
            BinaryTest::Newer | BinaryTest::Older | BinaryTest::SameFile => {
                return Ok(self.test_files(test, left, right));
            }
            _ => {}
        }
        let (left, right) = (self.evaluate_or_fail(left)?, self.evaluate_or_fail(right)?);
        Ok(match test {
            BinaryTest::Equal => left == right,
            BinaryTest::NotEqual => left != right,
            BinaryTest::Less => left < right,
            BinaryTest::LessOrEqual => left <= right,
            BinaryTest::Greater => left > right,
            BinaryTest::GreaterOrEqual => left >= right,
            _ => false,
        })
    }
}
