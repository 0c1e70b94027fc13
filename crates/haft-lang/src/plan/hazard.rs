//! Expansions that evaluate values: what looks like data and can run commands.

use crate::ast::{
    Arithmetic, Assignment, AssignmentValue, BinaryTest, ConditionalKind, Descriptor, Parameter,
    ParameterExpansion, ParameterOperator, PartKind, Subscript, SubscriptKind, Transform, Word,
};
use crate::walk::Node;

use super::build::{Builder, Place};
use super::step::Reason;

impl Builder<'_> {
    /// Says of what stands directly in a node that it evaluates a value that is not known.
    pub(super) fn hazards(&mut self, node: Node<'_>, index: usize, place: &Place<'_>) {
        match node {
            Node::Arithmetic(arithmetic) => self.arithmetic(arithmetic, index, place),
            Node::Conditional(conditional) => match &conditional.kind {
                ConditionalKind::Binary { test, left, right } if is_arithmetic(*test) => {
                    self.operand(left, index, place);
                    self.operand(right, index, place);
                }
                ConditionalKind::Unary { test, operand } if matches!(test.letter(), b'v' | b'R') => {
                    self.variable_name(operand, index, place);
                }
                _ => {}
            },
            Node::Part(part) => match &part.kind {
                PartKind::Parameter(expansion) => {
                    self.parameter(expansion, part.span.of(place.source), index);
                }
                PartKind::Command(substitution) if substitution.error.is_some() => {
                    self.opaque(index, Reason::BrokenSubstitution, part.span.of(place.source));
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn parameter(&mut self, expansion: &ParameterExpansion, source: &[u8], index: usize) {
        if expansion.indirect {
            self.opaque(index, Reason::VariableName, source);
        }
        match &expansion.operator {
            ParameterOperator::Transform(Transform::Prompt) => {
                self.opaque(index, Reason::PromptValue, source);
            }
            ParameterOperator::Invalid { .. } => self.opaque(index, Reason::BrokenSubstitution, source),
            _ => {}
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic, index: usize, place: &Place<'_>) {
        if !self.values.is_harmless(arithmetic) {
            self.opaque(index, Reason::ArithmeticValue, arithmetic.span.of(place.source));
        }
    }

    /// An operand of `-eq` and its kin inside `[[ ]]`.
    fn operand(&mut self, word: &Word, index: usize, place: &Place<'_>) {
        let known = word.literal().is_some_and(|name| self.values.is_numeric(name));
        if !known && !self.values.is_number(word) {
            self.opaque(index, Reason::ArithmeticValue, word.span.of(place.source));
        }
    }

    fn variable_name(&mut self, word: &Word, index: usize, place: &Place<'_>) {
        if !word.literal().is_some_and(is_plain_name) {
            self.opaque(index, Reason::VariableName, word.span.of(place.source));
        }
    }

    /// Goes on with what stands below a node. The subscripts of associative arrays are words, not arithmetic.
    pub(super) fn children(&mut self, node: Node<'_>, index: usize, place: &Place<'_>) {
        let name = match node {
            Node::Assignment(assignment) => Some(&assignment.name),
            Node::Part(part) => array(&part.kind),
            Node::Redirect(redirect) => match &redirect.descriptor {
                Descriptor::Variable { name, .. } => Some(name),
                Descriptor::Default | Descriptor::Number(_) => None,
            },
            _ => None,
        };
        let associative = name.is_some_and(|name| self.values.is_associative(name));
        match node {
            Node::Assignment(assignment) if associative => self.keyed_assignment(assignment, index, place),
            _ => node.children(&mut |child| match child {
                Node::Subscript(subscript) if associative => self.key(subscript, index, place),
                _ => self.expand(child, index, place),
            }),
        }
    }

    fn key(&mut self, subscript: &Subscript, index: usize, place: &Place<'_>) {
        if let SubscriptKind::Element { key, .. } = &subscript.kind {
            self.expand(Node::Word(key), index, place);
        }
    }

    fn keyed_assignment(&mut self, assignment: &Assignment, index: usize, place: &Place<'_>) {
        assignment.subscript.iter().for_each(|subscript| self.key(subscript, index, place));
        match &assignment.value {
            AssignmentValue::Word(word) => self.expand(Node::Word(word), index, place),
            AssignmentValue::Array(elements) => {
                for element in elements {
                    element.subscript.iter().for_each(|subscript| self.key(subscript, index, place));
                    self.expand(Node::Word(&element.value), index, place);
                }
            }
        }
    }
}

fn array(part: &PartKind) -> Option<&crate::ast::Name> {
    match part {
        PartKind::Parameter(expansion) => match &expansion.parameter {
            Parameter::Variable(name) => Some(name),
            Parameter::Positional(_) | Parameter::Special(_) => None,
        },
        _ => None,
    }
}

/// Whether the operands are evaluated as arithmetic.
fn is_arithmetic(test: BinaryTest) -> bool {
    match test {
        BinaryTest::Equal
        | BinaryTest::NotEqual
        | BinaryTest::Less
        | BinaryTest::LessOrEqual
        | BinaryTest::Greater
        | BinaryTest::GreaterOrEqual => true,
        BinaryTest::MatchesSingle
        | BinaryTest::Matches
        | BinaryTest::MatchesNot
        | BinaryTest::Regex
        | BinaryTest::Before
        | BinaryTest::After
        | BinaryTest::Newer
        | BinaryTest::Older
        | BinaryTest::SameFile => false,
    }
}

/// Whether a name of a variable, perhaps with a subscript, holds nothing that is expanded or evaluated.
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    let (name, subscript) = match memchr::memchr(b'[', name) {
        Some(at) => name.split_at(at),
        None => (name, &b"[0]"[..]),
    };
    let inside = subscript.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(b"$");
    let word = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    word(name) && (inside.iter().all(u8::is_ascii_digit) || matches!(inside, b"@" | b"*"))
}
