//! Bash text to a checked, plannable program.

pub mod ast;
pub mod check;
mod error;
mod parse;
pub mod plan;
mod print;
mod resolve;
mod script;
pub mod walk;

pub use ast::{Program, Span};
pub use error::{ErrorKind, Opened, SyntaxError};
pub use parse::{
    MAXIMUM_DEPTH, Options, Parser, parse, parse_arithmetic, parse_arithmetic_text, parse_quoted,
};
pub use print::{print, print_command, print_function, print_word};
pub use resolve::{BUILTINS, BuiltinsOnly, Resolution, Resolver, is_builtin};
pub use script::{Script, read_script};
