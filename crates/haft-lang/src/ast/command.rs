//! Programs, lists, pipelines, and simple commands.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{
    Arithmetic, ArithmeticFor, Case, Conditional, Coprocess, For, Function, If, JsonWord, Loop, Name,
    Redirect, Select, SharedNode, SharedSlice, Span, Subscript, Word,
};

/// A parsed text: a whole script, or one complete command.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The commands.
    pub body: List,
    /// The warnings bash would print.
    pub warnings: SharedSlice<Warning>,
}

impl PartialEq for Program {
    /// Ignores warnings, which depend on the text and not on its meaning.
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body
    }
}

impl Eq for Program {}

/// Something in the source that bash warns about without refusing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Source range.
    pub span: Span,
    /// The kind.
    pub kind: WarningKind,
}

/// The kind of a [`Warning`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The text contains NUL bytes, which were dropped.
    NulBytes,
    /// A here-document was delimited by the end of the input instead of its delimiter.
    UnterminatedHereDocument {
        /// The delimiter.
        delimiter: super::Bytes,
    },
    /// A here-document in a substitution was delimited by its delimiter and the parenthesis that closes the substitution.
    HereDocumentBeforeParenthesis {
        /// The delimiter.
        delimiter: super::Bytes,
        /// The source offset of the line with the delimiter.
        end: u32,
    },
}

/// A sequence of statements. May be empty at the top level, in substitutions and in case clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Source range.
    pub span: Span,
    /// The statements. They are shared, so a caller can keep a background statement as a clone of this slice
    /// and an index.
    pub statements: SharedSlice<Statement>,
}

/// Pipelines joined by `&&` and `||`, all of equal precedence, grouped to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Source range, including `&`.
    pub span: Span,
    /// Whether it runs in the background: `&`.
    pub background: bool,
    /// The first pipeline.
    pub first: Pipeline,
    /// The following pipelines, each with the operator before it.
    pub rest: SharedSlice<(Connector, Pipeline)>,
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connector {
    /// `&&`: runs if the previous pipeline succeeded.
    And,
    /// `||`: runs if the previous pipeline failed.
    Or,
}

/// Commands joined by `|`. `a |& b` is `a 2>&1 | b`, as in bash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Source range, including `!` and `time`.
    pub span: Span,
    /// Whether the status is inverted: an odd number of `!`.
    pub negated: bool,
    /// `time`.
    pub time: Option<TimeFormat>,
    /// The commands. Empty for `!` or `time` alone. They are shared, so a caller can keep a stage as a clone
    /// of this slice and an index.
    pub stages: SharedSlice<Command>,
}

/// The output format of `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeFormat {
    /// `time`: the format in `TIMEFORMAT`.
    Default,
    /// `time -p`: the POSIX format.
    Posix,
}

/// A command, simple or compound.
#[derive(Clone, Debug)]
pub struct Command {
    /// Source range, including redirections.
    pub span: Span,
    /// The line number that `$LINENO` reports, starting at 1. Ignored in comparisons.
    pub line: u32,
    /// The kind.
    pub kind: CommandKind,
    /// Its redirections, in source order.
    pub redirects: SharedSlice<Redirect>,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.redirects == other.redirects
    }
}

impl Eq for Command {}

/// The kind of a [`Command`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments, a command name, arguments.
    Simple(SimpleCommand),
    /// `{ …; }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`.
    If(SharedNode<If>),
    /// `for name in …`.
    For(SharedNode<For>),
    /// `for ((…))`.
    ArithmeticFor(Box<ArithmeticFor>),
    /// `while` and `until`.
    Loop(SharedNode<Loop>),
    /// `case`.
    Case(SharedNode<Case>),
    /// `select`.
    Select(Box<Select>),
    /// `[[ … ]]`.
    Conditional(Box<Conditional>),
    /// `(( … ))`.
    Arithmetic(Box<Arithmetic>),
    /// A function definition.
    Function(Arc<Function>),
    /// `coproc`.
    Coprocess(Box<Coprocess>),
}

/// A simple command. Each part may be empty, but not all of them and the redirections at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The assignments before the command name.
    pub assignments: SharedSlice<Assignment>,
    /// The command name and its arguments.
    pub arguments: SharedSlice<Argument>,
    /// Whether every argument is a word with a [`Word::literal`].
    pub literal: bool,
    /// A cache slot for an interpreter.
    pub slot: CacheSlot,
}

impl SimpleCommand {
    /// Returns the command name if it is literal.
    #[must_use]
    pub fn name(&self) -> Option<&[u8]> {
        self.arguments.first()?.word()?.literal()
    }
}

/// A command name or an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A word.
    Word(Word),
    /// An assignment argument of `declare`, `typeset`, `local`, `readonly` or `export`.
    Assignment(Box<Assignment>),
    /// A word with a JSON value.
    Json(Box<JsonWord>),
}

impl Argument {
    /// Returns the word if the argument is a [`Argument::Word`].
    #[must_use]
    pub fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Source range.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Word(word) => word.span,
            Self::Assignment(assignment) => assignment.span,
            Self::Json(json) => json.span,
        }
    }
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Source range.
    pub span: Span,
    /// The variable.
    pub name: Name,
    /// The array element to assign to.
    pub subscript: Option<Box<Subscript>>,
    /// Whether the operator is `+=`.
    pub append: bool,
    /// The value.
    pub value: AssignmentValue,
}

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentValue {
    /// A word, possibly empty. It undergoes neither word splitting nor filename expansion.
    Word(Word),
    /// `(…)`.
    Array(SharedSlice<ArrayElement>),
}

/// An element of `name=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayElement {
    /// Source range.
    pub span: Span,
    /// The subscript in `[subscript]=value`. The value then undergoes neither word splitting nor filename
    /// expansion.
    pub subscript: Option<Box<Subscript>>,
    /// Whether the operator is `+=`.
    pub append: bool,
    /// The value.
    pub value: Word,
}

/// A number that an interpreter can attach to a simple command, for example an index into a cache. Initially
/// 0. All slots compare equal, and a clone starts at 0.
#[derive(Default)]
pub struct CacheSlot(AtomicU32);

impl CacheSlot {
    /// Returns the number stored last.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Stores a number.
    pub fn set(&self, number: u32) {
        self.0.store(number, Ordering::Relaxed);
    }
}

impl Clone for CacheSlot {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for CacheSlot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CacheSlot {}

impl fmt::Debug for CacheSlot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("_")
    }
}
