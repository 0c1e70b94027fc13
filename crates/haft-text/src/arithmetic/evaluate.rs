//! Evaluation of the tree of an expression.

use crate::Bytes;
use haft_lang::ast::{
    ArithmeticNode, ArithmeticSubscript, ArithmeticTree, BinaryOperator, IncrementOperator, NodeId,
};

use super::{ArithmeticError, ArithmeticKey, ArithmeticVariables, evaluate_nested, operators, plain_number};

/// How many operators of a chain are stored without an allocation.
const MAX_INLINE_CHAIN: usize = 8;

pub(super) struct Evaluator<'a, V> {
    tree: &'a ArithmeticTree,
    variables: &'a mut V,
    depth: u32,
}

/// The left side of an assignment, with its subscript evaluated.
enum ArithmeticTarget<'a> {
    Variable(&'a Bytes),
    Element(&'a Bytes, ArithmeticKey<'a>),
}

impl<'a, V: ArithmeticVariables> Evaluator<'a, V> {
    pub(super) fn new(tree: &'a ArithmeticTree, variables: &'a mut V, depth: u32) -> Self {
        Self { tree, variables, depth }
    }

    pub(super) fn root(&mut self) -> Result<i64, V::Error> {
        self.node(self.tree.root())
    }

    fn node(&mut self, id: NodeId) -> Result<i64, V::Error> {
        let tree = self.tree;
        match tree.node(id) {
            ArithmeticNode::Number(number) => Ok(*number),
            ArithmeticNode::Variable(name) => self.variable(name),
            ArithmeticNode::Element { .. } => {
                let target = self.target(id)?;
                self.read(&target)
            }
            ArithmeticNode::Expansion(part) => self.variables.expansion(*part),
            ArithmeticNode::Unary { operator, operand } => {
                Ok(operators::unary(*operator, self.node(*operand)?))
            }
            ArithmeticNode::Increment { operator, target } => self.increment(*operator, *target),
            ArithmeticNode::Ternary { condition, then, otherwise } => {
                let chosen = if self.node(*condition)? != 0 { *then } else { *otherwise };
                self.node(chosen)
            }
            ArithmeticNode::Assign { operator, target, value } => self.assign(*operator, *target, *value),
            ArithmeticNode::Binary { .. }
            | ArithmeticNode::And { .. }
            | ArithmeticNode::Or { .. }
            | ArithmeticNode::Comma { .. } => self.chain(id),
        }
    }

    /// Evaluates an operator whose left operand may be a long chain of operators: without recursion, from the first operand on.
    fn chain(&mut self, id: NodeId) -> Result<i64, V::Error> {
        let tree = self.tree;
        let mut near = [id; MAX_INLINE_CHAIN];
        let mut count = 0;
        let mut far = Vec::new();
        let mut current = id;
        while let Some(left) = left_of(tree.node(current)) {
            match near.get_mut(count) {
                Some(slot) => *slot = current,
                None => far.push(current),
            }
            count += 1;
            current = left;
        }
        let mut value = self.node(current)?;
        for operator in far.iter().rev().chain(near[..count.min(MAX_INLINE_CHAIN)].iter().rev()) {
            value = self.apply(*operator, value)?;
        }
        Ok(value)
    }

    #[inline]
    fn apply(&mut self, id: NodeId, left: i64) -> Result<i64, V::Error> {
        let tree = self.tree;
        match tree.node(id) {
            ArithmeticNode::Binary { operator, right, .. } => {
                let right = self.node(*right)?;
                Ok(operators::binary(*operator, left, right)?)
            }
            ArithmeticNode::And { right, .. } if left != 0 => Ok(i64::from(self.node(*right)? != 0)),
            ArithmeticNode::And { .. } => Ok(0),
            ArithmeticNode::Or { right, .. } if left == 0 => Ok(i64::from(self.node(*right)? != 0)),
            ArithmeticNode::Or { .. } => Ok(1),
            ArithmeticNode::Comma { right, .. } => self.node(*right),
            _ => Ok(left),
        }
    }

    #[inline]
    fn variable(&mut self, name: &Bytes) -> Result<i64, V::Error> {
        let text = self.variables.get(name)?;
        match plain_number(&text) {
            Some(number) => Ok(number),
            None => evaluate_nested(&text, self.variables, self.depth),
        }
    }

    fn target(&mut self, id: NodeId) -> Result<ArithmeticTarget<'a>, V::Error> {
        let tree = self.tree;
        match tree.node(id) {
            ArithmeticNode::Variable(name) => Ok(ArithmeticTarget::Variable(name)),
            ArithmeticNode::Element { name, subscript } => {
                Ok(ArithmeticTarget::Element(name, self.key(name, subscript)?))
            }
            _ => Err(ArithmeticError::Syntax("attempted assignment to non-variable".to_owned()).into()),
        }
    }

    fn key(
        &mut self,
        name: &Bytes,
        subscript: &'a ArithmeticSubscript,
    ) -> Result<ArithmeticKey<'a>, V::Error> {
        if self.variables.is_associative(name) {
            return match &subscript.key {
                Some(key) => Ok(ArithmeticKey::Text(key)),
                None => Err(ArithmeticError::BadSubscript.into()),
            };
        }
        match (subscript.index, &subscript.key) {
            (Some(index), _) => Ok(ArithmeticKey::Index(self.node(index)?)),
            (None, Some(key)) if key.iter().any(|byte| matches!(byte, b'$' | b'`')) => {
                let text = self.variables.expand_subscript(key)?;
                Ok(ArithmeticKey::Index(evaluate_nested(&text, self.variables, self.depth)?))
            }
            (None, _) => Err(ArithmeticError::BadSubscript.into()),
        }
    }

    fn read(&mut self, target: &ArithmeticTarget<'a>) -> Result<i64, V::Error> {
        match target {
            ArithmeticTarget::Variable(name) => self.variable(name),
            ArithmeticTarget::Element(name, key) => {
                let text = self.variables.get_element(name, *key)?;
                evaluate_nested(&text, self.variables, self.depth)
            }
        }
    }

    fn write(&mut self, target: &ArithmeticTarget<'a>, value: i64) -> Result<(), V::Error> {
        match target {
            ArithmeticTarget::Variable(name) => self.variables.set(name, value),
            ArithmeticTarget::Element(name, key) => self.variables.set_element(name, *key, value),
        }
    }

    fn increment(&mut self, operator: IncrementOperator, target: NodeId) -> Result<i64, V::Error> {
        let target = self.target(target)?;
        let old = self.read(&target)?;
        let new = match operator {
            IncrementOperator::PreIncrement | IncrementOperator::PostIncrement => old.wrapping_add(1),
            IncrementOperator::PreDecrement | IncrementOperator::PostDecrement => old.wrapping_sub(1),
        };
        self.write(&target, new)?;
        Ok(match operator {
            IncrementOperator::PreIncrement | IncrementOperator::PreDecrement => new,
            IncrementOperator::PostIncrement | IncrementOperator::PostDecrement => old,
        })
    }

    /// `+=` and the like read the left side first; `=` evaluates the subscript of the left side last.
    fn assign(
        &mut self,
        operator: Option<BinaryOperator>,
        target: NodeId,
        value: NodeId,
    ) -> Result<i64, V::Error> {
        let Some(operator) = operator else {
            let result = self.node(value)?;
            let target = self.target(target)?;
            self.write(&target, result)?;
            return Ok(result);
        };
        let target = self.target(target)?;
        let left = self.read(&target)?;
        let right = self.node(value)?;
        let result = operators::binary(operator, left, right)?;
        self.write(&target, result)?;
        Ok(result)
    }
}

/// Returns the left operand of an operator that can form chains.
fn left_of(node: &ArithmeticNode) -> Option<NodeId> {
    match node {
        ArithmeticNode::Binary { left, .. }
        | ArithmeticNode::And { left, .. }
        | ArithmeticNode::Or { left, .. }
        | ArithmeticNode::Comma { left, .. } => Some(*left),
        _ => None,
    }
}
