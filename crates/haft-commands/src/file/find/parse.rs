//! Reading the expression of `find`.

mod predicate;

use haft_kernel::Bytes;

use super::super::time::now;
use super::expression::{Action, Batch, Expression, FindFollow, Search, Test};
use crate::text::streams::{Stop, TextRun};

/// Reads the words of an expression.
pub(super) struct ExpressionParser<'w> {
    words: &'w [Bytes],
    position: usize,
    /// Open parentheses.
    nesting: usize,
    options: GlobalOptions,
    batches: Vec<Batch>,
    /// Whether an action makes `-print` unnecessary.
    has_action: bool,
    has_delete: bool,
    has_prune: bool,
    has_explicit_depth: bool,
}

/// Options that hold for the whole search.
struct GlobalOptions {
    follow: FindFollow,
    max_depth: u64,
    min_depth: u64,
    depth_first: bool,
    one_device: bool,
    start: haft_fs::Timestamp,
    day_start: bool,
}

/// The deepest nesting of an expression.
const MAX_NESTING: usize = 500;

/// Whether a word begins the expression.
fn begins_expression(word: &[u8]) -> bool {
    matches!(word, [b'-', _, ..] | b"(" | b"!")
}

/// Reads the arguments.
pub(super) fn parse(run: &mut TextRun<'_, '_>, words: &[Bytes]) -> Result<Search, Stop> {
    let mut follow = FindFollow::Never;
    let mut position = 0;
    while let Some(word) = words.get(position) {
        follow = match &**word {
            b"-P" => FindFollow::Never,
            b"-H" => FindFollow::CommandLine,
            b"-L" => FindFollow::Always,
            b"--" => {
                position += 1;
                break;
            }
            _ => break,
        };
        position += 1;
    }
    let end = words[position..].iter().position(|word| begins_expression(word));
    let end = end.map_or(words.len(), |index| position + index);
    let mut paths = words[position..end].to_vec();
    if paths.is_empty() {
        paths.push(Bytes::from("."));
    }
    let options = GlobalOptions {
        follow,
        max_depth: u64::MAX,
        min_depth: 0,
        depth_first: false,
        one_device: false,
        start: now(),
        day_start: false,
    };
    let mut parser = ExpressionParser {
        words: &words[end..],
        position: 0,
        nesting: 0,
        options,
        batches: Vec::new(),
        has_action: false,
        has_delete: false,
        has_prune: false,
        has_explicit_depth: false,
    };
    let expression = parser.whole(run)?;
    let options = parser.options;
    Ok(Search {
        paths,
        follow: options.follow,
        max_depth: options.max_depth,
        min_depth: options.min_depth,
        depth_first: options.depth_first,
        one_device: options.one_device,
        expression,
        batches: parser.batches,
    })
}

impl ExpressionParser<'_> {
    fn peek(&self) -> Option<&[u8]> {
        self.words.get(self.position).map(|word| &**word)
    }

    fn is_next(&self, words: &[&[u8]]) -> bool {
        self.peek().is_some_and(|word| words.contains(&word))
    }

    fn whole(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        let expression = match self.peek() {
            None => Expression::Test(Test::Constant(true)),
            Some(_) => self.list(run)?,
        };
        if self.is_next(&[b")"]) {
            return run.fail("you have too many ')'");
        }
        if self.has_delete && self.has_prune && !self.has_explicit_depth {
            return run.fail(
                "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  \
                 If you want to carry on anyway, just explicitly use the -depth option.",
            );
        }
        if self.has_action {
            return Ok(expression);
        }
        let print = Expression::Action(Action::Print(b'\n'));
        Ok(Expression::And(Box::new(expression), Box::new(print)))
    }

    /// Expressions separated by commas.
    fn list(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        self.binary(run, &[b","], Self::alternatives, Expression::List)
    }

    fn alternatives(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        self.binary(run, &[b"-o", b"-or"], Self::sequence, Expression::Or)
    }

    fn binary(
        &mut self,
        run: &mut TextRun<'_, '_>,
        operators: &[&[u8]],
        operand: fn(&mut Self, &mut TextRun<'_, '_>) -> Result<Expression, Stop>,
        join: fn(Box<Expression>, Box<Expression>) -> Expression,
    ) -> Result<Expression, Stop> {
        let mut left = operand(self, run)?;
        while self.is_next(operators) {
            let operator = self.words[self.position].clone();
            self.position += 1;
            self.require_operand(run, &operator)?;
            left = join(Box::new(left), Box::new(operand(self, run)?));
        }
        Ok(left)
    }

    /// Expressions that are joined by `-a` or by nothing.
    fn sequence(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        let mut left = self.negation(run)?;
        loop {
            if self.is_next(&[b"-a", b"-and"]) {
                let operator = self.words[self.position].clone();
                self.position += 1;
                self.require_operand(run, &operator)?;
            } else if self.peek().is_none() || self.is_next(&[b"-o", b"-or", b",", b")"]) {
                return Ok(left);
            }
            left = Expression::And(Box::new(left), Box::new(self.negation(run)?));
        }
    }

    fn require_operand(&self, run: &mut TextRun<'_, '_>, operator: &[u8]) -> Result<(), Stop> {
        match self.peek() {
            None if self.has_action => run.fail("invalid expression"),
            None => {
                let shown = String::from_utf8_lossy(operator).into_owned();
                run.fail(format_args!("expected an expression after '{shown}'"))
            }
            Some(b")") => {
                let shown = String::from_utf8_lossy(operator).into_owned();
                run.fail(format_args!("expected an expression between '{shown}' and ')'"))
            }
            Some(_) => Ok(()),
        }
    }

    fn negation(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return run.fail("the expression is nested too deeply");
        }
        let found = self.unary(run);
        self.nesting -= 1;
        found
    }

    fn unary(&mut self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        let Some(word) = self.words.get(self.position).cloned() else {
            return run.fail("invalid expression");
        };
        match &*word {
            b"!" | b"-not" => {
                self.position += 1;
                self.require_operand(run, &word)?;
                Ok(Expression::Not(Box::new(self.negation(run)?)))
            }
            b"(" => {
                self.position += 1;
                if self.is_next(&[b")"]) {
                    return run.fail("invalid expression; empty parentheses are not allowed.");
                }
                if self.peek().is_none() {
                    return run.fail(
                        "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate \
                         after '('",
                    );
                }
                let inner = self.list(run)?;
                if !self.is_next(&[b")"]) {
                    return self.unclosed(run);
                }
                self.position += 1;
                Ok(inner)
            }
            b")" => run.fail("invalid expression; you have used ')' with nothing before it."),
            b"-o" | b"-or" | b"-a" | b"-and" | b"," => {
                let shown = String::from_utf8_lossy(&word).into_owned();
                run.fail(format_args!(
                    "invalid expression; you have used a binary operator '{shown}' with nothing before it."
                ))
            }
            _ => {
                self.position += 1;
                self.predicate(run, &word)
            }
        }
    }

    fn unclosed(&self, run: &mut TextRun<'_, '_>) -> Result<Expression, Stop> {
        run.fail("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
    }
}
