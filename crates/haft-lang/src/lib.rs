//! Bash text to a checked, plannable program.

pub mod ast;
mod error;
mod parse;
mod print;

pub use ast::{Program, Span};
pub use error::{ErrorKind, Opened, SyntaxError};
pub use parse::{
    MAXIMUM_DEPTH, Options, Parser, parse, parse_arithmetic, parse_arithmetic_text, parse_quoted,
};
pub use print::{print, print_command, print_function, print_word};
