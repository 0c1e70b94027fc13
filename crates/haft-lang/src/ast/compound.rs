//! Compound commands.

use super::{Arithmetic, Bytes, Command, List, Name, SharedSlice, Span, Word};

/// `if …; then …; elif …; then …; else …; fi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// `if` and each `elif`.
    pub branches: SharedSlice<IfBranch>,
    /// `else`.
    pub otherwise: Option<List>,
}

/// `if …; then …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfBranch {
    /// The condition.
    pub condition: List,
    /// The commands that run if the condition succeeds.
    pub body: List,
}

/// `for name in words; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The variable. bash refuses an invalid identifier only when it runs the loop.
    pub name: Name,
    /// Source range of the name.
    pub name_span: Span,
    /// The words. `None` without `in`: the positional parameters.
    pub words: Option<SharedSlice<Word>>,
    /// The loop body.
    pub body: List,
}

/// `for ((initial; condition; update)); do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor {
    /// Evaluated once, before the loop.
    pub initial: Option<Arithmetic>,
    /// Evaluated before each iteration; 0 ends the loop. `None` loops forever.
    pub condition: Option<Arithmetic>,
    /// Evaluated after each iteration.
    pub update: Option<Arithmetic>,
    /// The loop body.
    pub body: List,
}

/// `while …; do …; done` and `until …; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Whether the keyword is `until`.
    pub until: bool,
    /// The condition.
    pub condition: List,
    /// The loop body.
    pub body: List,
}

/// `case word in …; esac`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The word to match.
    pub subject: Word,
    /// The clauses, in order.
    pub clauses: SharedSlice<CaseClause>,
}

/// `pattern | pattern) …;;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseClause {
    /// Source range, including the terminator.
    pub span: Span,
    /// The patterns, at least one.
    pub patterns: SharedSlice<Word>,
    /// The commands that run on a match. May be empty.
    pub body: List,
    /// The terminator.
    pub end: CaseEnd,
}

/// The terminator of a case clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseEnd {
    /// `;;`, or `esac` without one: ends the `case` command.
    Break,
    /// `;&`: runs the next clause without matching it.
    FallThrough,
    /// `;;&`: tries the following patterns.
    Continue,
}

/// `select name in words; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// The variable.
    pub name: Name,
    /// Source range of the name.
    pub name_span: Span,
    /// The words. `None` without `in`: the positional parameters.
    pub words: Option<SharedSlice<Word>>,
    /// The loop body.
    pub body: List,
}

/// `name() command` and `function name command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// Source range of the name.
    pub name_span: Span,
    /// The compound command, with the redirections performed on each call.
    pub body: Command,
}

/// `coproc name command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coprocess {
    /// The array that receives the file descriptors. `None` means `COPROC`.
    pub name: Option<Bytes>,
    /// The command to run.
    pub body: Command,
}
