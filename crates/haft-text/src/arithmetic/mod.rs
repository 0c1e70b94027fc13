//! Evaluation of arithmetic expressions.
//!
//! Numbers have 64 bits and wrap around. The value of a variable is itself an expression, evaluated when the variable is read. A value
//! that is a plain number, as nearly all are, is neither parsed nor copied.

mod diagnose;
mod evaluate;
mod operators;
#[cfg(test)]
mod tests;

use haft_lang::ast::ArithmeticTree;

use crate::Bytes;

/// How often the value of a variable may lead to another variable before evaluation fails.
const MAX_VARIABLE_DEPTH: u32 = 1024;

/// The variables and expansions that an expression refers to.
pub trait ArithmeticVariables {
    /// Why a variable could not be read or written, or an expression not be evaluated.
    type Error: From<ArithmeticError>;

    /// Returns the value of a variable; empty if it is unset.
    ///
    /// # Errors
    /// If it may not be read.
    fn get(&mut self, name: &Bytes) -> Result<Bytes, Self::Error>;

    /// Assigns to a variable.
    ///
    /// # Errors
    /// If it may not be written.
    fn set(&mut self, name: &Bytes, value: i64) -> Result<(), Self::Error>;

    /// Tells whether a variable is an associative array.
    fn is_associative(&mut self, name: &Bytes) -> bool;

    /// Returns the value of an array element; empty if it is unset.
    ///
    /// # Errors
    /// If it may not be read.
    fn get_element(&mut self, name: &Bytes, key: ArithmeticKey<'_>) -> Result<Bytes, Self::Error>;

    /// Assigns to an array element.
    ///
    /// # Errors
    /// If it may not be written.
    fn set_element(&mut self, name: &Bytes, key: ArithmeticKey<'_>, value: i64) -> Result<(), Self::Error>;

    /// Performs the expansions in a subscript, as in `let 'a[$i]=1'`.
    ///
    /// # Errors
    /// If an expansion fails.
    fn expand_subscript(&mut self, text: &[u8]) -> Result<Bytes, Self::Error>;

    /// Returns the number that an expansion within the expression yielded, by the index of its word part.
    ///
    /// # Errors
    /// If the expansion yielded no number.
    fn expansion(&mut self, part: u32) -> Result<i64, Self::Error>;
}

/// The subscript of an array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticKey<'a> {
    /// An index; negative ones count from the end.
    Index(i64),
    /// A key of an associative array as it was written between the brackets, before quote removal.
    Text(&'a [u8]),
}

/// Why an expression could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArithmeticError {
    /// A division by 0, or a remainder of one.
    #[error("division by 0")]
    DivisionByZero,
    /// A power with a negative exponent.
    #[error("exponent less than 0")]
    NegativeExponent,
    /// The values of variables refer to one another too often.
    #[error("expression recursion level exceeded")]
    TooDeep,
    /// A subscript that is neither an index nor a key.
    #[error("bad array subscript")]
    BadSubscript,
    /// The expression is invalid in a way for which bash has no words.
    #[error("{0}")]
    Syntax(String),
    /// The expression, or the value of a variable in it, is invalid.
    #[error("{message}")]
    Value {
        /// The invalid text.
        text: String,
        /// The error message.
        message: String,
    },
}

impl ArithmeticError {
    /// Returns the message that bash prints: the text at fault, and the reason.
    #[must_use]
    pub fn describe(&self, expression: &[u8]) -> String {
        match self {
            Self::Value { text, message } => format!("{text}: {message}"),
            Self::DivisionByZero => {
                let token = String::from_utf8_lossy(diagnose::divisor(expression)).into_owned();
                format!("{}: {self} (error token is \"{token}\")", shown(expression))
            }
            _ => format!("{}: {self}", shown(expression)),
        }
    }

    /// Converts a syntax error to the error of bash.
    fn syntax(text: &[u8], error: &haft_lang::SyntaxError) -> Self {
        let Some(found) = diagnose::diagnose(text) else { return Self::Syntax(error.message()) };
        let token = String::from_utf8_lossy(&found.token);
        let message = format!("{} (error token is \"{token}\")", found.problem);
        Self::Value { text: shown(&found.shown), message }
    }
}

/// An expression as messages show it.
fn shown(expression: &[u8]) -> String {
    String::from_utf8_lossy(expression.trim_ascii_start()).into_owned()
}

/// Evaluates a parsed expression.
///
/// # Errors
/// If the evaluation fails, or a variable cannot be read or written.
pub fn evaluate<V: ArithmeticVariables>(tree: &ArithmeticTree, variables: &mut V) -> Result<i64, V::Error> {
    evaluate::Evaluator::new(tree, variables, 1).root()
}

/// Parses and evaluates an expression after expansions. Empty text is 0.
///
/// # Errors
/// If the text is not an expression, or its evaluation fails.
pub fn evaluate_text<V: ArithmeticVariables>(text: &[u8], variables: &mut V) -> Result<i64, V::Error> {
    evaluate_nested(text, variables, 0)
}

fn evaluate_nested<V: ArithmeticVariables>(
    text: &[u8],
    variables: &mut V,
    depth: u32,
) -> Result<i64, V::Error> {
    if let Some(number) = plain_number(text) {
        return Ok(number);
    }
    if depth >= MAX_VARIABLE_DEPTH {
        return Err(ArithmeticError::TooDeep.into());
    }
    let tree = haft_lang::parse_arithmetic(text).map_err(|error| ArithmeticError::syntax(text, &error))?;
    evaluate::Evaluator::new(&tree, variables, depth + 1).root()
}

/// Parses a decimal number of at most 18 digits, with an optional minus and without a leading 0. Empty text is 0. Returns `None` for
/// every other text, which may still be an expression.
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
