//! Expressions as instructions, for the search of groups and of back-references.

use super::char_set::CharSet;
use super::error::GnuRegexError;
use super::tree::{Assertion, Node, Repetition};

/// The most instructions of an expression.
const MAX_INSTRUCTIONS: usize = 1 << 20;

/// One instruction. A target is the index of an instruction.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Matches one character.
    Set(CharSet),
    /// Goes on at the first target, or else at the second.
    Split(usize, usize),
    Jump(usize),
    OpenGroup(usize),
    /// `is_optional` says that the group is repeated, and need not match at all.
    CloseGroup {
        number: usize,
        is_optional: bool,
    },
    Assertion(Assertion),
    BackReference(usize),
    Match,
}

/// Compiles a tree.
pub(super) fn compile(node: &Node) -> Result<Vec<Instruction>, GnuRegexError> {
    let mut compiler = ProgramCompiler { instructions: Vec::new() };
    compiler.node(node, false)?;
    compiler.push(Instruction::Match)?;
    Ok(compiler.instructions)
}

struct ProgramCompiler {
    instructions: Vec<Instruction>,
}

impl ProgramCompiler {
    fn push(&mut self, instruction: Instruction) -> Result<usize, GnuRegexError> {
        if self.instructions.len() >= MAX_INSTRUCTIONS {
            return Err(GnuRegexError::TooBig);
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() - 1)
    }

    fn here(&self) -> usize {
        self.instructions.len()
    }

    /// Sets the second target of a split, or the target of a jump, to the next instruction.
    fn link(&mut self, at: usize) {
        let here = self.here();
        match &mut self.instructions[at] {
            Instruction::Split(_, second) => *second = here,
            Instruction::Jump(target) => *target = here,
            _ => {}
        }
    }

    fn node(&mut self, node: &Node, is_optional: bool) -> Result<(), GnuRegexError> {
        match node {
            Node::Empty => {}
            Node::Set(set) => {
                self.push(Instruction::Set(set.clone()))?;
            }
            Node::Assertion(assertion) => {
                self.push(Instruction::Assertion(*assertion))?;
            }
            Node::BackReference(number) => {
                self.push(Instruction::BackReference(*number))?;
            }
            Node::Group(number, node) => {
                self.push(Instruction::OpenGroup(*number))?;
                self.node(node, false)?;
                self.push(Instruction::CloseGroup { number: *number, is_optional })?;
            }
            Node::Concatenation(nodes) => {
                for node in nodes {
                    self.node(node, false)?;
                }
            }
            Node::Alternation(nodes) => self.alternation(nodes)?,
            Node::Repetition(repetition) => self.repetition(repetition)?,
        }
        Ok(())
    }

    fn alternation(&mut self, nodes: &[Node]) -> Result<(), GnuRegexError> {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node, false)?;
                continue;
            }
            let split = self.push(Instruction::Split(self.here() + 1, 0))?;
            self.node(node, false)?;
            jumps.push(self.push(Instruction::Jump(0))?);
            self.link(split);
        }
        jumps.into_iter().for_each(|jump| self.link(jump));
        Ok(())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Result<(), GnuRegexError> {
        for _ in 0..repetition.min {
            self.node(&repetition.node, false)?;
        }
        let Some(max) = repetition.max else {
            let split = self.push(Instruction::Split(self.here() + 1, 0))?;
            self.node(&repetition.node, true)?;
            self.push(Instruction::Jump(split))?;
            self.link(split);
            return Ok(());
        };
        let count = max - repetition.min;
        let splits: Result<Vec<usize>, _> =
            (0..count).map(|_| self.push(Instruction::Split(self.here() + 1, 0))).collect();
        for split in splits?.into_iter().rev() {
            self.node(&repetition.node, true)?;
            self.link(split);
        }
        Ok(())
    }
}
