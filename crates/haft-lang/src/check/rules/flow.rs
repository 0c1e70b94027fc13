//! Where the script goes.

use crate::ast::{Command, CommandKind, Connector, List, Statement, Word};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Matcher, Rule, RuleReport};
use crate::resolve::is_builtin;
use crate::walk::SyntaxNode;

/// What follows `exit`.
pub(super) static UNREACHABLE: Rule = Rule {
    code: "unreachable",
    severity: Severity::Warning,
    summary: "what follows exit, return, exec, break or continue never runs",
    explanation: "The statement before always leaves the list it stands in. exec replaces the shell; if it cannot, a script ends.",
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
    matcher: Matcher::List(unreachable),
};

fn unreachable(context: &CheckContext<'_>, list: &List, report: &mut RuleReport<'_>) {
    let leaves = |statement: &Statement| leaves(context, statement);
    let Some(at) = list.statements.iter().position(leaves) else { return };
    let defines = |statement: &&Statement| {
        let commands = &statement.first.stages;
        commands.iter().all(|command| match &command.kind {
            CommandKind::Function(_) => true,
            // A here-document given to nobody is a way to write long comments.
            _ => SimpleView::of(command).is_some_and(|simple| simple.name == b":"),
        })
    };
    let Some(next) = list.statements[at + 1..].iter().find(|statement| !defines(statement)) else { return };
    let last = &list.statements[at];
    let text = context.text(last.span);
    let found = report.add(next.first.span, "this never runs");
    found.relate(last.span, format!("\"{}\" always leaves", text.trim_end_matches(';')));
}

/// Whether a statement never gets to the next one.
pub(in crate::check) fn leaves(context: &CheckContext<'_>, statement: &Statement) -> bool {
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
    explanation: "&& and || have the same precedence and group to the left, so this is not if a then b else c: c runs whenever a or b \
        fails. Use if, unless b cannot fail.",
    wrong: &["[ -f x ] && cp x y || rm x"],
    right: &[
        "[ -f x ] && echo yes || echo no",
        "make && make install || exit 1",
        "if [ -f x ]; then cp x y; else rm x; fi",
        "[ -f x ] && rm x || true",
    ],
    matcher: Matcher::Node(and_or),
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
        let found = report.add(third.span, "this also runs if what stands after \"&&\" fails");
        found.relate(second.span, "if this fails").hint("use \"if … then … else …\"");
    }
}

/// `break` in no loop.
pub(super) static OUTSIDE_LOOP: Rule = Rule {
    code: "outside-loop",
    severity: Severity::Warning,
    summary: "break or continue outside of a loop",
    explanation: "Outside of a loop break and continue do nothing but complain.",
    wrong: &["if true; then break; fi", "continue"],
    right: &[
        "while :; do break; done",
        "for a in b; do (break); done",
        "f() { break; }",
        "select a in b; do break; done",
    ],
    matcher: Matcher::Simple(outside_loop),
};

fn outside_loop(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let name = command.name;
    if !matches!(name, b"break" | b"continue") || context.facts.foreign {
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
        report.add(command.words_span(), format!("\"{name}\" is not in a loop"));
    }
}

/// `exit yes`, `return 300`.
pub(super) static EXIT_STATUS: Rule = Rule {
    code: "exit-status",
    severity: Severity::Warning,
    summary: "a status that is no number from 0 to 255",
    explanation: "exit and return take a number from 0 to 255; a larger one is cut to its last byte, a word is an error. A function \
        gives back text by printing it.",
    wrong: &["exit failure", "f() { return \"text\"; }", "exit 256"],
    right: &["exit 1", "f() { return $?; }", "exit", "return 255", "exit -1"],
    matcher: Matcher::Simple(exit_status),
};

fn exit_status(_: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let (b"exit" | b"return", [word]) = (command.name, command.words.as_slice()) else { return };
    let word: &Word = word;
    let Some(text) = word.literal() else { return };
    let shown = String::from_utf8_lossy(text).into_owned();
    match shown.trim().parse::<i64>() {
        Ok(number) if number > 255 => {
            report.add(word.span, format!("the status {number} becomes {}", number & 255));
        }
        Ok(_) => {}
        Err(_) => {
            report
                .add(word.span, format!("\"{shown}\" is not a status"))
                .hint("a status is a number from 0 to 255");
        }
    }
}
