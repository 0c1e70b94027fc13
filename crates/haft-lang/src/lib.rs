//! Parses bash scripts, checks them, and plans what they would do.
//!
//! This crate is the only one that knows bash syntax. It parses bytes into a [`Program`], in which every word
//! is fully typed and every node has a byte span. It does no I/O, runs nothing, and depends on no other crate
//! of the workspace. [`check`] finds mistakes in a program before it runs, and [`plan`] lists the commands it
//! would run and the files it would use.
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
//! The [`ast`] module describes the tree. [`print()`] turns a tree back into text that parses to an equal
//! tree. [`print_function`] prints a function like `declare -f`.
//!
//! # One command at a time
//!
//! bash runs a script while it reads it. A syntax error on line 10 does not stop the first nine lines from
//! running, and aliases and options set by those lines affect the parsing of later ones. [`Parser`] therefore
//! returns one complete command at a time.
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
//! A [`SyntaxError`] says what the parser found, what it expected, and which open construct it was in. Its
//! `incomplete` field tells whether more input could complete the text, so an interactive reader can prompt
//! for another line.
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
//! Errors that bash reports only when it runs the command are marked in the tree instead of refused: a bad
//! substitution, an invalid arithmetic expression, invalid text between backquotes or in a here-document.
//!
//! # Limits
//!
//! The parser refuses text that is nested deeper than [`MAX_NESTING_DEPTH`]. Within that limit, a 2 MiB stack
//! is enough for every operation on a tree. Parsing time is linear in the length of the text. The maximum
//! length is 4 GiB. The parser refuses `[[ ]]`, which bash silently drops together with the rest of the
//! script.

pub mod ast;
mod bytes;
pub mod check;
mod error;
mod excerpt;
mod expected;
mod parse;
pub mod plan;
mod print;
mod resolve;
mod script;
mod sys;
pub mod walk;

pub use ast::{Program, Span};
pub use bytes::Bytes;
pub use error::{ErrorKind, Opened, SyntaxError};
pub use expected::Expected;
pub use parse::{
    CancelCheck, MAX_NESTING_DEPTH, ParseOptions, Parser, bracket_length, digit_value, parse,
    parse_arithmetic, parse_arithmetic_text, parse_quoted, parse_subscript,
};
pub use print::{print, print_command, print_function, print_word};
pub use resolve::{BUILTINS, BuiltinsOnly, Resolution, Resolver, is_builtin};
pub use script::{AliasTable, Script, ScriptReader};
