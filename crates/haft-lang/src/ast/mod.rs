//! The syntax tree.
//!
//! # From the top
//!
//! A [`Program`] contains a [`List`] of [`Statement`]s. A statement is one or more [`Pipeline`]s joined by
//! `&&` and `||`, optionally run in the background with `&`. A pipeline is one or more [`Command`]s joined by
//! `|`, optionally negated or timed. A command has a [`CommandKind`]: a [`SimpleCommand`], or a compound
//! command, which contains lists again. Redirections belong to the command, whatever its kind.
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
//! Every part of a [`Word`] is typed. Its [`WordContent`] is one of three kinds: `Plain`, one unquoted
//! literal; `Static`, quoted but free of expansions, with both the text after quote removal and the original
//! parts; `Parts`, with something to expand. [`Word::literal`] returns the text of the first two in constant
//! time. [`WordFlags`] records in advance which steps an expansion of the word needs: word splitting,
//! filename expansion, brace expansion, keeping empty fields. The context of a word limits its parts: braces
//! and globs occur only where bash would expand them (arguments, `for` lists, array elements, redirection
//! targets) or match them (patterns). The `*` in `a=*` is a [`PartKind::Literal`].
//!
//! # Sharing
//!
//! Sequences are [`SharedSlice`]s, which are shared. To keep a part of the tree, clone the slice and remember an
//! index: `(list.statements.clone(), index)` for a background statement, `(pipeline.stages.clone(), index)`
//! for a pipeline stage. Function definitions are `Arc`s. The tree is immutable, `Send` and `Sync`, except
//! for [`CacheSlot`], a number that an interpreter can attach to a simple command.
//!
//! # Arithmetic
//!
//! bash expands the text of an arithmetic expression before it parses it. [`Arithmetic`] keeps that text as a
//! word, together with the result of parsing it ahead of time: see [`ArithmeticForm`].
//!
//! # Positions
//!
//! Every node has a [`Span`] of byte offsets into the source. Commands also have a line number. All spans
//! compare equal, and so do all cache slots, so `==` on trees compares meaning and ignores positions. Nodes
//! that come from an alias have the span of the alias word.
//!
//! # Depth
//!
//! The parser limits nesting, so walking, comparing, printing and dropping a tree recursively is safe on a
//! small stack. Long chains (`a && b && …`, `1 + 1 + …`, `elif`) are flat, with one exception: a chain of
//! left-associative arithmetic operators is a left spine in the flat node table of an [`ArithmeticTree`],
//! which an evaluator should walk in a loop.

mod arithmetic;
mod command;
mod compound;
mod conditional;
mod json;
mod parameter;
mod redirect;
mod shared_node;
mod span;
mod word;

pub(crate) use crate::bytes::Bytes;
pub use crate::sys::SharedSlice;
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
pub use parameter::{
    CaseChange, Parameter, ParameterExpansion, ParameterOperator, ReplaceScope, SpecialParameter, Subscript,
    SubscriptKind, Transform,
};
pub(crate) use redirect::HereContent;
pub use redirect::{Duplicate, HereDocument, Redirect, RedirectDescriptor, RedirectKind};
pub use shared_node::SharedNode;
pub use span::{LineIndex, Span};

/// The name of a variable, function or parameter.
pub type Name = Bytes;
pub use word::{
    BackquoteError, BraceRange, Braces, CommandSubstitution, ExtendedGlob, Glob, GlobOperator, PartKind,
    ProcessSubstitution, SubstitutionDirection, Word, WordContent, WordFlags, WordPart,
};
