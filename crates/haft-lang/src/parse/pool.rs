//! Reusable buffers.

use crate::ast::{CaseClause, Command, Connector, IfBranch, Pipeline, Statement, Word};

use super::builder::WordBuilder;
use super::simple::SimpleCommandBuilder;

/// Empty builders and vectors that keep their capacity, to save allocations. The parser takes one and returns
/// it when it is done.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a builder is moved to and fro, and is large")]
pub(super) struct BufferPool {
    pub(super) builders: Vec<Box<WordBuilder>>,
    pub(super) commands: Vec<Box<SimpleCommandBuilder>>,
    pub(super) statements: Vec<Vec<Statement>>,
    pub(super) pipelines: Vec<Vec<(Connector, Pipeline)>>,
    pub(super) stages: Vec<Vec<Command>>,
    pub(super) branches: Vec<Vec<IfBranch>>,
    pub(super) clauses: Vec<Vec<CaseClause>>,
    pub(super) words: Vec<Vec<Word>>,
}
