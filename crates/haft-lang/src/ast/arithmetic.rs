//! Arithmetic expressions.

use std::sync::Arc;

use super::{Name, Slice, Span, Text, Word};

/// An arithmetic expression: of `$((…))`, `((…))`, `for ((…))`, a subscript, a substring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Where the expression stands, delimiters not included.
    pub span: Span,
    /// The expression as text: what bash expands, as if in double quotes, before it parses it.
    pub text: Arc<Word>,
    /// What could be parsed ahead of time.
    pub form: ArithmeticForm,
}

/// What of an arithmetic expression could be parsed ahead of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArithmeticForm {
    /// The text holds no expansion: this is what it means, always.
    Tree(ArithmeticTree),
    /// The text holds expansions, as [`ArithmeticNode::Expansion`]. This is what it means if each of them, expanded
    /// in the order of the parts of the text, yields an unsigned decimal integer without leading zeros. If one
    /// yields anything else, put what they yielded into the text and parse that
    /// ([`parse_arithmetic`](crate::parse_arithmetic)); do not expand again.
    Guess(ArithmeticTree),
    /// Only the expanded text can tell; or the text is wrong, which is an error when it is evaluated and not
    /// before.
    Text,
}

/// A parsed arithmetic expression: a table of nodes in which operands come before their operators, the root
/// last. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticTree {
    nodes: Slice<ArithmeticNode>,
}

/// The place of a node in its [`ArithmeticTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

impl ArithmeticTree {
    /// Makes a tree of nodes; empty stands for the constant 0.
    pub(crate) fn new(nodes: Slice<ArithmeticNode>) -> Self {
        if nodes.is_empty() {
            return Self { nodes: vec![ArithmeticNode::Number(0)].into() };
        }
        Self { nodes }
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> NodeId {
        NodeId::at(self.nodes.len().saturating_sub(1))
    }

    /// The node at `id`, which must be of this tree.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &ArithmeticNode {
        &self.nodes[id.0 as usize]
    }

    /// All nodes, operands before operators.
    #[must_use]
    pub fn nodes(&self) -> &[ArithmeticNode] {
        &self.nodes
    }
}

impl NodeId {
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The place in [`ArithmeticTree::nodes`].
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
    /// A variable, whose value is an expression again.
    Variable(Name),
    /// An element of an array.
    Element {
        /// The array.
        name: Name,
        /// Which element.
        subscript: Box<ArithmeticSubscript>,
    },
    /// What the part of the text at this index expands to.
    Expansion(u32),
    /// `-x`, `+x`, `!x`, `~x`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// Its operand.
        operand: NodeId,
    },
    /// `x++` and its kin.
    Increment {
        /// Which way, and which value it has.
        operator: IncrementOperator,
        /// A variable or an element.
        target: NodeId,
    },
    /// `x + y` and its kin; both sides are evaluated, left first.
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
        /// What decides.
        condition: NodeId,
        /// The value if it is not 0.
        then: NodeId,
        /// The value if it is.
        otherwise: NodeId,
    },
    /// `x = y`, or `x op= y`.
    Assign {
        /// The operator of a compound assignment.
        operator: Option<BinaryOperator>,
        /// A variable or an element.
        target: NodeId,
        /// The right side.
        value: NodeId,
    },
    /// `x, y`: both are evaluated, the value is the right one's.
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
    /// The text between the brackets: the key, before quote removal, if the array is associative. `None` if it holds
    /// expansions: then only the text of the whole expression can tell.
    pub key: Option<Text>,
    /// The index, if the array is not associative; `None` if the text is not an expression.
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

/// The increments and decrements.
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
