//! Expansions that evaluate data as code and can therefore run commands.

use crate::ast::{
    Arithmetic, Assignment, AssignmentValue, BinaryTest, ConditionalKind, Parameter, ParameterExpansion,
    ParameterOperator, PartKind, RedirectDescriptor, Subscript, SubscriptKind, Transform, Word,
};
use crate::walk::SyntaxNode;

use super::build::{PlanBuilder, StepContext};
use super::step::OpaqueReason;

impl PlanBuilder<'_> {
    /// Marks a step as opaque if a node evaluates an unknown value.
    pub(super) fn hazards(&mut self, node: SyntaxNode<'_>, index: usize, context: &StepContext<'_>) {
        match node {
            SyntaxNode::Arithmetic(arithmetic) => self.arithmetic(arithmetic, index, context),
            SyntaxNode::Conditional(conditional) => match &conditional.kind {
                ConditionalKind::Binary { test, left, right } if is_arithmetic(*test) => {
                    self.operand(left, index, context);
                    self.operand(right, index, context);
                }
                ConditionalKind::Unary { test, operand } if matches!(test.letter(), b'v' | b'R') => {
                    self.variable_name(operand, index, context);
                }
                _ => {}
            },
            SyntaxNode::Part(part) => match &part.kind {
                PartKind::Parameter(expansion) => {
                    self.parameter(expansion, part.span.of(context.source), index);
                }
                PartKind::Command(substitution) if substitution.error.is_some() => {
                    self.opaque(index, OpaqueReason::BrokenSubstitution, part.span.of(context.source));
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn parameter(&mut self, expansion: &ParameterExpansion, source: &[u8], index: usize) {
        if expansion.indirect {
            self.opaque(index, OpaqueReason::VariableName, source);
        }
        match &expansion.operator {
            ParameterOperator::Transform(Transform::Prompt) => {
                self.opaque(index, OpaqueReason::PromptValue, source);
            }
            ParameterOperator::Invalid { .. } => self.opaque(index, OpaqueReason::BrokenSubstitution, source),
            _ => {}
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic, index: usize, context: &StepContext<'_>) {
        if !self.values.is_harmless(arithmetic) {
            self.opaque(index, OpaqueReason::ArithmeticValue, arithmetic.span.of(context.source));
        }
    }

    /// Checks an operand of `-eq` or a similar operator inside `[[ ]]`.
    fn operand(&mut self, word: &Word, index: usize, context: &StepContext<'_>) {
        let known = word.literal().is_some_and(|name| self.values.is_numeric(name));
        if !known && !self.values.is_number(word) {
            self.opaque(index, OpaqueReason::ArithmeticValue, word.span.of(context.source));
        }
    }

    fn variable_name(&mut self, word: &Word, index: usize, context: &StepContext<'_>) {
        if !word.literal().is_some_and(is_plain_name) {
            self.opaque(index, OpaqueReason::VariableName, word.span.of(context.source));
        }
    }

    /// Plans the children of a node. Subscripts of associative arrays are words, not arithmetic.
    pub(super) fn children(&mut self, node: SyntaxNode<'_>, index: usize, context: &StepContext<'_>) {
        let name = match node {
            SyntaxNode::Assignment(assignment) => Some(&assignment.name),
            SyntaxNode::Part(part) => array(&part.kind),
            SyntaxNode::Redirect(redirect) => match &redirect.descriptor {
                RedirectDescriptor::Variable { name, .. } => Some(name),
                RedirectDescriptor::Default | RedirectDescriptor::Number(_) => None,
            },
            _ => None,
        };
        let associative = name.is_some_and(|name| self.values.is_associative(name));
        match node {
            SyntaxNode::Assignment(assignment) if associative => {
                self.keyed_assignment(assignment, index, context);
            }
            _ => node.children(&mut |child| match child {
                SyntaxNode::Subscript(subscript) if associative => self.key(subscript, index, context),
                _ => self.expand(child, index, context),
            }),
        }
    }

    fn key(&mut self, subscript: &Subscript, index: usize, context: &StepContext<'_>) {
        if let SubscriptKind::Element { key, .. } = &subscript.kind {
            self.expand(SyntaxNode::Word(key), index, context);
        }
    }

    fn keyed_assignment(&mut self, assignment: &Assignment, index: usize, context: &StepContext<'_>) {
        assignment.subscript.iter().for_each(|subscript| self.key(subscript, index, context));
        match &assignment.value {
            AssignmentValue::Word(word) => self.expand(SyntaxNode::Word(word), index, context),
            AssignmentValue::Array(elements) => {
                for element in elements {
                    element.subscript.iter().for_each(|subscript| self.key(subscript, index, context));
                    self.expand(SyntaxNode::Word(&element.value), index, context);
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

/// Whether a test evaluates its operands as arithmetic.
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
        | BinaryTest::NotMatches
        | BinaryTest::Regex
        | BinaryTest::Before
        | BinaryTest::After
        | BinaryTest::Newer
        | BinaryTest::Older
        | BinaryTest::SameFile => false,
    }
}

/// Whether a variable name, possibly with a subscript, contains nothing that is expanded or evaluated.
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    let (name, subscript) = match memchr::memchr(b'[', name) {
        Some(at) => name.split_at(at),
        None => (name, &b"[0]"[..]),
    };
    let inside = subscript.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(b"$");
    let word = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    word(name) && (inside.iter().all(u8::is_ascii_digit) || matches!(inside, b"@" | b"*"))
}
