//! The parser's expectation at the position of an error.

use std::fmt;

/// The token or construct that the parser expected at a [`SyntaxError`](crate::SyntaxError). Its `Display` form is part of the
/// message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A token, such as `fi`.
    Token(&'static str),
    /// `then` after `if` or `elif`.
    ThenAfter(&'static str),
    /// `do` after the beginning of a loop.
    DoAfter(&'static str),
    /// `in` after the word of a `case`.
    InAfter(&'static str),
    /// `in`, `do` or `;` after the variable of a loop.
    LoopWords,
    /// `;` or a newline after the words of a loop.
    LoopSeparator,
    /// `;` between the expressions of `for ((`.
    ExpressionSeparator,
    /// `))` after the expressions of `for ((`.
    ExpressionsEnd,
    /// `)` after the pattern of a `case`.
    PatternEnd,
    /// A command.
    Command,
    /// A command after an operator.
    CommandAfter(&'static str),
    /// A command, and then the token that closes the construct.
    CommandAnd(&'static str),
    /// The body of a function.
    FunctionBody,
    /// A variable name after `for` or `select`.
    VariableAfter(&'static str),
    /// A word or `)` in the list of an array assignment.
    ArrayElement,
    /// A word, described for the message.
    Word(&'static str),
    /// A test or a word in `[[ ]]`.
    Test,
    /// The operand of a unary operator of `[[ ]]`.
    UnaryOperand,
    /// The right operand of a binary operator of `[[ ]]`.
    BinaryOperand,
    /// An operator of `[[ ]]`, or `]]`.
    TestOperator,
    /// An arithmetic operator.
    Operator,
    /// An operand of an operator.
    Operand,
    /// A number that is valid in its base.
    Number,
    /// A variable on the left of an assignment.
    AssignedVariable,
}

impl Expected {
    /// Returns the token that has to come next, if it is a single one.
    #[must_use]
    pub fn token(self) -> Option<&'static str> {
        match self {
            Self::Token(token) => Some(token),
            Self::ThenAfter(_) => Some("then"),
            Self::DoAfter(_) => Some("do"),
            Self::InAfter(_) | Self::LoopWords => Some("in"),
            Self::LoopSeparator | Self::ExpressionSeparator => Some(";"),
            Self::ExpressionsEnd => Some("))"),
            Self::PatternEnd => Some(")"),
            Self::TestOperator => Some("]]"),
            _ => None,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => write!(formatter, "\"{token}\""),
            Self::ThenAfter(keyword) => write!(formatter, "\"then\" after \"{keyword}\""),
            Self::DoAfter(keyword) => write!(formatter, "\"do\" after \"{keyword}\""),
            Self::InAfter(keyword) => write!(formatter, "\"in\" after \"{keyword}\""),
            Self::LoopSeparator => formatter.write_str("\";\" or a newline after the words of the loop"),
            Self::ExpressionSeparator => formatter.write_str("\";\" in \"for ((\""),
            Self::ExpressionsEnd => formatter.write_str("\"))\" after the third expression of \"for ((\""),
            Self::PatternEnd => formatter.write_str("\")\" after the \"case\" pattern"),
            Self::LoopWords => formatter.write_str("\"in\", \"do\" or \";\""),
            Self::Command => formatter.write_str("a command"),
            Self::CommandAfter(operator) => write!(formatter, "a command after \"{operator}\""),
            Self::CommandAnd(token) => write!(formatter, "a command and \"{token}\""),
            Self::FunctionBody => formatter.write_str("a function body"),
            Self::VariableAfter(keyword) => write!(formatter, "a variable name after \"{keyword}\""),
            Self::ArrayElement => formatter.write_str("a word or \")\""),
            Self::Word(description) => formatter.write_str(description),
            Self::TestOperator => formatter.write_str("an operator or \"]]\""),
            Self::Operator => formatter.write_str("an operator"),
            Self::Operand | Self::UnaryOperand | Self::BinaryOperand => formatter.write_str("an operand"),
            Self::Test => formatter.write_str("a test or a word"),
            Self::Number => formatter.write_str("a number"),
            Self::AssignedVariable => formatter.write_str("a variable before the assignment"),
        }
    }
}
