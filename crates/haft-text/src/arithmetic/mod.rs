//! Evaluation of arithmetic expressions.
//!
//! Numbers have 64 bits and wrap around. The value of a variable is an expression again, evaluated when it is met; values that are
//! plain numbers, which nearly all are, take a short way that neither parses nor allocates.

mod evaluate;
mod operators;
#[cfg(test)]
mod tests;

use haft_lang::ast::{ArithmeticTree, Text};

use crate::Bytes;

/// How deep variables may lead to expressions that hold variables.
const DEPTH: u32 = 1024;

/// The variables of an expression, and what else it needs of its surroundings.
pub trait Variables {
    /// Why something could not be read or written, or evaluated.
    type Error: From<ArithmeticError>;

    /// The value of a variable; empty if it has none.
    ///
    /// # Errors
    /// If it may not be read.
    fn get(&mut self, name: &Text) -> Result<Bytes, Self::Error>;

    /// Assigns to a variable.
    ///
    /// # Errors
    /// If it may not be written.
    fn set(&mut self, name: &Text, value: i64) -> Result<(), Self::Error>;

    /// Whether a variable is an array by key.
    fn is_associative(&mut self, name: &Text) -> bool;

    /// The value of an element; empty if it has none.
    ///
    /// # Errors
    /// If it may not be read.
    fn get_element(&mut self, name: &Text, key: Key<'_>) -> Result<Bytes, Self::Error>;

    /// Assigns to an element.
    ///
    /// # Errors
    /// If it may not be written.
    fn set_element(&mut self, name: &Text, key: Key<'_>, value: i64) -> Result<(), Self::Error>;

    /// What the part of the text at this index expanded to.
    ///
    /// # Errors
    /// If it expanded to nothing that the expression can hold.
    fn expansion(&mut self, part: u32) -> Result<i64, Self::Error>;
}

/// Which element of an array is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The one of this number; negative ones count from the end.
    Index(i64),
    /// The one of this key, as it was written between the brackets: quotes are still to be removed.
    Text(&'a [u8]),
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArithmeticError {
    /// A division by 0, or its remainder.
    #[error("division by 0")]
    DivisionByZero,
    /// A power with a negative exponent.
    #[error("exponent less than 0")]
    NegativeExponent,
    /// Variables lead to variables without end.
    #[error("expression recursion level exceeded")]
    TooDeep,
    /// An array without a subscript that could be one.
    #[error("bad array subscript")]
    BadSubscript,
    /// Not an expression.
    #[error("{0}")]
    Syntax(String),
    /// The value of a variable is not an expression.
    #[error("{message}")]
    Value {
        /// The value.
        text: String,
        /// What is wrong with it.
        message: String,
    },
}

impl ArithmeticError {
    /// What is said of an expression that fails: the text at fault, and why.
    #[must_use]
    pub fn of(&self, expression: &[u8]) -> String {
        match self {
            Self::Value { text, message } => format!("{text}: {message}"),
            _ => format!("{}: {self}", String::from_utf8_lossy(expression).trim()),
        }
    }

    /// What is wrong with a text, as bash tells it.
    fn syntax(text: &[u8], error: &haft_lang::SyntaxError, depth: u32) -> Self {
        let rest = text.get(error.span.start as usize..).unwrap_or_default();
        let token = match rest {
            // At the end, what came last is at fault.
            [] => {
                let trimmed = text.trim_ascii_end();
                &trimmed[trimmed.len().saturating_sub(1)..]
            }
            rest => rest,
        };
        let problem = match error.expected.as_deref() {
            Some("an operand") => "syntax error: operand expected",
            Some("a number") => "value too great for base",
            Some("a variable before the assignment") => "attempted assignment to non-variable",
            Some("\")\"") => "missing `)'",
            Some("\":\"") => "`:' expected for conditional expression",
            Some("an operator") if token.starts_with(b".") => "syntax error: invalid arithmetic operator",
            _ => "syntax error in expression",
        };
        let message = format!("{problem} (error token is \"{}\")", String::from_utf8_lossy(token));
        match depth {
            0 => Self::Syntax(message),
            _ => Self::Value { text: String::from_utf8_lossy(text).trim().to_owned(), message },
        }
    }
}

/// The value of a parsed expression.
///
/// # Errors
/// If it has none.
pub fn evaluate<V: Variables>(tree: &ArithmeticTree, variables: &mut V) -> Result<i64, V::Error> {
    evaluate::Evaluator::new(tree, variables, 1).root()
}

/// The value of an expression in which everything has been expanded. Empty text is 0.
///
/// # Errors
/// If it is not an expression, or has no value.
pub fn evaluate_text<V: Variables>(text: &[u8], variables: &mut V) -> Result<i64, V::Error> {
    evaluate_nested(text, variables, 0)
}

fn evaluate_nested<V: Variables>(text: &[u8], variables: &mut V, depth: u32) -> Result<i64, V::Error> {
    if let Some(number) = plain_number(text) {
        return Ok(number);
    }
    if depth >= DEPTH {
        return Err(ArithmeticError::TooDeep.into());
    }
    let tree =
        haft_lang::parse_arithmetic(text).map_err(|error| ArithmeticError::syntax(text, &error, depth))?;
    evaluate::Evaluator::new(&tree, variables, depth + 1).root()
}

/// The number that a text is, if it is an optional minus and at most 18 decimal digits without a leading 0, or empty.
#[must_use]
#[inline]
pub fn plain_number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [] => return None,
        [b'0', _, ..] => return None,
        _ if digits.len() > 18 => return None,
        _ => {}
    }
    let mut number = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -number } else { number })
}
