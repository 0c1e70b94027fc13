//! Mistakes in `[[ ]]`, `(( ))` and conditions.

use crate::ast::{
    ArithmeticForm, ArithmeticNode, BinaryTest, CommandKind, Conditional, ConditionalKind, PartKind, Word,
};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `[[ $a =~ "^b.*" ]]`.
pub(super) static QUOTED_REGEX: Rule = Rule {
    code: "regex-quoted",
    severity: Severity::Warning,
    summary: "a quoted regular expression matches literally",
    explanation: "Quoted text on the right of =~ matches literally. Remove the quotes, or store the expression \
        in a variable and use that unquoted.",
    wrong: &["[[ $a =~ \"^b.*$\" ]]", "[[ $a =~ '[0-9]+' ]]"],
    right: &[
        "[[ $a =~ ^b.*$ ]]",
        "[[ $a =~ $pattern ]]",
        "[[ $a =~ \"plain text\" ]]",
        "[[ $a =~ ^\"a.b\" ]]",
    ],
    matcher: RuleMatcher::Node(quoted_regex),
};

fn quoted_regex<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Conditional(Conditional {
        kind: ConditionalKind::Binary { test: BinaryTest::Regex, right, .. },
        ..
    }) = node
    else {
        return;
    };
    let [part] = right.parts() else { return };
    let text = match &part.kind {
        PartKind::SingleQuoted(text) => text.to_vec(),
        PartKind::DoubleQuoted(_) => right.literal().unwrap_or_default().to_vec(),
        _ => return,
    };
    let strong = [&b".*"[..], b".+", b"]+", b"]*", b"\\d", b"\\w", b"\\s", b")?", b")+"];
    let anchored = text.starts_with(b"^") || (text.ends_with(b"$") && text.len() > 1);
    if anchored || strong.iter().any(|mark| memchr::memmem::find(&text, mark).is_some()) {
        let found = report.add(right.span, "the quoted regular expression matches literally");
        found.hint("remove the quotes, or store the expression in a variable and use that unquoted");
    }
}

/// `[[ $a > 5 ]]`.
pub(super) static TEXT_ORDER: Rule = Rule {
    code: "compared-as-text",
    severity: Severity::Warning,
    summary: "numbers compared as strings in \"[[ ]]\"",
    explanation: "In [[ ]], < and > compare strings, so 10 comes before 9. Use -lt and -gt, or (( )).",
    wrong: &["[[ $a > 5 ]]", "[[ 10 < $b ]]"],
    right: &["[[ $a -gt 5 ]]", "(( a > 5 ))", "[[ $a > b ]]"],
    matcher: RuleMatcher::Node(text_order),
};

fn text_order<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Conditional(conditional) = node else { return };
    let ConditionalKind::Binary { test: test @ (BinaryTest::Before | BinaryTest::After), left, right } =
        &conditional.kind
    else {
        return;
    };
    let number = |word: &Word| {
        word.plain().is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit))
    };
    if number(left) || number(right) {
        let instead = if *test == BinaryTest::Before { "-lt" } else { "-gt" };
        let text = context.text(conditional.span);
        report
            .add(conditional.span, format!("\"{text}\" compares strings, not numbers"))
            .hint(format!("use \"{instead}\""));
    }
}

/// `[[ $a == b || c ]]`.
pub(super) static CONSTANT: Rule = Rule {
    code: "constant-operand",
    severity: Severity::Warning,
    summary: "a literal word as a condition is always true",
    explanation: "[[ $a == b || c ]] does not compare $a with two values: the word c is true because it is not \
        empty. Repeat the comparison, or use a pattern: [[ $a == @(b|c) ]].",
    wrong: &["[[ $a == b || c ]]", "[[ $a == b && c ]]"],
    right: &["[[ $a == b || $a == c ]]", "[[ $a == @(b|c) ]]", "[[ $a || $b ]]"],
    matcher: RuleMatcher::Node(constant),
};

fn constant<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Conditional(conditional) = node else { return };
    let (ConditionalKind::Or(operands) | ConditionalKind::And(operands)) = &conditional.kind else { return };
    let compared = operands.iter().any(|operand| matches!(operand.kind, ConditionalKind::Binary { .. }));
    for operand in operands {
        let ConditionalKind::Word(word) = &operand.kind else { continue };
        if compared && word.literal().is_some_and(|text| !text.is_empty()) {
            let text = context.text(word.span);
            let found = report.add(word.span, format!("the word \"{text}\" is always true"));
            found.hint("repeat the comparison");
        }
    }
}

/// `if (( a = 1 ))`.
pub(super) static ASSIGNMENT: Rule = Rule {
    code: "assignment-in-condition",
    severity: Severity::Warning,
    summary: "\"=\" in \"(( ))\" assigns",
    explanation: "(( a = 1 )) assigns to a and is true for any number except 0. Use == to compare.",
    wrong: &["if (( a = 1 )); then :; fi", "(( a = 2 )) && :"],
    right: &["if (( a == 1 )); then :; fi", "(( a = 1 ))", "while (( a = b - 1 )); do :; done"],
    matcher: RuleMatcher::Node(assignment),
};

fn assignment<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(command) = node else { return };
    let CommandKind::Arithmetic(arithmetic) = &command.kind else { return };
    let ArithmeticForm::Tree(tree) = &arithmetic.form else { return };
    let ArithmeticNode::Assign { operator: None, value, .. } = tree.node(tree.root()) else { return };
    if context.is_tested() && matches!(tree.node(*value), ArithmeticNode::Number(_)) {
        let text = context.text(arithmetic.span);
        report
            .add(arithmetic.span, format!("\"{}\" assigns instead of comparing", text.trim()))
            .hint("compare with \"==\"");
    }
}

/// `if $(grep …)`.
pub(super) static SUBSTITUTION: Rule = Rule {
    code: "condition-substitution",
    severity: Severity::Warning,
    summary: "a condition that runs the output of a command",
    explanation: "if $(command) runs the output of the command as another command. To test whether the command \
        succeeds, remove $( ).",
    wrong: &["if $(grep -q a b); then :; fi", "while `test -f x`; do :; done"],
    right: &[
        "if grep -q a b; then :; fi",
        "if $command; then :; fi",
        "if [ \"$(ls)\" ]; then :; fi",
        "if $(which x) -v; then :; fi",
    ],
    matcher: RuleMatcher::Simple(substitution),
};

fn substitution(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if !context.in_condition() || command.simple.arguments.len() != 1 {
        return;
    }
    let Some(word) = command.simple.arguments[0].word() else { return };
    if let [part] = word.parts()
        && let PartKind::Command(_) = part.kind
    {
        let found = report.add(word.span, "this runs the output of the command as a command");
        found.hint("remove \"$( )\" to test whether the command succeeds");
    }
}
