//! The parser: recursive descent over bytes, without a separate lexer.
//!
//! The modules follow the structure of the language. [`list`], [`simple`] and [`compound`] parse commands;
//! [`word`] and the modules it calls parse words; [`here`] reads here-documents at the end of their line;
//! [`arithmetic`], [`conditional`] and [`json`] parse the embedded languages. All of them add methods to
//! [`Parser`].
//!
//! Three rules protect against hostile input. Every recursion goes through [`Parser::nested`], which limits
//! the depth. If the parser has to try one interpretation before another (`((`, `$((`), it remembers
//! failures, so it tries no text twice. It expands nothing: a brace range stays a range.

mod alias;
mod ansi;
mod arithmetic;
mod arithmetic_form;
mod braces;
mod builder;
mod bytes;
mod compound;
mod conditional;
mod cursor;
mod dollar;
mod double;
mod function;
mod glob;
mod here;
mod input;
mod json;
mod list;
mod number;
mod operator;
mod pool;
mod redirect;
mod reserved;
mod simple;
mod subscript;
mod substitution;
mod tilde;
mod word;

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

pub use arithmetic::bracket_length;
pub use number::digit_value;

use crate::AliasTable;
use crate::ast::{Arithmetic, ArithmeticTree, LineIndex, Program, Warning, WarningKind, Word};
use crate::error::{ErrorKind, SyntaxError};
use crate::sys::Arena;

pub(crate) use reserved::is_reserved;

use alias::ActiveAlias;
use here::PendingHereDocument;
use input::SourceBuffer;
use pool::BufferPool;

/// Maximum nesting depth. A tree of this depth can be parsed, walked and dropped on a 2 MiB stack.
pub const MAX_NESTING_DEPTH: u32 = 320;

/// An interpretation that the parser tries first and abandons if it fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Speculation {
    /// `((` and `$((` as the start of an arithmetic expression.
    Arithmetic,
    /// `name[` as the start of an assignment.
    Assignment,
    /// `name[` as the start of a word that ends at the next blank.
    Word,
}

type Result<T> = std::result::Result<T, Box<SyntaxError>>;

/// Settings that affect how text is parsed.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// Whether extended globs are enabled (`shopt -s extglob`). They are always enabled in `[[ ]]`.
    pub extglob: bool,
    /// POSIX mode (`set -o posix`): a single quote in `"${name-word}"` is an ordinary character.
    pub posix: bool,
    /// The aliases to expand. `None` if there are none, or alias expansion is off (`shopt -u expand_aliases`).
    pub aliases: Option<Arc<AliasTable>>,
    /// The number of lines before the text, which is added to line numbers.
    pub lines_before: u32,
    /// Called from time to time while parsing a long text, to cancel parsing.
    pub cancel: Option<CancelCheck>,
}

/// A callback that tells the parser whether to stop early.
#[derive(Clone)]
pub struct CancelCheck(Arc<dyn Fn() -> bool + Send + Sync>);

impl CancelCheck {
    /// Cancels parsing once `cancelled` returns true.
    pub fn new(cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(cancelled))
    }
}

impl std::fmt::Debug for CancelCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CancelCheck")
    }
}

/// Parses a whole text as one program.
///
/// # Errors
/// Returns the first syntax error.
pub fn parse(source: &[u8], options: &ParseOptions) -> std::result::Result<Program, SyntaxError> {
    let mut parser = Parser::new(source, options.clone());
    parser.program().map_err(|error| *error)
}

/// Parses a whole text as if it were in double quotes, such as a prompt or the body of a here-document.
/// Double quotes in it are ordinary characters.
///
/// # Errors
/// Returns an error if an expansion in the text is invalid or unterminated.
pub fn parse_quoted(source: &[u8], options: &ParseOptions) -> std::result::Result<Word, SyntaxError> {
    Parser::new(source, options.clone()).here_body().map_err(|error| *error)
}

/// Parses a whole text that is expanded and then evaluated as arithmetic, such as an argument of `let` or a
/// subscript.
///
/// # Errors
/// Returns an error if an expansion in the text is invalid or unterminated. An invalid expression is not an
/// error here: see [`ArithmeticForm::Text`](crate::ast::ArithmeticForm::Text).
pub fn parse_arithmetic_text(
    source: &[u8],
    options: &ParseOptions,
) -> std::result::Result<Arithmetic, SyntaxError> {
    Parser::new(source, options.clone()).arithmetic_to_end().map_err(|error| *error)
}

/// Parses a whole text as the subscript of an array, without its brackets.
///
/// # Errors
/// Returns an error if an expansion or a quote in the text is invalid or unterminated, or a bracket is not paired.
pub fn parse_subscript(source: &[u8], options: &ParseOptions) -> std::result::Result<Word, SyntaxError> {
    let bracketed = [b"[", source, b"]"].concat();
    let mut parser = Parser::new(&bracketed, options.clone());
    parser.whole_subscript().map_err(|error| *error)
}

/// Parses an arithmetic expression after all expansions.
///
/// # Errors
/// Returns an error if the text is not a valid expression.
pub fn parse_arithmetic(text: &[u8]) -> std::result::Result<ArithmeticTree, SyntaxError> {
    arithmetic::parse(text, &[], &mut Arena::default()).map_err(|error| *error)
}

/// A parser that returns one complete command at a time, the unit that bash reads before it runs anything.
///
/// Commands that ran in between may affect the parsing of later ones: update [`Parser::options_mut`] between
/// calls.
pub struct Parser<'a> {
    input: SourceBuffer<'a>,
    options: ParseOptions,
    depth: u32,
    lines: LineIndex,
    /// The line found by the last lookup.
    line: Cell<u32>,
    /// Here-documents whose body has not been read yet. Those before `pending_from` belong to an outer
    /// command.
    pending: Vec<PendingHereDocument>,
    pending_from: usize,
    warnings: Vec<Warning>,
    /// Allocator for the tree.
    arena: Arena,
    /// Failed speculations and their positions.
    failed_speculations: HashSet<(Speculation, usize)>,
    /// Aliases being expanded.
    active: Vec<ActiveAlias>,
    /// The cached result of scanning for a bracket expression, and the range it is valid for.
    brackets: (std::ops::Range<usize>, glob::BracketExtent),
    /// The position after an alias text that ends in a blank, so the next word may also be an alias.
    alias_next: Option<usize>,
    pool: BufferPool,
    /// The number of open `$(` and `<(`, whose `)` may end a here-document.
    substitutions: u32,
    /// Whether the text is the body of a here-document, outside of substitutions in it.
    in_document: bool,
    /// The position after the redirections of a compound command, where no reserved word is recognized.
    no_reserved: Option<usize>,
    /// The position of the next call of [`ParseOptions::cancel`].
    next_check_at: usize,
    /// The total length of alias texts inserted, and its limit.
    aliased: usize,
    max_aliased: usize,
}

/// Limit for the total length of inserted alias texts: a constant plus a multiple of the source length.
const MIN_ALIAS_TEXT_LIMIT_BYTES: usize = 1 << 20;
const ALIAS_TEXT_LIMIT_FACTOR: usize = 16;

/// Number of bytes between two calls of [`ParseOptions::cancel`].
const CANCEL_CHECK_INTERVAL_BYTES: usize = 64 * 1024;

impl<'a> Parser<'a> {
    /// Creates a parser for `source`.
    #[must_use]
    pub fn new(source: &'a [u8], options: ParseOptions) -> Self {
        let next_check_at = if options.cancel.is_some() { CANCEL_CHECK_INTERVAL_BYTES } else { usize::MAX };
        let mut parser = Self {
            next_check_at,
            options,
            lines: LineIndex::new(source),
            arena: Arena::for_text(source.len()),
            max_aliased: MIN_ALIAS_TEXT_LIMIT_BYTES + ALIAS_TEXT_LIMIT_FACTOR * source.len(),
            ..Self::over(SourceBuffer::new(source))
        };
        if let Some(at) = memchr::memchr(0, source) {
            let span = crate::ast::Span::new(cursor::offset(at), cursor::offset(at + 1));
            parser.warnings.push(Warning { span, kind: WarningKind::NulBytes });
        }
        parser
    }

    /// Creates a parser for the text from an offset on. In a text with NUL bytes, which are dropped, nothing is left to parse.
    pub(crate) fn starting_at(source: &'a [u8], options: ParseOptions, offset: usize) -> Self {
        let mut parser = Self::new(source, options);
        parser.input.at = if parser.input.is_source(source) { offset } else { parser.input.limit() };
        parser
    }

    fn over(input: SourceBuffer<'a>) -> Self {
        Self {
            input,
            options: ParseOptions::default(),
            depth: 0,
            lines: LineIndex::default(),
            line: Cell::new(1),
            pending: Vec::new(),
            pending_from: 0,
            warnings: Vec::new(),
            arena: Arena::default(),
            failed_speculations: HashSet::new(),
            active: Vec::new(),
            brackets: (0..0, glob::BracketExtent::None),
            alias_next: None,
            pool: BufferPool::default(),
            substitutions: 0,
            in_document: false,
            no_reserved: None,
            next_check_at: usize::MAX,
            aliased: 0,
            max_aliased: usize::MAX,
        }
    }

    /// Returns the options for the text not parsed yet.
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        &mut self.options
    }

    /// Parses the next complete command: all commands up to the end of a line, and further lines if a command
    /// continues there. Returns `None` at the end of the text.
    ///
    /// # Errors
    /// Returns the first syntax error. The parser is then at its end.
    pub fn next_complete_command(&mut self) -> std::result::Result<Option<Program>, SyntaxError> {
        let result = self.complete_command().map_err(|error| *error);
        if result.is_err() {
            self.input.at = self.input.limit();
        }
        result
    }

    /// Fails if parsing was cancelled or the limit for alias texts was exceeded.
    #[inline]
    fn check_limits(&mut self) -> Result<()> {
        if self.input.at < self.next_check_at { Ok(()) } else { self.check_limits_now() }
    }

    #[cold]
    fn check_limits_now(&mut self) -> Result<()> {
        self.next_check_at = self.input.at + CANCEL_CHECK_INTERVAL_BYTES;
        let kind = match &self.options.cancel {
            _ if self.aliased > self.max_aliased => ErrorKind::TooDeep,
            Some(check) if check.0() => ErrorKind::Cancelled,
            _ => return Ok(()),
        };
        // If a caller abandons a speculation because of this error, the next word fails again.
        self.next_check_at = 0;
        let mut error = self.unexpected(None, None);
        error.kind = kind;
        Err(error)
    }

    /// Returns the source offset of the text not parsed yet.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.input.source(self.input.at)
    }
}
