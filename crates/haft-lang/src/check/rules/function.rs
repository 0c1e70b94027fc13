//! Mistakes in functions.

use crate::ast::{Command, CommandKind, Function, List, Span};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `ls() { ls -l; }`.
pub(super) static RECURSION: Rule = Rule {
    code: "endless-recursion",
    severity: Severity::Warning,
    summary: "a function that always calls itself",
    explanation: "Inside the function, its name refers to the function itself, so it never returns. To run the \
        command with the same name, write command NAME or builtin NAME.",
    wrong: &["ls() { ls --color \"$@\"; }", "f() { echo x; f; }"],
    right: &[
        "ls() { command ls --color \"$@\"; }",
        "f() { [ $# -gt 0 ] || return; shift; f \"$@\"; }",
        "f() { if true; then f; fi; }",
        "f() { g f; }",
        "f() (exec f)",
    ],
    matcher: RuleMatcher::Node(recursion),
};

fn recursion<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(Command { kind: CommandKind::Function(function), .. }) = node else { return };
    let CommandKind::Group(body) = &function.body.kind else { return };
    if let Some(span) = certain_call(function, body) {
        let name = &function.name;
        let found = report.add(span, format!("\"{name}\" always calls itself"));
        found
            .relate(function.name_span, "the function")
            .hint(format!("\"command {name}\" runs the command with that name"));
    }
}

/// Returns the span of a recursive call that the function always reaches.
fn certain_call(function: &Function, body: &List) -> Option<Span> {
    for statement in &*body.statements {
        if may_leave(SyntaxNode::Statement(statement)) {
            return None;
        }
        if let [command] = &*statement.first.stages
            && let Some(simple) = SimpleView::of(command)
            && function.name == simple.name
        {
            return Some(simple.name_span());
        }
    }
    None
}

/// Whether anything in a node may exit the function.
fn may_leave(node: SyntaxNode<'_>) -> bool {
    let mut leaves = false;
    node.descend(&mut |node| {
        if let SyntaxNode::Command(command) = node
            && let Some(simple) = SimpleView::of(command)
        {
            leaves |= matches!(
                simple.name,
                b"return" | b"exit" | b"exec" | b"" | b"eval" | b"." | b"source" | b"unset" | b"set"
            );
        }
    });
    leaves
}

/// `test() { …; }`.
pub(super) static SHADOWS_TEST: Rule = Rule {
    code: "shadowed-builtin",
    severity: Severity::Warning,
    summary: "a function with the name of a builtin that conditions use",
    explanation: "A function named test, true or false replaces the builtin in every condition of the script. \
        Choose another name.",
    wrong: &["test() { make check; }", "function true { :; }"],
    right: &["run_tests() { make check; }", "cd() { builtin cd \"$@\" && pwd; }"],
    matcher: RuleMatcher::Node(shadows),
};

fn shadows<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(Command { kind: CommandKind::Function(function), .. }) = node else { return };
    if matches!(&*function.name, b"test" | b"[" | b"true" | b"false" | b":") {
        let found = report.add(
            function.name_span,
            format!("this replaces the builtin \"{}\" in every condition", function.name),
        );
        found.hint("choose another name");
    }
}

/// `local` outside a function.
pub(super) static LOCAL_OUTSIDE: Rule = Rule {
    code: "local-outside",
    severity: Severity::Warning,
    summary: "local outside a function",
    explanation: "local only works in functions. Elsewhere it fails and does not set the variable.",
    wrong: &["local x=1", "if true; then local y; fi"],
    right: &["f() { local x=1; }", "declare x=1"],
    matcher: RuleMatcher::Simple(local_outside),
};

fn local_outside(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name == b"local" && !context.in_function() && !context.is_defined_here(b"local") {
        report
            .add(command.words_span(), "\"local\" fails outside a function")
            .hint("remove it, or use \"declare\"");
    }
}
