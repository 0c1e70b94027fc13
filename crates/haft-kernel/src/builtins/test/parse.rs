//! Evaluation of the arguments of `test`.

use haft_text::Bytes;

use super::primary::{binary, unary};
use crate::session::Session;

/// Evaluates an expression, or returns an error message.
pub(super) fn evaluate(session: &mut Session, words: &[Bytes]) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [only] => Ok(!only.is_empty()),
        [first, second] => two(session, first, second),
        [first, second, third] => three(session, first, second, third),
        [first, rest @ ..] if rest.len() == 3 && first.as_bytes() == b"!" => {
            evaluate(session, rest).map(|truth| !truth)
        }
        [open, first, second, close] if open.as_bytes() == b"(" && close.as_bytes() == b")" => {
            two(session, first, second)
        }
        _ => TestExpression { session, words, at: 0 }.whole(),
    }
}

fn two(session: &mut Session, first: &Bytes, second: &Bytes) -> Result<bool, String> {
    if first.as_bytes() == b"!" {
        return Ok(second.is_empty());
    }
    match unary_letter(first) {
        Some(letter) => unary(session, letter, second),
        None => Err(format!("{first}: unary operator expected")),
    }
}

fn three(session: &mut Session, first: &Bytes, second: &Bytes, third: &Bytes) -> Result<bool, String> {
    if let Some(truth) = binary(session, first, second, third) {
        return truth;
    }
    match (first.as_bytes(), second.as_bytes(), third.as_bytes()) {
        (_, b"-a", _) => Ok(!first.is_empty() && !third.is_empty()),
        (_, b"-o", _) => Ok(!first.is_empty() || !third.is_empty()),
        (b"!", ..) => two(session, second, third).map(|truth| !truth),
        (b"(", _, b")") => Ok(!second.is_empty()),
        _ => Err(format!("{second}: binary operator expected")),
    }
}

/// Returns the letter of a unary operator.
pub(super) fn unary_letter(word: &[u8]) -> Option<u8> {
    match word {
        [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter) => Some(*letter),
        _ => None,
    }
}

/// How deep parentheses and negations may be nested.
const MAX_NESTING_DEPTH: usize = 500;

struct TestExpression<'a> {
    session: &'a mut Session,
    words: &'a [Bytes],
    at: usize,
}

impl TestExpression<'_> {
    fn whole(&mut self) -> Result<bool, String> {
        let truth = self.any(0)?;
        match self.words.get(self.at) {
            None => Ok(truth),
            Some(word) if word.starts_with(b"-") && self.at > 0 => {
                Err(format!("syntax error: `{word}' unexpected"))
            }
            Some(_) => Err("too many arguments".to_owned()),
        }
    }

    fn is_next(&self, operator: &[u8]) -> bool {
        self.words.get(self.at).is_some_and(|word| word.as_bytes() == operator)
    }

    fn any(&mut self, depth: usize) -> Result<bool, String> {
        let mut truth = self.all(depth)?;
        while self.is_next(b"-o") {
            self.at += 1;
            truth |= self.all(depth)?;
        }
        Ok(truth)
    }

    fn all(&mut self, depth: usize) -> Result<bool, String> {
        let mut truth = self.term(depth)?;
        while self.is_next(b"-a") {
            self.at += 1;
            truth &= self.term(depth)?;
        }
        Ok(truth)
    }

    fn term(&mut self, depth: usize) -> Result<bool, String> {
        if depth > MAX_NESTING_DEPTH {
            return Err("expression too deep".to_owned());
        }
        let mut negate = false;
        while self.is_next(b"!") && self.words.len() > self.at + 1 {
            self.at += 1;
            negate = !negate;
        }
        self.primary(depth).map(|truth| truth != negate)
    }

    fn primary(&mut self, depth: usize) -> Result<bool, String> {
        let words = self.words;
        let rest = words.get(self.at..).unwrap_or_default();
        if let [left, operator, right, ..] = rest
            && let Some(truth) = binary(self.session, left, operator, right)
        {
            self.at += 3;
            return truth;
        }
        match rest {
            [] => Err("argument expected".to_owned()),
            [open, _, ..] if open.as_bytes() == b"(" => {
                self.at += 1;
                let truth = self.any(depth + 1)?;
                if !self.is_next(b")") {
                    return Err(match self.words.get(self.at) {
                        Some(word) => format!("`)' expected, found {word}"),
                        None => "`)' expected".to_owned(),
                    });
                }
                self.at += 1;
                Ok(truth)
            }
            [operator, operand, ..] if unary_letter(operator).is_some() => {
                self.at += 2;
                unary(self.session, operator[1], operand)
            }
            [word, ..] => {
                self.at += 1;
                Ok(!word.is_empty())
            }
        }
    }
}
