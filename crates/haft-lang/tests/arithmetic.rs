//! Arithmetic expressions. `arithmetic.txt` lists expressions that bash accepts and refuses.

use haft_lang::ast::{ArithmeticNode, ArithmeticTree, NodeId};
use haft_lang::parse_arithmetic;

#[test]
fn expressions_are_accepted_and_refused_as_in_bash() {
    let mut failures = Vec::new();
    for line in include_str!("arithmetic.txt").lines() {
        let (expected, expression) =
            line.split_once(' ').expect("every line has an expectation and an expression");
        let accepted = parse_arithmetic(expression.as_bytes()).is_ok();
        if accepted != (expected == "accept") {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "different from bash: {failures:#?}");
}

/// Formats an expression with all its grouping.
fn shown(tree: &ArithmeticTree, id: NodeId) -> String {
    let show = |id: &NodeId| shown(tree, *id);
    match tree.node(id) {
        ArithmeticNode::Number(number) => number.to_string(),
        ArithmeticNode::Variable(name) => name.to_string(),
        ArithmeticNode::Element { name, subscript } => match &subscript.index {
            Some(index) => format!("{name}[{}]", show(index)),
            None => format!("{name}[?]"),
        },
        ArithmeticNode::Expansion(part) => format!("${part}"),
        ArithmeticNode::Unary { operator, operand } => format!("({operator:?} {})", show(operand)),
        ArithmeticNode::Increment { operator, target } => format!("({operator:?} {})", show(target)),
        ArithmeticNode::Binary { operator, left, right } => {
            format!("({} {operator:?} {})", show(left), show(right))
        }
        ArithmeticNode::And { left, right } => format!("({} && {})", show(left), show(right)),
        ArithmeticNode::Or { left, right } => format!("({} || {})", show(left), show(right)),
        ArithmeticNode::Ternary { condition, then, otherwise } => {
            format!("({} ? {} : {})", show(condition), show(then), show(otherwise))
        }
        ArithmeticNode::Assign { operator, target, value } => {
            format!("({} {operator:?}= {})", show(target), show(value))
        }
        ArithmeticNode::Comma { left, right } => format!("({}, {})", show(left), show(right)),
    }
}

#[test]
fn operators_group_as_in_bash() {
    for (text, expected) in [
        ("1+2*3", "(1 Add (2 Multiply 3))"),
        ("1-2-3", "((1 Subtract 2) Subtract 3)"),
        ("2**3**2", "(2 Power (3 Power 2))"),
        ("-a**2", "((Minus a) Power 2)"),
        ("!a==b", "((Not a) Equal b)"),
        ("a=b=1", "(a None= (b None= 1))"),
        ("a+=1<<2", "(a Some(Add)= (1 ShiftLeft 2))"),
        ("a||b&&c", "(a || (b && c))"),
        ("a|b^c&d", "(a BitOr (b BitXor (c BitAnd d)))"),
        ("a?b:c?d:e", "(a ? b : (c ? d : e))"),
        ("a,b=1", "(a, (b None= 1))"),
        ("a+++b", "((PostIncrement a) Add b)"),
        ("a - --b", "(a Subtract (PreDecrement b))"),
        ("--5", "(Minus (Minus 5))"),
        ("x[i+1]++", "(PostIncrement x[(i Add 1)])"),
        ("0x1F + 010 + 2#101 + 64#_", "(((31 Add 8) Add 5) Add 63)"),
        ("a < b == c >= d", "((a Less b) Equal (c GreaterOrEqual d))"),
    ] {
        let tree = parse_arithmetic(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(shown(&tree, tree.root()), expected, "{text}");
    }
}
