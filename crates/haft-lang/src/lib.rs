//! Bash text to a checked, plannable program.

pub mod ast;
mod error;
mod parse;

pub use ast::{Program, Span};
pub use error::{ErrorKind, Opened, SyntaxError};
pub use parse::{
    MAXIMUM_DEPTH, Options, Parser, parse, parse_arithmetic, parse_arithmetic_text, parse_quoted,
};
