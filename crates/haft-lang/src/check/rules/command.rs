//! Commands that do not exist.

use crate::ast::{CommandKind, Connector, RedirectKind};
use crate::check::context::{CheckContext, SimpleView, is_identifier};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::resolve::{BUILTINS, Resolution, is_builtin};
use crate::walk::SyntaxNode;

/// `no-such-command`.
pub(super) static NOT_FOUND: Rule = Rule {
    code: "command-not-found",
    severity: Severity::Error,
    summary: "command not found",
    explanation: "There is no function, builtin, script, program or tool with this name. This is an error if \
        the script always fails on it; a warning if a command that runs before may install it; a \
        note if the script evaluates code, changes PATH, or runs the command in a case clause. The \
        rule ignores scripts that source files, and names that the script tests for first (command \
        -v NAME).",
    wrong: &["no-such-command --flag", "make; no-such-command", "if true; then no-such-command; fi"],
    right: &[
        "f() { :; }; f",
        "command -v no-such-command && no-such-command",
        "no-such-command || true",
        "PATH=$PATH:/opt/bin; printf done",
        ". ./functions; no-such-command",
        "$unknown",
    ],
    matcher: RuleMatcher::Simple(not_found),
};

fn not_found(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let name = command.name;
    let tried = name.is_empty()
        || name.contains(&b'/')
        || context.facts.probed_commands.contains(name)
        || context.facts.sourced;
    if tried
        || is_wrong_otherwise(command)
        || context.resolve(name) != Resolution::Missing
        || is_guarded(context)
    {
        return;
    }
    let provided = context.facts.runs_unknown_code || context.facts.changes_lookup || is_one_case(context);
    let certain = context.is_top_level() && is_first(context, command);
    let shown = String::from_utf8_lossy(name).into_owned();
    let found = report.add(command.name_span(), format!("command \"{shown}\" not found"));
    found.severity = match (provided, certain) {
        (true, _) => Severity::Note,
        (false, true) => Severity::Error,
        (false, false) => Severity::Warning,
    };
    let functions = context.facts.functions.keys().map(|name| name.as_bytes());
    let known = functions.chain(BUILTINS.iter().map(|name| name.as_bytes()));
    if let Some(near) = known.into_iter().find(|known| is_near(known, name)) {
        found.hint(format!("did you mean \"{}\"?", String::from_utf8_lossy(near)));
    }
}

/// Whether another rule explains the mistake better: `x = 1`, `[-f x ]`.
fn is_wrong_otherwise(command: &SimpleView<'_>) -> bool {
    let assigns =
        is_identifier(command.name) && command.literal(0).is_some_and(|word| word.starts_with(b"="));
    assigns || command.name.starts_with(b"[")
}

/// Whether the script handles a failure: with `|| …` or in a condition.
fn is_guarded(context: &CheckContext<'_>) -> bool {
    let or = context
        .statement()
        .is_some_and(|statement| statement.rest.iter().any(|(connector, _)| *connector == Connector::Or));
    or || context.in_condition()
}

/// Whether the command is in a case clause, for example for another system.
fn is_one_case(context: &CheckContext<'_>) -> bool {
    context.commands().any(|outer| matches!(outer.kind, CommandKind::Case(_)))
}

/// Whether only builtins run before the command, so nothing can have installed it.
fn is_first(context: &CheckContext<'_>, command: &SimpleView<'_>) -> bool {
    let quiet = command.redirects().iter().any(|redirect| {
        matches!(&redirect.kind, RedirectKind::Write(word) | RedirectKind::WriteBoth(word) if word.literal() == Some(b"/dev/null"))
    });
    let Some(SyntaxNode::List(program)) = context.parents.first() else { return false };
    let mut before =
        program.statements.iter().take_while(|other| other.span.start < command.command.span.start);
    let builtin = |command: &crate::ast::Command| match &command.kind {
        CommandKind::Simple(simple) => simple.arguments.is_empty() || simple.name().is_some_and(is_builtin),
        CommandKind::Function(_) => true,
        _ => false,
    };
    let alone = context.pipeline().is_some_and(|pipeline| pipeline.stages.len() == 1);
    let same = |statement: &crate::ast::Statement| {
        statement.span.range().contains(&(command.command.span.start as usize))
    };
    !quiet
        && alone
        && before.all(|statement| {
            same(statement) || (statement.rest.is_empty() && statement.first.stages.iter().all(builtin))
        })
}

/// Whether two names differ by one letter or by two swapped letters.
fn is_near(known: &[u8], name: &[u8]) -> bool {
    if known.len() < 3 || name.len() < 3 || known.len().abs_diff(name.len()) > 1 {
        return false;
    }
    let same = known.iter().zip(name).take_while(|(known, name)| known == name).count();
    let (known, name) = (&known[same..], &name[same..]);
    match (known, name) {
        ([first, second, rest @ ..], [third, fourth, end @ ..]) if first == fourth && second == third => {
            rest == end
        }
        ([_, rest @ ..], [_, end @ ..]) if known.len() == name.len() => rest == end,
        ([_, rest @ ..], _) if known.len() > name.len() => rest == name,
        (_, [_, end @ ..]) => known == end,
        _ => false,
    }
}

/// `sudo cd /root`.
pub(super) static BUILTIN_WRAPPED: Rule = Rule {
    code: "builtin-wrapped",
    severity: Severity::Warning,
    summary: "a builtin as the argument of a command that runs programs",
    explanation: "sudo, xargs, nohup and similar commands run programs. A builtin such as cd changes the shell \
        it runs in, and no program can do that. Run the whole command with sh -c instead.",
    wrong: &["sudo cd /root", "nohup source env.sh"],
    right: &["sudo ls /root", "sudo sh -c 'cd /root && ls'", "xargs echo"],
    matcher: RuleMatcher::Simple(builtin_wrapped),
};

fn builtin_wrapped(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    const WRAPPERS: &[&[u8]] = &[b"sudo", b"nohup", b"xargs", b"setsid", b"nice", b"doas"];
    const CHANGING: &[&[u8]] =
        &[b"cd", b"source", b".", b"export", b"alias", b"unset", b"eval", b"pushd", b"declare", b"shopt"];
    let Some(inner) = command.literal(0) else { return };
    if !WRAPPERS.contains(&command.name)
        || !CHANGING.contains(&inner)
        || context.is_defined_here(command.name)
    {
        return;
    }
    let (name, wrapper) = (String::from_utf8_lossy(inner), String::from_utf8_lossy(command.name));
    let span = command.words[0].span;
    let found = report.add(span, format!("\"{name}\" is a shell builtin, but \"{wrapper}\" runs programs"));
    found.hint(format!("write {wrapper} sh -c '{name} …'"));
}
