//! Bash text to a checked, plannable program.
//!
//! This crate is the only place that knows bash's syntax. It turns bytes into a [`Program`], typed to the last word, with a
//! byte span on everything; it does no I/O, runs nothing, and depends on nothing of ours. What can be said about a program
//! before it runs is said by [`check`] and [`plan`].
//!
//! ```
//! use haft_lang::{ParseOptions, parse};
//! use haft_lang::ast::CommandKind;
//!
//! let program = parse(b"grep -n 'two words' *.txt | sort >out", &ParseOptions::default())?;
//! let pipeline = &program.body.statements[0].first;
//! let CommandKind::Simple(grep) = &pipeline.stages[0].kind else { unreachable!() };
//! assert_eq!(grep.name(), Some(b"grep".as_slice()));
//! assert_eq!(grep.arguments[2].word().and_then(|word| word.literal()), Some(b"two words".as_slice()));
//! # Ok::<(), haft_lang::SyntaxError>(())
//! ```
//!
//! The tree is described in [`ast`]. [`print()`] turns it back into a text that parses to an equal tree; [`print_function`] shows
//! a function as `declare -f` does.
//!
//! # One command at a time
//!
//! bash runs a script as it reads it: a syntax error on the tenth line does not keep the first nine from running, and what
//! they did to aliases and options holds from there on. A [`Parser`] hands out complete commands the same way.
//!
//! ```
//! use haft_lang::{ParseOptions, Parser};
//!
//! let mut parser = Parser::new(b"shopt -s extglob\nls !(*.o)\n", ParseOptions::default());
//! assert!(parser.next_complete_command()?.is_some());
//! parser.options_mut().extglob = true;
//! assert!(parser.next_complete_command()?.is_some());
//! assert!(parser.next_complete_command()?.is_none());
//! # Ok::<(), haft_lang::SyntaxError>(())
//! ```
//!
//! # Refusing
//!
//! A [`SyntaxError`] names what was found, what was expected, what that would have closed and where that was opened. It tells
//! incomplete text, to which a reader may add, from wrong text.
//!
//! ```
//! use haft_lang::{ParseOptions, parse};
//!
//! let text = b"if true; then\n  echo yes\n";
//! let error = parse(text, &ParseOptions::default()).unwrap_err();
//! assert!(error.incomplete);
//! assert_eq!(error.render("script.sh", text), "\
//! error: expected \"fi\" to close \"if\", found end of input
//!  --> script.sh:1:1
//!   |
//! 1 | if true; then
//!   | ^^ \"if\" was opened here
//! hint: add \"fi\" to close \"if\"
//! ");
//! ```
//!
//! What bash puts off until it gets there is put off here too, and marked in the tree: a bad substitution, an arithmetic
//! expression that is none, wrong text between backquotes or in a here-document.
//!
//! # Limits
//!
//! Nesting is followed to a depth of [`MAX_NESTING_DEPTH`], beyond which a text is refused as too deeply nested; within it, a stack
//! of 2 MiB suffices for everything that is done to a tree. Time is linear in the length of the text. Texts are at most
//! 4 GiB long. `[[ ]]`, which bash takes for the beginning of something it then silently drops, is refused.

pub mod ast;
pub mod check;
mod error;
mod excerpt;
mod parse;
pub mod plan;
mod print;
mod resolve;
mod script;
mod sys;
pub mod walk;

pub use ast::{Program, Span};
pub use error::{ErrorKind, Opened, SyntaxError};
pub use parse::{
    CancelCheck, MAX_NESTING_DEPTH, ParseOptions, Parser, parse, parse_arithmetic, parse_arithmetic_text,
    parse_quoted,
};
pub use print::{print, print_command, print_function, print_word};
pub use resolve::{BUILTINS, BuiltinsOnly, Resolution, Resolver, is_builtin};
pub use script::{ParsedScript, parse_script};
