//! Lost exit statuses.

use crate::ast::{
    Argument, AssignmentValue, Command, CommandKind, List, Parameter, PartKind, Span, SpecialParameter,
    Statement, Word,
};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `echo done; if [ $? -eq 0 ]`.
pub(super) static AFTER_ECHO: Rule = Rule {
    code: "status-of-echo",
    severity: Severity::Warning,
    summary: "$? after echo is the exit status of echo",
    explanation: "$? is the exit status of the last command, which is echo. Save the status in a variable \
        first, or test the command itself.",
    wrong: &["make\necho done\nif [ $? -eq 0 ]; then :; fi", "make; printf x; [[ $? = 0 ]] && :"],
    right: &[
        "make\nif [ $? -eq 0 ]; then :; fi",
        "make; status=$?; echo done; exit $status",
        "echo x > \"$file\"\nif [ $? -eq 0 ]; then :; fi",
        "echo a | grep b\n[ $? = 0 ]",
    ],
    matcher: RuleMatcher::List(after_echo),
};

fn after_echo(_: &CheckContext<'_>, list: &List, report: &mut RuleReport<'_>) {
    for pair in list.statements.windows(2) {
        let Some(echo) = echoes(&pair[0]) else { continue };
        if let Some(span) = tests_status(&pair[1]) {
            let found = report.add(span, "this is the exit status of \"echo\"");
            found
                .relate(echo, "the last command")
                .hint("save the exit status in a variable first, or test the command itself");
        }
    }
}

/// Returns the span of `echo` or `printf` if the statement only prints.
fn echoes(statement: &Statement) -> Option<Span> {
    let ([command], []) = (&*statement.first.stages, &*statement.rest) else { return None };
    let simple = SimpleView::of(command)?;
    let plain = command.redirects.is_empty() && matches!(simple.name, b"echo" | b"printf");
    plain.then(|| simple.name_span())
}

/// Returns the span of `$?` in the first test of a statement.
fn tests_status(statement: &Statement) -> Option<Span> {
    let command = statement.first.stages.first()?;
    let tested = match &command.kind {
        CommandKind::If(branches) => {
            branches.branches.first()?.condition.statements.first()?.first.stages.first()?
        }
        CommandKind::Case(case) => return status_in(SyntaxNode::Word(&case.subject)),
        _ => command,
    };
    let test = match &tested.kind {
        CommandKind::Conditional(_) | CommandKind::Arithmetic(_) => true,
        _ => SimpleView::of(tested).is_some_and(|simple| matches!(simple.name, b"[" | b"test")),
    };
    if test { status_in(SyntaxNode::Command(tested)) } else { None }
}

fn status_in(node: SyntaxNode<'_>) -> Option<Span> {
    let mut found = None;
    node.descend(&mut |node| {
        if let SyntaxNode::Part(part) = node
            && let PartKind::Parameter(expansion) = &part.kind
            && expansion.parameter == Parameter::Special(SpecialParameter::Status)
        {
            found = found.or(Some(part.span));
        }
    });
    found
}

/// `local x=$(false)`.
pub(super) static MASKED: Rule = Rule {
    code: "status-masked",
    severity: Severity::Warning,
    summary: "local, export, declare or readonly hides the exit status of a command substitution",
    explanation: "The exit status is that of the builtin, which succeeds, so neither set -e nor $? notices a \
        failure of the command. Declare the variable first and assign to it in a separate statement.",
    wrong: &["set -e; f() { local x=$(make); }", "export x=$(make)\nif [ $? -ne 0 ]; then :; fi"],
    right: &[
        "f() { local x=$(make); }",
        "set -e; f() { local x; x=$(make); }",
        "set -e; export x=y",
        "set -e; readonly here=$(pwd)",
        "set -e; f() { local x=$(make || true); }",
    ],
    matcher: RuleMatcher::List(masked),
};

fn masked(context: &CheckContext<'_>, list: &List, report: &mut RuleReport<'_>) {
    for (at, statement) in list.statements.iter().enumerate() {
        let ([command], []) = (&*statement.first.stages, &*statement.rest) else { continue };
        let Some((name, span)) = declared_substitution(command) else { continue };
        let asked = list.statements.get(at + 1).and_then(tests_status).is_some();
        if asked || context.facts.errexit {
            let found = report.add(
                span,
                format!("\"{}\" hides the exit status of this command", String::from_utf8_lossy(name)),
            );
            found.hint("declare the variable first, then assign to it in a separate statement");
        }
    }
}

/// Returns the builtin and the command substitution in `local x=$(…)`.
fn declared_substitution(command: &Command) -> Option<(&[u8], Span)> {
    let simple = SimpleView::of(command)?;
    if !matches!(simple.name, b"local" | b"export" | b"declare" | b"typeset" | b"readonly") {
        return None;
    }
    let mut arguments = simple.simple.arguments.iter();
    arguments.find_map(|argument| {
        let Argument::Assignment(assignment) = argument else { return None };
        let AssignmentValue::Word(word) = &assignment.value else { return None };
        substitution(word).map(|span| (simple.name, span))
    })
}

/// Returns the span of a command substitution that is the whole word and may fail.
fn substitution(word: &Word) -> Option<Span> {
    let parts = match word.parts() {
        [part] => match &part.kind {
            PartKind::DoubleQuoted(parts) => parts,
            _ => word.parts(),
        },
        _ => return None,
    };
    let [part] = parts else { return None };
    let PartKind::Command(substitution) = &part.kind else { return None };
    let harmless = substitution.body.statements.iter().all(|statement| {
        let guarded = !statement.rest.is_empty();
        let last = statement.first.stages.last().and_then(SimpleView::of);
        guarded
            || last.is_some_and(|simple| {
                matches!(
                    simple.name,
                    b"echo"
                        | b"printf"
                        | b"pwd"
                        | b"date"
                        | b"true"
                        | b"basename"
                        | b"dirname"
                        | b"uname"
                        | b"id"
                        | b"whoami"
                        | b"hostname"
                )
            })
    });
    (!harmless).then_some(part.span)
}
