//! The syntax tree.
//!
//! # From the top
//!
//! A [`Program`] holds a [`List`]; a list is a run of [`Statement`]s. A statement is one or more [`Pipeline`]s
//! joined by `&&` and `||`, perhaps put into the background with `&`. A pipeline is one or more [`Command`]s
//! joined by `|`, perhaps negated or timed. A command has a [`CommandKind`]: a [`SimpleCommand`], or one of
//! the compound commands, which hold lists again; redirections belong to the command, whatever its kind.
//!
//! ```text
//! Program ─ List ─ [Statement] ─ [Pipeline] ─ [Command] ─┬─ Simple: [Assignment] [Argument]
//!                                                        ├─ Group, Subshell, If, For, While, Case, … ─ List
//!                                                        ├─ Conditional ([[ ]]), Arithmetic ((( )))
//!                                                        └─ [Redirect], for every kind
//! ```
//!
//! # Words
//!
//! A [`Word`] is typed to the last byte. Its [`WordContent`] is one of three: `Plain`, one unquoted literal;
//! `Static`, quoted but free of expansions, with the text after quote removal beside the parts it was written
//! in; `Parts`, something to expand. [`Word::literal`] answers the first two in constant time. What an
//! expansion of the word has to do — split, glob, expand braces, keep empty fields — is precomputed in
//! [`WordFlags`]. Which parts a word can have depends on where it stands: braces and globs occur only where bash
//! would expand them (arguments, `for` lists, array elements, redirection targets) or match them (patterns), so a
//! literal `*` in `a=*` is a [`PartKind::Literal`].
//!
//! # Sharing
//!
//! All that is many is a [`Slice`], which is shared: to keep a part of the tree beyond the call that runs it, clone the
//! slice and remember an index — `(list.statements.clone(), index)` is a background job's body,
//! `(pipeline.stages.clone(), index)` a pipeline stage's. Function definitions are `Arc`s themselves. The tree is
//! immutable, `Send` and `Sync`. The one exception is [`CacheSlot`], a number which an interpreter may
//! keep beside a simple command.
//!
//! # Arithmetic
//!
//! bash expands the text of an arithmetic expression first and parses what results. [`Arithmetic`] keeps that text as a
//! word and, beside it, what could be parsed ahead of time: see [`ArithmeticForm`].
//!
//! # Positions
//!
//! Every node carries a [`Span`] of byte offsets into the source; commands carry their line number too. Spans
//! compare equal to each other always, and slots too, so `==` on trees compares what they mean and not where they were
//! written. What came out of an alias has the span of the word that was the alias.
//!
//! # Depth
//!
//! The parser refuses nesting beyond a fixed depth, so walking, comparing, printing and dropping a tree recursively is
//! safe on a small stack. Chains that are long rather than deep (`a && b && …`, `1 + 1 + …`, `elif`) are flat, with
//! one exception: a chain of left-associative arithmetic operators is a left spine in the flat node table of an
//! [`ArithmeticTree`], which an evaluator should walk in a loop.

mod arithmetic;
mod command;
mod compound;
mod conditional;
mod json;
mod node;
mod parameter;
mod redirect;
mod span;
mod text;
mod word;

pub use crate::sys::Slice;
pub use arithmetic::{
    Arithmetic, ArithmeticForm, ArithmeticNode, ArithmeticSubscript, ArithmeticTree, BinaryOperator,
    IncrementOperator, NodeId, UnaryOperator,
};
pub use command::{
    Argument, ArrayElement, Assignment, AssignmentValue, CacheSlot, Command, CommandKind, Connector, List,
    Pipeline, Program, SimpleCommand, Statement, TimeFormat, Warning, WarningKind,
};
pub use compound::{
    ArithmeticFor, Case, CaseClause, CaseEnd, Coprocess, For, Function, If, IfBranch, Loop, Select,
};
pub use conditional::{BinaryTest, Conditional, ConditionalKind, UnaryTest};
pub use json::{Json, JsonWord};
pub use node::Node;
pub use parameter::{
    CaseChange, Parameter, ParameterExpansion, ParameterOperator, ReplaceScope, SpecialParameter, Subscript,
    SubscriptKind, Transform,
};
pub(crate) use redirect::HereContent;
pub use redirect::{Duplicate, HereDocument, Redirect, RedirectDescriptor, RedirectKind};
pub use span::{LineIndex, Span};
pub use text::{Name, Text};
pub use word::{
    BackquoteError, BraceRange, Braces, CommandSubstitution, ExtendedGlob, Glob, GlobOperator, PartKind,
    ProcessSubstitution, SubstitutionDirection, Word, WordContent, WordFlags, WordPart,
};
