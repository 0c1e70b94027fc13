//! The parser: recursive descent over bytes, without a separate lexer.
//!
//! The modules follow the language. [`list`], [`simple`] and [`compound`] parse commands, [`word`] and what it calls parse
//! words, [`here`] fetches here-documents when their line ends, [`arithmetic`], [`conditional`] and [`json`] parse the
//! little languages within. All of them are methods of one [`Parser`].
//!
//! Three rules keep hostile input harmless. Whatever recurses goes through [`Parser::nested`], which counts. Whatever
//! must try one reading before another (`((`, `$((`) remembers the outcome, so no text is tried twice. Nothing is
//! expanded: a brace range stays a range.

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
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::ast::{Arithmetic, ArithmeticTree, LineIndex, Program, Text, Warning, WarningKind, Word};
use crate::error::{ErrorKind, SyntaxError};
use crate::sys::Slab;

pub(crate) use reserved::is_reserved;

use alias::ActiveAlias;
use here::PendingHereDocument;
use input::SourceBuffer;
use pool::BufferPool;

/// How deep things may be nested. A tree of this depth can be parsed, walked and dropped on a stack of 2 MiB, also in
/// a build without optimisation.
pub const MAX_NESTING_DEPTH: u32 = 200;

/// A reading of the text that may fail and give way to another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Speculation {
    /// `((` and `$((` as the beginning of an arithmetic expression.
    Arithmetic,
    /// `name[` as the beginning of an assignment.
    Assignment,
    /// `name[` as the beginning of a word that a blank ends.
    Word,
}

type Result<T> = std::result::Result<T, Box<SyntaxError>>;

/// What changes the meaning of the text.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// Whether extended globs are on (`shopt -s extglob`). They are always on in `[[ ]]`.
    pub extglob: bool,
    /// Whether the shell follows POSIX (`set -o posix`): a single quote in a `"${name-word}"` is a character like any other.
    pub posix: bool,
    /// The aliases to expand; none if alias expansion is off (`shopt -u expand_aliases`).
    pub aliases: BTreeMap<Text, Text>,
    /// How many lines stand before the text, to be added to line numbers.
    pub lines_before: u32,
    /// Asked now and then, in a long text, whether to stop.
    pub cancel: Option<CancelCheck>,
}

/// Says whether a parser shall stop before the end of its text.
#[derive(Clone)]
pub struct CancelCheck(Arc<dyn Fn() -> bool + Send + Sync>);

impl CancelCheck {
    /// Stops once the function says so.
    pub fn new(cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(cancelled))
    }
}

impl std::fmt::Debug for CancelCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CancelCheck")
    }
}

/// Parses a whole text.
///
/// # Errors
/// If the text is not a program.
pub fn parse(source: &[u8], options: &ParseOptions) -> std::result::Result<Program, SyntaxError> {
    let mut parser = Parser::new(source, options.clone());
    parser.program().map_err(|error| *error)
}

/// Parses text that is expanded as if it stood in double quotes, to its end: a prompt, the body of a
/// here-document. A double quote is a character like any other in it.
///
/// # Errors
/// If an expansion in it is wrong or not closed.
pub fn parse_quoted(source: &[u8], options: &ParseOptions) -> std::result::Result<Word, SyntaxError> {
    Parser::new(source, options.clone()).here_body().map_err(|error| *error)
}

/// Parses text that is expanded and evaluated as arithmetic, to its end: an argument of `let`, a subscript.
///
/// # Errors
/// If an expansion in it is wrong or not closed. An expression that is wrong is no error here: see
/// [`ArithmeticForm::Text`](crate::ast::ArithmeticForm::Text).
pub fn parse_arithmetic_text(
    source: &[u8],
    options: &ParseOptions,
) -> std::result::Result<Arithmetic, SyntaxError> {
    Parser::new(source, options.clone()).arithmetic_to_end().map_err(|error| *error)
}

/// Parses the text of an arithmetic expression in which everything has been expanded.
///
/// # Errors
/// If it is not an expression.
pub fn parse_arithmetic(text: &[u8]) -> std::result::Result<ArithmeticTree, SyntaxError> {
    arithmetic::parse(text, &[], &mut Slab::default()).map_err(|error| *error)
}

/// A parser that hands out one complete command at a time: what bash reads before it runs anything.
///
/// What ran may have changed the options for what follows; [`Parser::options_mut`] is for telling.
pub struct Parser<'a> {
    input: SourceBuffer<'a>,
    options: ParseOptions,
    depth: u32,
    lines: LineIndex,
    /// The line that was looked up last.
    line: Cell<u32>,
    /// Here-documents whose line has not ended yet; those before `pending_from` belong to an outer command.
    pending: Vec<PendingHereDocument>,
    pending_from: usize,
    warnings: Vec<Warning>,
    /// Where the tree is put.
    slab: Slab,
    /// Readings that were tried and failed, by position: what stands there is the other thing it could be.
    failed_speculations: HashSet<(Speculation, usize)>,
    /// Aliases whose text is being read.
    active: Vec<ActiveAlias>,
    /// What is known about brackets between two positions.
    brackets: (std::ops::Range<usize>, glob::BracketExtent),
    /// Where the text of an alias ends in a blank, so that the next word may be an alias too.
    alias_next: Option<usize>,
    pool: BufferPool,
    /// How many `$(`, `<(` are open, whose `)` may end a here-document.
    substitutions: u32,
    /// After the redirections of a compound command, where no reserved word can stand.
    no_reserved: Option<usize>,
    /// Where [`ParseOptions::cancel`] is asked next.
    next_check_at: usize,
    /// How much text aliases have put in, and how much they may.
    aliased: usize,
    max_aliased: usize,
}

/// How much text aliases may put in, whatever the length of the text they are put into, and how many times that.
const MIN_ALIAS_TEXT_LIMIT_BYTES: usize = 1 << 20;
const ALIAS_TEXT_LIMIT_FACTOR: usize = 16;

/// How many bytes are read between two looks whether to stop.
const CANCEL_CHECK_INTERVAL_BYTES: usize = 64 * 1024;

impl<'a> Parser<'a> {
    /// A parser of `source`.
    #[must_use]
    pub fn new(source: &'a [u8], options: ParseOptions) -> Self {
        let next_check_at = if options.cancel.is_some() { CANCEL_CHECK_INTERVAL_BYTES } else { usize::MAX };
        let mut parser = Self {
            next_check_at,
            options,
            lines: LineIndex::new(source),
            slab: Slab::for_text(source.len()),
            max_aliased: MIN_ALIAS_TEXT_LIMIT_BYTES + ALIAS_TEXT_LIMIT_FACTOR * source.len(),
            ..Self::over(SourceBuffer::new(source))
        };
        if let Some(at) = memchr::memchr(0, source) {
            let span = crate::ast::Span::new(cursor::offset(at), cursor::offset(at + 1));
            parser.warnings.push(Warning { span, kind: WarningKind::NulBytes });
        }
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
            slab: Slab::default(),
            failed_speculations: HashSet::new(),
            active: Vec::new(),
            brackets: (0..0, glob::BracketExtent::None),
            alias_next: None,
            pool: BufferPool::default(),
            substitutions: 0,
            no_reserved: None,
            next_check_at: usize::MAX,
            aliased: 0,
            max_aliased: usize::MAX,
        }
    }

    /// What changes the meaning of the text that has not been read yet.
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        &mut self.options
    }

    /// The next complete command: all that stands on a line, and on further lines as far as it goes on there. `None` at the
    /// end.
    ///
    /// # Errors
    /// If the text is wrong. What follows the error is not parsed: the parser is at its end then.
    pub fn next_complete_command(&mut self) -> std::result::Result<Option<Program>, SyntaxError> {
        let result = self.complete_command().map_err(|error| *error);
        if result.is_err() {
            self.input.at = self.input.limit();
        }
        result
    }

    /// Looks now and then whether to stop.
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
        // Whoever takes this for a wrong reading and tries another one is stopped at its first word.
        self.next_check_at = 0;
        let mut error = self.unexpected(None, None);
        error.kind = kind;
        Err(error)
    }

    /// The offset in the source of what has not been parsed yet.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.input.source(self.input.at)
    }
}
