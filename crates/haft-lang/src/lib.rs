//! Bash text to a checked, plannable program.

pub mod ast;

pub use ast::{Program, Span};

/// Parses the text of an arithmetic expression in which everything has been expanded.
///
/// # Errors
/// If it is not an expression.
pub fn parse_arithmetic(_text: &[u8]) -> Result<ast::ArithmeticTree, std::convert::Infallible> {
    Ok(ast::ArithmeticTree::new(Vec::new()))
}
