//! Compound commands.

use super::{Arithmetic, Command, List, Name, Slice, Span, Text, Word};

/// `if …; then …; elif …; then …; else …; fi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// `if` and each `elif`.
    pub branches: Slice<IfBranch>,
    /// `else`.
    pub otherwise: Option<List>,
}

/// `if …; then …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfBranch {
    /// What decides.
    pub condition: List,
    /// What runs if it succeeds.
    pub body: List,
}

/// `for name in words; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The variable. bash refuses a name that is no identifier when it runs the loop, not before.
    pub name: Name,
    /// Where the name stands.
    pub name_span: Span,
    /// The words; without `in`, the positional parameters are meant.
    pub words: Option<Slice<Word>>,
    /// What is repeated.
    pub body: List,
}

/// `for ((initial; condition; update)); do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor {
    /// Evaluated once.
    pub initial: Option<Arithmetic>,
    /// Evaluated before each round, which takes place if it is not 0; absent means forever.
    pub condition: Option<Arithmetic>,
    /// Evaluated after each round.
    pub update: Option<Arithmetic>,
    /// What is repeated.
    pub body: List,
}

/// `while …; do …; done` and `until …; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Whether it is `until`.
    pub until: bool,
    /// What decides.
    pub condition: List,
    /// What is repeated.
    pub body: List,
}

/// `case word in …; esac`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is matched.
    pub subject: Word,
    /// The clauses, in order.
    pub clauses: Slice<CaseClause>,
}

/// `pattern | pattern) …;;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseClause {
    /// Where it stands, its terminator included.
    pub span: Span,
    /// The patterns, at least one.
    pub patterns: Slice<Word>,
    /// What runs if one matches; may be empty.
    pub body: List,
    /// What happens after it ran.
    pub end: CaseEnd,
}

/// How a case clause ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseEnd {
    /// `;;`, or `esac` alone: the case is done.
    Break,
    /// `;&`: the next clause runs too, unmatched.
    FallThrough,
    /// `;;&`: the following patterns are tried.
    Continue,
}

/// `select name in words; do …; done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// The variable.
    pub name: Name,
    /// Where the name stands.
    pub name_span: Span,
    /// The words; without `in`, the positional parameters are meant.
    pub words: Option<Slice<Word>>,
    /// What is repeated.
    pub body: List,
}

/// `name() command` and `function name command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// Where the name stands.
    pub name_span: Span,
    /// The compound command, with the redirections that apply whenever the function runs.
    pub body: Command,
}

/// `coproc name command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coprocess {
    /// The array of its descriptors; `COPROC` if absent.
    pub name: Option<Text>,
    /// What runs.
    pub body: Command,
}
