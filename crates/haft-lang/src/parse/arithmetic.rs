//! Arithmetic expressions.
//!
//! Operands precede operators in the table of nodes, so a node's operands are known when it is created.
//! Binary operators are parsed by precedence climbing. A chain of operators of the same precedence takes a
//! loop, not recursion.

use crate::Expected;
use crate::ast::{
    ArithmeticNode, ArithmeticSubscript, ArithmeticTree, BinaryOperator, Bytes, IncrementOperator, Name,
    NodeId, Span, UnaryOperator,
};
use crate::error::{ErrorKind, SyntaxError};
use crate::sys::Arena;

use super::bytes::{self, NAME, NAME_START};
use super::number::constant;
use super::{MAX_NESTING_DEPTH, Result};

/// Placeholder for an expansion in the text. The input contains no NUL bytes.
pub(super) const EXPANSION: u8 = 0;

/// Parses an expression in which each [`EXPANSION`] is a placeholder for the part at the corresponding index
/// in `indices`.
pub(super) fn parse(text: &[u8], indices: &[u32], arena: &mut Arena) -> Result<ArithmeticTree> {
    // Enough for most expressions.
    let nodes = Vec::with_capacity(8);
    ExpressionParser { text, at: 0, nodes, indices, expansions: 0, depth: 0 }.parse(arena)
}

/// Parses an arithmetic expression.
struct ExpressionParser<'a> {
    text: &'a [u8],
    at: usize,
    nodes: Vec<ArithmeticNode>,
    indices: &'a [u32],
    expansions: usize,
    depth: u32,
}

impl<'a> ExpressionParser<'a> {
    fn parse(mut self, arena: &mut Arena) -> Result<ArithmeticTree> {
        self.skip_blanks();
        if self.at < self.text.len() {
            self.comma()?;
        }
        if self.at < self.text.len() {
            return Err(self.error(Expected::Operator));
        }
        Ok(ArithmeticTree::new(arena.slice_from(&mut self.nodes)))
    }

    fn push(&mut self, node: ArithmeticNode) -> NodeId {
        self.nodes.push(node);
        NodeId::at(self.nodes.len() - 1)
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Whether a name starts here. A variable in parentheses cannot be assigned to.
    fn at_name(&self) -> bool {
        self.peek().is_some_and(|byte| bytes::is(byte, NAME_START))
    }

    /// Consumes a symbol and the blanks after it.
    fn eat(&mut self, symbol: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(symbol);
        if found {
            self.at += symbol.len();
            self.skip_blanks();
        }
        found
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_NESTING_DEPTH {
            let mut error = self.error(Expected::Operand);
            error.kind = ErrorKind::TooDeep;
            return Err(error);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    #[cold]
    fn error(&self, expected: Expected) -> Box<SyntaxError> {
        let rest = &self.text[self.at..];
        let start = u32::try_from(self.at).unwrap_or(u32::MAX);
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let found = match rest {
            [] => "the end of the expression".to_owned(),
            _ => format!("\"{}\"", String::from_utf8_lossy(&rest[..rest.len().min(40)])),
        };
        Box::new(SyntaxError {
            kind: ErrorKind::Arithmetic,
            span: Span::new(start, end),
            found,
            expected: Some(expected),
            opened: None,
            here_document: None,
            hint: None,
            incomplete: false,
        })
    }

    /// `a, b`.
    fn comma(&mut self) -> Result<NodeId> {
        let mut left = self.assignment()?;
        while self.eat(b",") {
            let right = self.assignment()?;
            left = self.push(ArithmeticNode::Comma { left, right });
        }
        Ok(left)
    }

    /// `a = b`, and operators of higher precedence.
    fn assignment(&mut self) -> Result<NodeId> {
        let bare = self.at_name();
        let target = self.choice()?;
        let Some(operator) = self.assignment_operator() else { return Ok(target) };
        let assignable = matches!(
            self.nodes[target.index()],
            ArithmeticNode::Variable(_) | ArithmeticNode::Element { .. }
        );
        if !bare || !assignable || target.index() + 1 != self.nodes.len() {
            return Err(self.error(Expected::AssignedVariable));
        }
        let value = self.nested(Self::assignment)?;
        Ok(self.push(ArithmeticNode::Assign { operator, target, value }))
    }

    fn assignment_operator(&mut self) -> Option<Option<BinaryOperator>> {
        const OPERATORS: &[(&[u8], Option<BinaryOperator>)] = &[
            (b"+=", Some(BinaryOperator::Add)),
            (b"-=", Some(BinaryOperator::Subtract)),
            (b"*=", Some(BinaryOperator::Multiply)),
            (b"/=", Some(BinaryOperator::Divide)),
            (b"%=", Some(BinaryOperator::Remainder)),
            (b"<<=", Some(BinaryOperator::ShiftLeft)),
            (b">>=", Some(BinaryOperator::ShiftRight)),
            (b"&=", Some(BinaryOperator::BitAnd)),
            (b"^=", Some(BinaryOperator::BitXor)),
            (b"|=", Some(BinaryOperator::BitOr)),
        ];
        if self.peek() == Some(b'=') && self.text.get(self.at + 1) != Some(&b'=') {
            self.eat(b"=");
            return Some(None);
        }
        OPERATORS.iter().find(|(symbol, _)| self.eat(symbol)).map(|(_, operator)| *operator)
    }

    /// `a ? b : c`.
    fn choice(&mut self) -> Result<NodeId> {
        let condition = self.binary(1)?;
        if !self.eat(b"?") {
            return Ok(condition);
        }
        let then = self.nested(Self::comma)?;
        if !self.eat(b":") {
            return Err(self.error(Expected::Token(":")));
        }
        let otherwise = self.nested(Self::choice)?;
        Ok(self.push(ArithmeticNode::Ternary { condition, then, otherwise }))
    }

    /// Parses binary operators of at least precedence `level`.
    fn binary(&mut self, level: u8) -> Result<NodeId> {
        let mut left = self.unary()?;
        while let Some((symbol, binds, operator)) =
            self.binary_operator().filter(|(_, binds, _)| *binds >= level)
        {
            self.eat(symbol);
            let right_level = if binds == POWER { binds } else { binds + 1 };
            let right = self.nested(|expression| expression.binary(right_level))?;
            left = self.push(match operator {
                Infix::Or => ArithmeticNode::Or { left, right },
                Infix::And => ArithmeticNode::And { left, right },
                Infix::Both(operator) => ArithmeticNode::Binary { operator, left, right },
            });
        }
        Ok(left)
    }

    /// Returns the next binary operator: its spelling, precedence and meaning.
    fn binary_operator(&self) -> Option<(&'static [u8], u8, Infix)> {
        use BinaryOperator as Op;
        let second = self.text.get(self.at + 1).copied().unwrap_or(b' ');
        let third = self.text.get(self.at + 2).copied().unwrap_or(b' ');
        let both = Infix::Both;
        Some(match (self.peek()?, second) {
            // `a --b` is not a subtraction: two signs before a name are a decrement.
            (b'+', b'+') | (b'-', b'-') if self.name_after_increment() => return None,
            (b'|', b'|') => (b"||", 1, Infix::Or),
            (b'&', b'&') => (b"&&", 2, Infix::And),
            (b'=', b'=') => (b"==", 6, both(Op::Equal)),
            (b'!', b'=') => (b"!=", 6, both(Op::NotEqual)),
            (b'<', b'<') if third != b'=' => (b"<<", 8, both(Op::ShiftLeft)),
            (b'>', b'>') if third != b'=' => (b">>", 8, both(Op::ShiftRight)),
            (b'<' | b'>', b'<' | b'>') => return None,
            (b'<', b'=') => (b"<=", 7, both(Op::LessOrEqual)),
            (b'>', b'=') => (b">=", 7, both(Op::GreaterOrEqual)),
            (b'*', b'*') => (b"**", POWER, both(Op::Power)),
            (_, b'=') => return None,
            (b'|', _) => (b"|", 3, both(Op::BitOr)),
            (b'^', _) => (b"^", 4, both(Op::BitXor)),
            (b'&', _) => (b"&", 5, both(Op::BitAnd)),
            (b'<', _) => (b"<", 7, both(Op::Less)),
            (b'>', _) => (b">", 7, both(Op::Greater)),
            (b'+', _) => (b"+", 9, both(Op::Add)),
            (b'-', _) => (b"-", 9, both(Op::Subtract)),
            (b'*', _) => (b"*", 10, both(Op::Multiply)),
            (b'/', _) => (b"/", 10, both(Op::Divide)),
            (b'%', _) => (b"%", 10, both(Op::Remainder)),
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<NodeId> {
        let rest = &self.text[self.at..];
        let doubled = matches!(rest, [b'+', b'+', ..] | [b'-', b'-', ..]);
        if doubled && self.name_after_increment() {
            return self.prefix_increment();
        }
        let operator = match self.peek() {
            Some(b'-') => UnaryOperator::Minus,
            Some(b'+') => UnaryOperator::Plus,
            Some(b'!') if rest.get(1) != Some(&b'=') => UnaryOperator::Not,
            Some(b'~') => UnaryOperator::Complement,
            _ => return self.postfix(),
        };
        self.at += 1;
        self.skip_blanks();
        let operand = self.nested(Self::unary)?;
        Ok(self.push(ArithmeticNode::Unary { operator, operand }))
    }

    /// Whether a name follows `++` or `--`. Otherwise they are two unary operators.
    fn name_after_increment(&self) -> bool {
        let rest = &self.text[self.at + 2..];
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        bytes::name_length(&rest[blanks..]) > 0
    }

    fn prefix_increment(&mut self) -> Result<NodeId> {
        let operator = if self.peek() == Some(b'+') {
            IncrementOperator::PreIncrement
        } else {
            IncrementOperator::PreDecrement
        };
        self.at += 2;
        self.skip_blanks();
        let target = self.operand()?;
        self.skip_blanks();
        Ok(self.push(ArithmeticNode::Increment { operator, target }))
    }

    fn postfix(&mut self) -> Result<NodeId> {
        let bare = self.at_name();
        let operand = self.operand()?;
        let variable = matches!(
            self.nodes[operand.index()],
            ArithmeticNode::Variable(_) | ArithmeticNode::Element { .. }
        );
        self.skip_blanks();
        if !bare || !variable {
            return Ok(operand);
        }
        let operator = match &self.text[self.at..] {
            [b'+', b'+', ..] => IncrementOperator::PostIncrement,
            [b'-', b'-', ..] => IncrementOperator::PostDecrement,
            _ => return Ok(operand),
        };
        self.at += 2;
        self.skip_blanks();
        Ok(self.push(ArithmeticNode::Increment { operator, target: operand }))
    }

    /// Parses a number, variable, expansion or parenthesized expression, without the blanks after it.
    fn operand(&mut self) -> Result<NodeId> {
        match self.peek() {
            Some(b'(') => {
                self.eat(b"(");
                let inner = self.nested(Self::comma)?;
                if self.peek() != Some(b')') {
                    return Err(self.error(Expected::Token(")")));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(b'0'..=b'9') => self.number(),
            Some(EXPANSION) if self.expansions < self.indices.len() => self.expansion(),
            _ => self.variable(),
        }
    }

    /// Parses an expansion. Adjacent text would form one token with its result.
    fn expansion(&mut self) -> Result<NodeId> {
        let sticks = |byte: &u8| bytes::is(*byte, NAME) || matches!(*byte, b'#' | b'@' | b'[' | EXPANSION);
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at)).is_some_and(sticks);
        self.at += 1;
        if before || self.text.get(self.at).is_some_and(sticks) {
            // The expression depends on the expanded text. The error only makes the caller wait for it.
            return Err(self.error(Expected::Operator));
        }
        let index = self.indices[self.expansions];
        self.expansions += 1;
        Ok(self.push(ArithmeticNode::Expansion(index)))
    }

    fn variable(&mut self) -> Result<NodeId> {
        let length = bytes::name_length(&self.text[self.at..]);
        if length == 0 {
            return Err(self.error(Expected::Operand));
        }
        let name = Name::from(&self.text[self.at..self.at + length]);
        self.at += length;
        match self.peek() {
            Some(b'[') => self.element(name),
            Some(EXPANSION) => Err(self.error(Expected::Operator)),
            _ => Ok(self.push(ArithmeticNode::Variable(name))),
        }
    }

    /// Parses an array element. The index belongs to the same table and precedes the element's node.
    fn element(&mut self, name: Name) -> Result<NodeId> {
        let Some(length) = bracket_length(&self.text[self.at..]) else {
            return Err(self.error(Expected::Token("]")));
        };
        let inside = &self.text[self.at + 1..self.at + length - 1];
        let key = (!inside.contains(&EXPANSION)).then(|| Bytes::from(inside));
        let index = self.index(inside, key.is_some())?;
        self.at += length;
        let subscript = Box::new(ArithmeticSubscript { key, index });
        Ok(self.push(ArithmeticNode::Element { name, subscript }))
    }

    /// Parses the index between the brackets. It must be a valid expression if it contains expansions,
    /// because their order would be lost otherwise.
    fn index(&mut self, inside: &'a [u8], optional: bool) -> Result<Option<NodeId>> {
        let before = self.nodes.len();
        let (text, at) = (std::mem::replace(&mut self.text, inside), std::mem::replace(&mut self.at, 0));
        self.skip_blanks();
        let parsed = self.nested(Self::comma);
        let whole = self.at == self.text.len();
        (self.text, self.at) = (text, at);
        match parsed {
            Ok(index) if whole => Ok(Some(index)),
            Err(error) if !optional || error.kind.is_final() => Err(error),
            _ if !optional => Err(self.error(Expected::Token("]"))),
            _ => {
                self.nodes.truncate(before);
                Ok(None)
            }
        }
    }

    fn number(&mut self) -> Result<NodeId> {
        let rest = &self.text[self.at..];
        let digits = |byte: &u8| bytes::is(*byte, NAME) || matches!(byte, b'#' | b'@');
        let length = rest.iter().position(|byte| !digits(byte)).unwrap_or(rest.len());
        if rest.get(length) == Some(&EXPANSION) {
            return Err(self.error(Expected::Operator));
        }
        let Some(value) = constant(&rest[..length]) else { return Err(self.error(Expected::Number)) };
        self.at += length;
        Ok(self.push(ArithmeticNode::Number(value)))
    }
}

/// The precedence of `**`, which is right-associative.
const POWER: u8 = 11;

/// The meaning of a binary operator.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Both(BinaryOperator),
}

/// Returns the length of a subscript, including its brackets. A character after a backslash is data.
pub fn bracket_length(text: &[u8]) -> Option<usize> {
    let mut open = 0usize;
    let mut bytes = text.iter().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'[' => open += 1,
            b']' if open == 1 => return Some(index + 1),
            b']' => open -= 1,
            _ => {}
        }
    }
    None
}
