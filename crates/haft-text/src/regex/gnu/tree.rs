//! Regular expressions as trees.

use super::char_set::CharSet;

/// A part of a regular expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Matches the empty string.
    Empty,
    /// One character.
    Set(CharSet),
    /// A position.
    Assertion(Assertion),
    /// A group and its number, from 1.
    Group(usize, Box<Node>),
    BackReference(usize),
    Concatenation(Vec<Node>),
    Alternation(Vec<Node>),
    Repetition(Box<Repetition>),
}

impl Node {
    fn children(&self) -> &[Self] {
        match self {
            Self::Group(_, node) => std::slice::from_ref(node),
            Self::Repetition(repetition) => std::slice::from_ref(&repetition.node),
            Self::Concatenation(nodes) | Self::Alternation(nodes) => nodes,
            Self::Empty | Self::Set(_) | Self::Assertion(_) | Self::BackReference(_) => &[],
        }
    }

    pub(super) fn has_back_references(&self) -> bool {
        matches!(self, Self::BackReference(_)) || self.children().iter().any(Self::has_back_references)
    }

    /// Whether the expression has an assertion that a test accepts.
    pub(super) fn has_assertion(&self, test: fn(Assertion) -> bool) -> bool {
        matches!(self, Self::Assertion(assertion) if test(*assertion))
            || self.children().iter().any(|child| child.has_assertion(test))
    }

    /// Adds `offset` to the numbers of groups and of back-references.
    pub(super) fn renumber_groups(&mut self, offset: usize) {
        match self {
            Self::Group(number, node) => {
                *number += offset;
                node.renumber_groups(offset);
            }
            Self::BackReference(number) => *number += offset,
            Self::Repetition(repetition) => repetition.node.renumber_groups(offset),
            Self::Concatenation(nodes) | Self::Alternation(nodes) => {
                nodes.iter_mut().for_each(|node| node.renumber_groups(offset));
            }
            Self::Empty | Self::Set(_) | Self::Assertion(_) => {}
        }
    }
}

/// A repeated part.
#[derive(Clone, Debug)]
pub(super) struct Repetition {
    pub(super) node: Node,
    pub(super) min: u32,
    /// `None` if there is no limit.
    pub(super) max: Option<u32>,
}

/// A position in the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    LineStart,
    LineEnd,
    BufferStart,
    BufferEnd,
    WordStart,
    WordEnd,
    WordBoundary,
    NotWordBoundary,
    /// Not after a character of a word.
    NotAfterWord,
    /// Not before a character of a word.
    NotBeforeWord,
}
