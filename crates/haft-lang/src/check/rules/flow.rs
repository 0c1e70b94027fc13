//! Mistakes in the control flow.

use crate::ast::{Command, CommandKind, Connector, List, Statement, Word};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::resolve::is_builtin;
use crate::walk::SyntaxNode;

/// `exit 0; echo done`.
pub(super) static UNREACHABLE: Rule = Rule {
    code: "unreachable",
    severity: Severity::Warning,
    summary: "unreachable command after exit, return, exec, break or continue",
    explanation: "The previous statement always exits or leaves the function or loop. exec replaces the shell, \
        and a script exits if exec fails.",
    wrong: &[
        "exit 0\necho done",
        "f() { return; echo x; }",
        "while :; do break; echo x; done",
        "exec ls\necho failed",
    ],
    right: &[
        "exit 0",
        "[ -f x ] || exit\necho done",
        "exec > log\necho x",
        "exit\nf() { :; }",
        "exit & echo x",
        "f() { return; }; echo x",
        "shopt -s execfail; exec ls; echo failed",
    ],
    matcher: RuleMatcher::List(unreachable),
};

fn unreachable(context: &CheckContext<'_>, list: &List, report: &mut RuleReport<'_>) {
    let always_exits = |statement: &Statement| always_exits(context, statement);
    let Some(at) = list.statements.iter().position(always_exits) else { return };
    let defines = |statement: &&Statement| {
        let commands = &statement.first.stages;
        commands.iter().all(|command| match &command.kind {
            CommandKind::Function(_) => true,
            // A here-document for `:` is a way to write long comments.
            _ => SimpleView::of(command).is_some_and(|simple| simple.name == b":"),
        })
    };
    let Some(next) = list.statements[at + 1..].iter().find(|statement| !defines(statement)) else { return };
    let last = &list.statements[at];
    let text = context.text(last.span);
    let found = report.add(next.first.span, "unreachable command");
    found.relate(last.span, format!("\"{}\" always exits", text.trim_end_matches(';')));
}

/// Whether a statement always exits, so the next one never runs.
pub(in crate::check) fn always_exits(context: &CheckContext<'_>, statement: &Statement) -> bool {
    let ([command], []) = (&*statement.first.stages, &*statement.rest) else { return false };
    let Some(simple) = SimpleView::of(command).filter(|_| !statement.background) else { return false };
    match simple.name {
        b"exit" | b"return" | b"break" | b"continue" => !context.is_defined_here(simple.name),
        b"exec" => !simple.words.is_empty() && memchr::memmem::find(context.source, b"execfail").is_none(),
        _ => false,
    }
}

/// `a && b || c`.
pub(super) static AND_OR: Rule = Rule {
    code: "and-or",
    severity: Severity::Note,
    summary: "in \"a && b || c\", c also runs if b fails",
    explanation: "&& and || have the same precedence and are left-associative, so this is not an if-else: c \
        runs if a or b fails. Use if, unless b cannot fail.",
    wrong: &["[ -f x ] && cp x y || rm x"],
    right: &[
        "[ -f x ] && echo yes || echo no",
        "make && make install || exit 1",
        "if [ -f x ]; then cp x y; else rm x; fi",
        "[ -f x ] && rm x || true",
    ],
    matcher: RuleMatcher::Node(and_or),
};

fn and_or<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Statement(statement) = node else { return };
    let [(Connector::And, second), (Connector::Or, third)] = &*statement.rest else { return };
    let only = |stages: &'a [Command]| stages.first().filter(|_| stages.len() == 1);
    let tests = only(&statement.first.stages).is_some_and(|command| match &command.kind {
        CommandKind::Conditional(_) | CommandKind::Arithmetic(_) => true,
        _ => SimpleView::of(command).is_some_and(|simple| matches!(simple.name, b"[" | b"test")),
    });
    let acts = |stages: &'a [Command]| {
        only(stages)
            .and_then(SimpleView::of)
            .is_some_and(|simple| !simple.name.is_empty() && !is_builtin(simple.name))
    };
    if tests && acts(&second.stages) && acts(&third.stages) {
        let found = report.add(third.span, "this also runs if the command after \"&&\" fails");
        found.relate(second.span, "if this fails").hint("use \"if … then … else …\"");
    }
}

/// `break` outside a loop.
pub(super) static OUTSIDE_LOOP: Rule = Rule {
    code: "outside-loop",
    severity: Severity::Warning,
    summary: "break or continue outside a loop",
    explanation: "Outside a loop, break and continue only print an error message.",
    wrong: &["if true; then break; fi", "continue"],
    right: &[
        "while :; do break; done",
        "for a in b; do (break); done",
        "f() { break; }",
        "select a in b; do break; done",
    ],
    matcher: RuleMatcher::Simple(outside_loop),
};

fn outside_loop(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let name = command.name;
    if !matches!(name, b"break" | b"continue") || context.facts.runs_unknown_code {
        return;
    }
    let looped = context.commands().any(|outer| {
        matches!(
            outer.kind,
            CommandKind::Loop(_)
                | CommandKind::For(_)
                | CommandKind::ArithmeticFor(_)
                | CommandKind::Select(_)
                | CommandKind::Function(_)
        )
    });
    if !looped {
        let name = String::from_utf8_lossy(name);
        report.add(command.words_span(), format!("\"{name}\" outside a loop"));
    }
}

/// `exit yes`, `return 300`.
pub(super) static EXIT_STATUS: Rule = Rule {
    code: "exit-status",
    severity: Severity::Warning,
    summary: "an exit status that is not a number from 0 to 255",
    explanation: "exit and return take a number from 0 to 255. Larger numbers are truncated to their lowest \
        byte, and other words are errors. To return text from a function, print it.",
    wrong: &["exit failure", "f() { return \"text\"; }", "exit 256"],
    right: &["exit 1", "f() { return $?; }", "exit", "return 255", "exit -1"],
    matcher: RuleMatcher::Simple(exit_status),
};

fn exit_status(_: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let (b"exit" | b"return", [word]) = (command.name, command.words.as_slice()) else { return };
    let word: &Word = word;
    let Some(text) = word.literal() else { return };
    let shown = String::from_utf8_lossy(text).into_owned();
    match shown.trim().parse::<i64>() {
        Ok(number) if number > 255 => {
            report.add(word.span, format!("exit status {number} is truncated to {}", number & 255));
        }
        Ok(_) => {}
        Err(_) => {
            report
                .add(word.span, format!("\"{shown}\" is not a valid exit status"))
                .hint("an exit status is a number from 0 to 255");
        }
    }
}
