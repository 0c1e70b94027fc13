//! Arithmetic expressions.

use std::sync::Arc;

use super::{Bytes, Name, SharedSlice, Span, Word};

/// An arithmetic expression, as in `$((…))`, `((…))`, `for ((…))`, a subscript or a substring expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Source range, without the delimiters.
    pub span: Span,
    /// The text of the expression. bash expands it as if in double quotes before it parses it.
    pub text: Arc<Word>,
    /// The part of the expression that could be parsed ahead of time.
    pub form: ArithmeticForm,
}

/// The result of parsing an arithmetic expression ahead of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArithmeticForm {
    /// The text contains no expansions, so this tree is always correct.
    Tree(ArithmeticTree),
    /// The text contains expansions, represented by [`ArithmeticNode::Expansion`]. The tree is correct if
    /// each of them, expanded in the order of the text's parts, yields an unsigned decimal integer without
    /// leading zeros. Otherwise insert the results into the text and parse that with
    /// [`parse_arithmetic`](crate::parse_arithmetic). Do not expand twice.
    Guess(ArithmeticTree),
    /// The expression can be parsed only after expansion, or it is invalid, which is an error only when it is
    /// evaluated.
    Text,
}

/// A parsed arithmetic expression: a table of nodes in which operands precede their operators. The root is
/// last. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticTree {
    nodes: SharedSlice<ArithmeticNode>,
}

/// The index of a node in its [`ArithmeticTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

impl ArithmeticTree {
    /// Creates a tree from its nodes. No nodes mean the constant 0.
    pub(crate) fn new(nodes: SharedSlice<ArithmeticNode>) -> Self {
        if nodes.is_empty() {
            return Self { nodes: vec![ArithmeticNode::Number(0)].into() };
        }
        Self { nodes }
    }

    /// Returns the root's ID.
    #[must_use]
    pub fn root(&self) -> NodeId {
        NodeId::at(self.nodes.len().saturating_sub(1))
    }

    /// Returns the node at `id`, which must belong to this tree.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &ArithmeticNode {
        &self.nodes[id.0 as usize]
    }

    /// Returns all nodes, operands before operators.
    #[must_use]
    pub fn nodes(&self) -> &[ArithmeticNode] {
        &self.nodes
    }
}

impl NodeId {
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index into [`ArithmeticTree::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of an arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArithmeticNode {
    /// A constant.
    Number(i64),
    /// A variable. bash evaluates its value as an expression.
    Variable(Name),
    /// An element of an array.
    Element {
        /// The array.
        name: Name,
        /// Which element.
        subscript: Box<ArithmeticSubscript>,
    },
    /// The result of expanding the part of the text at this index.
    Expansion(u32),
    /// `-x`, `+x`, `!x`, `~x`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// Its operand.
        operand: NodeId,
    },
    /// `x++`, `x--`, `++x` or `--x`.
    Increment {
        /// The operator.
        operator: IncrementOperator,
        /// A variable or an element.
        target: NodeId,
    },
    /// `x + y` and the other operators that evaluate both sides, left first.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// `x && y`: the right side is evaluated only if the left is not 0.
    And {
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// `x || y`: the right side is evaluated only if the left is 0.
    Or {
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// `x ? y : z`: only one of the branches is evaluated.
    Ternary {
        /// The condition.
        condition: NodeId,
        /// The value if it is not 0.
        then: NodeId,
        /// The value if it is 0.
        otherwise: NodeId,
    },
    /// `x = y`, or `x op= y`.
    Assign {
        /// The operator of `x op= y`; `None` for `x = y`.
        operator: Option<BinaryOperator>,
        /// A variable or an element.
        target: NodeId,
        /// The right side.
        value: NodeId,
    },
    /// `x, y`: both sides are evaluated, and the value is that of the right side.
    Comma {
        /// Evaluated first.
        left: NodeId,
        /// Evaluated second.
        right: NodeId,
    },
}

/// The subscript of an array element in an arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticSubscript {
    /// The text between the brackets: the key, before quote removal, if the array is associative. `None` if
    /// the text contains expansions.
    pub key: Option<Bytes>,
    /// The index, if the array is indexed; `None` if the text is not a valid expression.
    pub index: Option<NodeId>,
}

/// The unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `!`.
    Not,
    /// `~`.
    Complement,
}

/// The increment and decrement operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IncrementOperator {
    /// `++x`.
    PreIncrement,
    /// `--x`.
    PreDecrement,
    /// `x++`.
    PostIncrement,
    /// `x--`.
    PostDecrement,
}

/// The binary operators that evaluate both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `**`.
    Power,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `&`.
    BitAnd,
    /// `^`.
    BitXor,
    /// `|`.
    BitOr,
}
