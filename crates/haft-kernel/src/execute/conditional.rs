//! `[[ … ]]`.

use haft_lang::ast::{BinaryTest, Conditional, ConditionalKind, UnaryTest, Word};
use haft_text::Bytes;
use haft_text::pattern::{Pattern, PatternOptions};

use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;
use crate::session::Session;

/// Why a test has no result.
pub(super) enum TestFailure {
    /// It is invalid and was reported. The command ends with this status.
    Wrong(i32),
    /// Control leaves the command.
    Unwind(Unwind),
}

impl From<Unwind> for TestFailure {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

type Result<T> = std::result::Result<T, TestFailure>;

impl Session {
    #[inline(never)]
    pub(crate) fn run_conditional(&mut self, conditional: &Conditional) -> Flow {
        self.run_debug_trap()?;
        match self.test(conditional, false) {
            Ok(true) => Ok(0),
            Ok(false) => Ok(1),
            Err(TestFailure::Wrong(status)) => Ok(status),
            Err(TestFailure::Unwind(unwind)) => Err(unwind),
        }
    }

    /// Evaluates a test. `negated` says that it follows a `!`, for the trace.
    fn test(&mut self, conditional: &Conditional, negated: bool) -> Result<bool> {
        match &conditional.kind {
            ConditionalKind::Or(operands) => {
                for operand in operands {
                    if self.test(operand, false)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            ConditionalKind::And(operands) => {
                for operand in operands {
                    if !self.test(operand, false)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ConditionalKind::Not(operand) => Ok(!self.test(operand, !negated)?),
            ConditionalKind::Group(operand) => self.test(operand, false),
            ConditionalKind::Unary { test, operand } => self.test_unary(*test, operand, negated),
            ConditionalKind::Binary { test, left, right } => self.test_binary(*test, left, right, negated),
            ConditionalKind::Word(word) => {
                let text = self.expand_string(word)?;
                self.trace_test(negated, &[b"-n", &text])?;
                Ok(!text.is_empty())
            }
        }
    }

    /// Traces a test with its expanded operands. Quoted characters of a pattern have a backslash.
    pub(super) fn trace_test(&mut self, negated: bool, words: &[&[u8]]) -> std::result::Result<(), Unwind> {
        if !self.traces() {
            return Ok(());
        }
        let shown: Vec<&[u8]> =
            words.iter().map(|word| if word.is_empty() { b"''" } else { *word }).collect();
        let not: &[u8] = if negated { b"! " } else { b"" };
        self.trace_text(&[b"[[ ".as_slice(), not, &shown.join(&b' '), b" ]]"].concat())
    }

    fn test_unary(&mut self, test: UnaryTest, operand: &Word, negated: bool) -> Result<bool> {
        let text = self.expand_string(operand)?;
        self.trace_test(negated, &[&[b'-', test.letter()], &text])?;
        match test.letter() {
            b'z' => Ok(text.is_empty()),
            b'n' => Ok(!text.is_empty()),
            letter => Ok(self.test_letter(letter, &text)?),
        }
    }

    fn test_binary(&mut self, test: BinaryTest, left: &Word, right: &Word, negated: bool) -> Result<bool> {
        let subject = self.expand_subject(left)?;
        match test {
            BinaryTest::MatchesSingle | BinaryTest::Matches => {
                self.test_match(test, &subject, right, negated)
            }
            BinaryTest::NotMatches => Ok(!self.test_match(test, &subject, right, negated)?),
            BinaryTest::Regex => self.test_regex(&subject, right, negated),
            _ => {
                let other = self.expand_string(right)?;
                self.trace_test(negated, &[&subject, test.symbol().as_bytes(), &other])?;
                self.compare(test, &subject, &other)
            }
        }
    }

    fn test_match(&mut self, test: BinaryTest, subject: &[u8], right: &Word, negated: bool) -> Result<bool> {
        let ignore_case = self.options.shell(ShellOption::NoCaseMatch);
        if let (Some(text), false) = (right.literal(), ignore_case || self.traces()) {
            return Ok(text == subject);
        }
        let pattern = self.expand_pattern(right)?;
        self.trace_test(negated, &[subject, test.symbol().as_bytes(), &pattern])?;
        let options = PatternOptions { extended: true, ..self.pattern_options_for(subject) };
        Ok(Pattern::compile(&pattern, options).matches(subject))
    }

    /// Evaluates a test that compares numbers, strings or files.
    fn compare(&mut self, test: BinaryTest, left: &Bytes, right: &Bytes) -> Result<bool> {
        match test {
            BinaryTest::Before | BinaryTest::After => {
                let order = match self.collation() {
                    Some(locale) => locale.compare(left, right),
                    None => left.cmp(right),
                };
                return Ok(if test == BinaryTest::Before { order.is_lt() } else { order.is_gt() });
            }
            BinaryTest::Newer | BinaryTest::Older | BinaryTest::SameFile => {
                return Ok(self.test_files(test, left, right));
            }
            _ => {}
        }
        let (left, right) = (self.number_in_test(left)?, self.number_in_test(right)?);
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

    /// Evaluates an operand of a numeric comparison. An error ends only the test.
    fn number_in_test(&mut self, text: &[u8]) -> Result<i64> {
        self.evaluate_text_for("[[: ", text).map_err(|unwind| match unwind {
            Unwind::Abort(status) => TestFailure::Wrong(status),
            unwind => TestFailure::Unwind(unwind),
        })
    }
}
