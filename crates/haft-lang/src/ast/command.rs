//! Programs, lists, pipelines, and simple commands.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{
    Arithmetic, ArithmeticFor, Case, Conditional, Coprocess, For, Function, If, JsonWord, Loop, Name, Node,
    Redirect, Select, Slice, Span, Subscript, Word,
};

/// What a source text says, whole or one complete command of it.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it runs.
    pub body: List,
    /// What bash would have warned about.
    pub warnings: Slice<Warning>,
}

impl PartialEq for Program {
    /// Warnings are about the text, not about what it says.
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body
    }
}

impl Eq for Program {}

/// Something about the source that bash warns about and goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub kind: WarningKind,
}

/// The kinds of warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// NUL bytes were dropped.
    NulBytes,
    /// A here-document's delimiter was never seen; the end of the input ended it.
    UnterminatedHereDocument {
        /// The delimiter.
        delimiter: super::Text,
    },
}

/// Statements that run one after the other. May be empty at the top, in substitutions and in case clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Where it stands.
    pub span: Span,
    /// The statements. Shared, so that a background statement can be kept as this and an index.
    pub statements: Slice<Statement>,
}

/// Pipelines joined by `&&` and `||`, all of equal precedence, grouped to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where it stands, `&` included.
    pub span: Span,
    /// Whether it runs in the background: `&`.
    pub background: bool,
    /// The first pipeline.
    pub first: Pipeline,
    /// The following pipelines, each with what decides whether it runs.
    pub rest: Slice<(Connector, Pipeline)>,
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connector {
    /// `&&`: runs if what stands before succeeded.
    And,
    /// `||`: runs if what stands before failed.
    Or,
}

/// Commands joined by `|`. `a |& b` is `a 2>&1 | b`, as in bash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Where it stands, from `!` or `time` on.
    pub span: Span,
    /// Whether the status is inverted: an odd number of `!`.
    pub negated: bool,
    /// `time`.
    pub time: Option<TimeFormat>,
    /// The commands. Empty for `!` or `time` alone. Shared, so that a stage can be kept as this and an index.
    pub stages: Slice<Command>,
}

/// How `time` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeFormat {
    /// `time`: as `TIMEFORMAT` says.
    Default,
    /// `time -p`: as POSIX says.
    Posix,
}

/// A command, simple or compound.
#[derive(Clone, Debug)]
pub struct Command {
    /// Where it stands, redirections included.
    pub span: Span,
    /// The line it begins on, counted from 1. Ignored when commands are compared.
    pub line: u32,
    /// What it is.
    pub kind: CommandKind,
    /// Its redirections, in the order written.
    pub redirects: Slice<Redirect>,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.redirects == other.redirects
    }
}

impl Eq for Command {}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments, a command name, arguments.
    Simple(SimpleCommand),
    /// `{ …; }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`.
    If(Node<If>),
    /// `for name in …`.
    For(Node<For>),
    /// `for ((…))`.
    ArithmeticFor(Box<ArithmeticFor>),
    /// `while` and `until`.
    Loop(Node<Loop>),
    /// `case`.
    Case(Node<Case>),
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

/// A simple command. All of its parts may be empty, though not all at once together with the redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The assignments before the command name.
    pub assignments: Slice<Assignment>,
    /// The command name and its arguments.
    pub arguments: Slice<Argument>,
    /// Whether every argument is a word with a [`Word::literal`].
    pub literal: bool,
    /// Room for an interpreter.
    pub slot: CacheSlot,
}

impl SimpleCommand {
    /// The command's name, if it is known before it is expanded.
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
    /// An assignment given to `declare`, `typeset`, `local`, `readonly`, `export` by that name.
    Assignment(Box<Assignment>),
    /// A word with a JSON value.
    Json(Box<JsonWord>),
}

impl Argument {
    /// The word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Where it stands.
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
    /// Where it stands.
    pub span: Span,
    /// The variable.
    pub name: Name,
    /// The element of it, for an array.
    pub subscript: Option<Box<Subscript>>,
    /// Whether it is `+=`.
    pub append: bool,
    /// What is assigned.
    pub value: AssignmentValue,
}

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentValue {
    /// A word, perhaps empty, that is neither split nor globbed.
    Word(Word),
    /// `(…)`.
    Array(Slice<ArrayElement>),
}

/// An element of `name=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayElement {
    /// Where it stands.
    pub span: Span,
    /// `[subscript]=`, if given. The value is then a single word, neither split nor globbed.
    pub subscript: Option<Box<Subscript>>,
    /// Whether it is `[subscript]+=`.
    pub append: bool,
    /// What is assigned.
    pub value: Word,
}

/// A number that an interpreter may keep beside a simple command: an index into a table of its own, for instance. Starts
/// at 0, means nothing to this crate, compares equal always, is not cloned.
#[derive(Default)]
pub struct CacheSlot(AtomicU32);

impl CacheSlot {
    /// What was last [`set`](CacheSlot::set).
    #[must_use]
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps a number.
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
