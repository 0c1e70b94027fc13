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
mod guess;
mod here;
mod input;
mod json;
mod list;
mod number;
mod operator;
mod redirect;
mod reserved;
mod simple;
mod spare;
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

use alias::Active;
use here::Pending;
use input::Input;
use spare::Spare;

/// How deep things may be nested. A tree of this depth can be parsed, walked and dropped on a stack of 2 MiB, also in
/// a build without optimisation.
pub const MAXIMUM_DEPTH: u32 = 200;

/// A reading of the text that may fail and give way to another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Attempt {
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
pub struct Options {
    /// Whether extended globs are on (`shopt -s extglob`). They are always on in `[[ ]]`.
    pub extglob: bool,
    /// Whether the shell follows POSIX (`set -o posix`): a single quote in a `"${name-word}"` is a character like any other.
    pub posix: bool,
    /// The aliases to expand; none if alias expansion is off (`shopt -u expand_aliases`).
    pub aliases: BTreeMap<Text, Text>,
    /// How many lines stand before the text, to be added to line numbers.
    pub lines_before: u32,
    /// Asked now and then, in a long text, whether to stop.
    pub stop: Option<Stop>,
}

/// Says whether a parser shall stop before the end of its text.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    /// Stops once the function says so.
    pub fn when(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(stop))
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Stop")
    }
}

/// Parses a whole text.
///
/// # Errors
/// If the text is not a program.
pub fn parse(source: &[u8], options: &Options) -> std::result::Result<Program, SyntaxError> {
    let mut parser = Parser::new(source, options.clone());
    parser.program().map_err(|error| *error)
}

/// Parses text that is expanded as if it stood in double quotes, to its end: a prompt, the body of a
/// here-document. A double quote is a character like any other in it.
///
/// # Errors
/// If an expansion in it is wrong or not closed.
pub fn parse_quoted(source: &[u8], options: &Options) -> std::result::Result<Word, SyntaxError> {
    Parser::new(source, options.clone()).here_body().map_err(|error| *error)
}

/// Parses text that is expanded and evaluated as arithmetic, to its end: an argument of `let`, a subscript.
///
/// # Errors
/// If an expansion in it is wrong or not closed. An expression that is wrong is no error here: see
/// [`ArithmeticForm::Text`](crate::ast::ArithmeticForm::Text).
pub fn parse_arithmetic_text(
    source: &[u8],
    options: &Options,
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
    input: Input<'a>,
    options: Options,
    depth: u32,
    lines: LineIndex,
    /// The line that was looked up last.
    line: Cell<u32>,
    /// Here-documents whose line has not ended yet; those before `pending_from` belong to an outer command.
    pending: Vec<Pending>,
    pending_from: usize,
    warnings: Vec<Warning>,
    /// Where the tree is put.
    slab: Slab,
    /// Readings that were tried and failed, by position: what stands there is the other thing it could be.
    refused: HashSet<(Attempt, usize)>,
    /// Aliases whose text is being read.
    active: Vec<Active>,
    /// What is known about brackets between two positions.
    brackets: (std::ops::Range<usize>, glob::Extent),
    /// Where the text of an alias ends in a blank, so that the next word may be an alias too.
    alias_next: Option<usize>,
    spare: Spare,
    /// How many `$(`, `<(` are open, whose `)` may end a here-document.
    substitutions: u32,
    /// After the redirections of a compound command, where no reserved word can stand.
    no_reserved: Option<usize>,
    /// Where [`Options::stop`] is asked next.
    look_at: usize,
    /// How much text aliases have put in, and how much they may.
    aliased: usize,
    most_aliased: usize,
}

/// How much text aliases may put in, whatever the length of the text they are put into, and how many times that.
const ALIASED: (usize, usize) = (1 << 20, 16);

/// How many bytes are read between two looks whether to stop.
const LOOK: usize = 64 * 1024;

impl<'a> Parser<'a> {
    /// A parser of `source`.
    #[must_use]
    pub fn new(source: &'a [u8], options: Options) -> Self {
        let look_at = if options.stop.is_some() { LOOK } else { usize::MAX };
        let mut parser = Self {
            look_at,
            options,
            lines: LineIndex::new(source),
            slab: Slab::for_text(source.len()),
            most_aliased: ALIASED.0 + ALIASED.1 * source.len(),
            ..Self::over(Input::new(source))
        };
        if let Some(at) = memchr::memchr(0, source) {
            let span = crate::ast::Span::new(cursor::offset(at), cursor::offset(at + 1));
            parser.warnings.push(Warning { span, kind: WarningKind::NulBytes });
        }
        parser
    }

    fn over(input: Input<'a>) -> Self {
        Self {
            input,
            options: Options::default(),
            depth: 0,
            lines: LineIndex::default(),
            line: Cell::new(1),
            pending: Vec::new(),
            pending_from: 0,
            warnings: Vec::new(),
            slab: Slab::default(),
            refused: HashSet::new(),
            active: Vec::new(),
            brackets: (0..0, glob::Extent::None),
            alias_next: None,
            spare: Spare::default(),
            substitutions: 0,
            no_reserved: None,
            look_at: usize::MAX,
            aliased: 0,
            most_aliased: usize::MAX,
        }
    }

    /// What changes the meaning of the text that has not been read yet.
    pub fn options_mut(&mut self) -> &mut Options {
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
    fn look(&mut self) -> Result<()> {
        if self.input.at < self.look_at { Ok(()) } else { self.look_up() }
    }

    #[cold]
    fn look_up(&mut self) -> Result<()> {
        self.look_at = self.input.at + LOOK;
        let kind = match &self.options.stop {
            _ if self.aliased > self.most_aliased => ErrorKind::TooDeep,
            Some(stop) if stop.0() => ErrorKind::Stopped,
            _ => return Ok(()),
        };
        // Whoever takes this for a wrong reading and tries another one is stopped at its first word.
        self.look_at = 0;
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
