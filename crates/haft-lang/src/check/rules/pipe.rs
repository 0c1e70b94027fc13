//! Mistakes in pipelines: lost variables and unread output.

use crate::ast::{Bytes, Command, CommandKind, Pipeline, Redirect, RedirectKind, Span};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::facts::{first_starting_at, last_starting_before};
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `… | while read x; do n=…; done; echo $n`.
pub(super) static LOST_VARIABLE: Rule = Rule {
    code: "pipe-lost-variable",
    severity: Severity::Warning,
    summary: "a variable set in a pipeline is lost afterwards",
    explanation: "Each command of a pipeline runs in a subshell, so variables assigned in it are lost when it \
        ends. Redirect the input of the loop with done < <(command), or set shopt -s lastpipe.",
    wrong: &[
        "n=0\nls | while read -r f; do n=$((n + 1)); done\necho $n",
        "last=\nps | { while read -r x; do last=$x; done; }\necho \"$last\"",
    ],
    right: &[
        "n=0; while read -r f; do n=$((n + 1)); done < <(ls); echo $n",
        "ls | while read -r f; do n=1; echo $n; done",
        "shopt -s lastpipe; n=0; ls | while read -r f; do n=1; done; echo $n",
        "n=0; ls | while read -r f; do n=1; done; n=2; echo $n",
    ],
    matcher: RuleMatcher::Node(lost_variable),
};

fn lost_variable<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Pipeline(pipeline) = node else { return };
    let Some(last) = last_compound(pipeline).filter(|_| !context.facts.lastpipe) else { return };
    let body = body(last);
    let scope = scope(context);
    for (inside, name) in assigned_in(context, body) {
        let assigned = context.facts.assigned.get(name).map(Vec::as_slice).unwrap_or_default();
        let before =
            last_starting_before(assigned, pipeline.span.start).is_some_and(|span| span.start >= scope.start);
        let Some(used) = used_after(context, name, pipeline.span.end, scope).filter(|_| before) else {
            continue;
        };
        let again = first_starting_at(assigned, pipeline.span.end).is_some_and(|span| span.start < used.end);
        if !again {
            let found = report
                .add(*inside, format!("the value assigned to \"{name}\" is lost when the pipeline ends"));
            found.relate(used, "used here").hint("redirect the input of the loop: \"done < <(command)\"");
        }
    }
}

/// Returns the assignments in a span.
fn assigned_in<'s>(context: &'s CheckContext<'_>, body: Span) -> &'s [(Span, Bytes)] {
    let all = &context.facts.assignments;
    let first = all.partition_point(|(span, _)| span.start < body.start);
    let last = all.partition_point(|(span, _)| span.start < body.end);
    all.get(first..last).unwrap_or_default()
}

/// Returns the body of a loop or group, without the condition, in which a loop reads its own variables.
fn body(command: &Command) -> Span {
    match &command.kind {
        CommandKind::Loop(repeated) => repeated.body.span,
        CommandKind::For(each) => each.body.span,
        _ => command.span,
    }
}

/// Returns the last command if it is a loop or group.
fn last_compound(pipeline: &Pipeline) -> Option<&Command> {
    let last = pipeline.stages.last().filter(|_| pipeline.stages.len() > 1)?;
    matches!(last.kind, CommandKind::Loop(_) | CommandKind::For(_) | CommandKind::Group(_)).then_some(last)
}

fn used_after(context: &CheckContext<'_>, name: &Bytes, end: u32, scope: Span) -> Option<Span> {
    let used = context.facts.used.get(name)?;
    first_starting_at(used, end).filter(|span| span.end <= scope.end)
}

/// Returns the scope of the node's variables: the nearest function, substitution or subshell, or the whole
/// script.
fn scope(context: &CheckContext<'_>) -> Span {
    let inner = context.parents.iter().rev().find_map(|node| match node {
        SyntaxNode::Command(command) => match command.kind {
            CommandKind::Function(_) | CommandKind::Subshell(_) => Some(command.span),
            _ => None,
        },
        SyntaxNode::Part(part) => Some(part.span),
        _ => None,
    });
    inner.unwrap_or(Span::new(0, u32::try_from(context.source.len()).unwrap_or(u32::MAX)))
}

/// `… | read x`.
pub(super) static READ: Rule = Rule {
    code: "pipe-read",
    severity: Severity::Warning,
    summary: "read at the end of a pipeline sets no variable",
    explanation: "The last command of a pipeline runs in a subshell, so the variable is lost immediately. Use \
        x=$(command) or read x < <(command).",
    wrong: &["date | read now", "echo a b | read x y; echo $x"],
    right: &[
        "now=$(date)",
        "read now < <(date)",
        "ls | { read -r first; echo \"$first\"; }",
        "ls | while read -r f; do :; done",
        "shopt -s lastpipe; date | read now",
    ],
    matcher: RuleMatcher::Simple(read),
};

fn read(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let last = context
        .pipeline()
        .filter(|pipeline| pipeline.stages.len() > 1)
        .and_then(|pipeline| pipeline.stages.last());
    let names = command.words.iter().any(|word| word.literal().is_some_and(|text| !text.starts_with(b"-")));
    let is_last = last.is_some_and(|last| std::ptr::eq(last, command.command));
    if command.name == b"read" && is_last && names && !context.facts.lastpipe && !context.is_tested() {
        let found =
            report.add(command.words_span(), "the variable set by \"read\" is lost when the pipeline ends");
        found.hint("use variable=$(command) or read variable < <(command)");
    }
}

/// `… | echo`.
pub(super) static UNREAD: Rule = Rule {
    code: "pipe-unread",
    severity: Severity::Warning,
    summary: "a pipe into a command that does not read its input",
    explanation: "echo, cd, mkdir and similar commands do not read standard input, so the piped data is lost. \
        Use xargs to turn input into arguments.",
    wrong: &["ls | echo", "cat list | mkdir -p", "ls | cd"],
    right: &[
        "ls | xargs echo",
        "yes | rm -i x",
        "ls | cat",
        "true | :",
        "ls | echo \"$(cat)\"",
        "a | touch done",
    ],
    matcher: RuleMatcher::Simple(unread),
};

fn unread(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(pipeline) = context.pipeline().filter(|pipeline| pipeline.stages.len() > 1) else { return };
    let first = pipeline.stages.first().is_some_and(|first| std::ptr::eq(first, command.command));
    let names = match command.name {
        b"echo" | b"cd" | b"mkdir" | b"kill" | b"export" | b"pwd" => true,
        b"rm" | b"cp" | b"mv" | b"ls" | b"chmod" | b"rmdir" => {
            command.words.iter().all(|word| word.literal().is_some_and(|text| text.starts_with(b"-")))
        }
        _ => false,
    };
    let expands = command.words.iter().any(|word| word.flags.contains(crate::ast::WordFlags::COMMANDS));
    let reads = |redirect: &Redirect| {
        matches!(
            redirect.kind,
            RedirectKind::Read(_) | RedirectKind::HereString(_) | RedirectKind::HereDocument(_)
        )
    };
    if first
        || !names
        || expands
        || command.redirects().iter().any(reads)
        || context.is_defined_here(command.name)
    {
        return;
    }
    let name = String::from_utf8_lossy(command.name).into_owned();
    report
        .add(command.name_span(), format!("\"{name}\" does not read its standard input"))
        .hint(format!("use xargs {name}"));
}

/// `… | while …; do exit 1; done`.
pub(super) static EXIT: Rule = Rule {
    code: "pipe-exit",
    severity: Severity::Warning,
    summary: "exit in a pipeline only ends the subshell",
    explanation: "A loop at the end of a pipeline runs in a subshell. exit ends that subshell, and the script \
        continues. Check the exit status of the pipeline, or redirect the input of the loop with \
        done < <(command).",
    wrong: &["ls | while read -r f; do exit 1; done\necho more"],
    right: &[
        "ls | while read -r f; do exit 1; done || exit\necho more",
        "while read -r f; do exit 1; done < <(ls)\necho more",
        "set -e\nls | while read -r f; do exit 1; done\necho more",
        "ls | while read -r f; do exit 1; done",
        "ls | while read -r f; do exit 1; done\nstatus=$?",
    ],
    matcher: RuleMatcher::Simple(exit),
};

fn exit(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"exit" || context.facts.errexit {
        return;
    }
    let Some(at) = context
        .parents
        .iter()
        .rposition(|node| matches!(node, SyntaxNode::Pipeline(pipeline) if pipeline.stages.len() > 1))
    else {
        return;
    };
    let SyntaxNode::Pipeline(pipeline) = context.parents[at] else { return };
    let between = &context.parents[at..];
    let apart = between.iter().any(|node| match node {
        SyntaxNode::Command(command) => {
            matches!(command.kind, CommandKind::Function(_) | CommandKind::Subshell(_))
        }
        SyntaxNode::Part(_) => true,
        _ => false,
    });
    let in_last = last_compound(pipeline).is_some_and(
        |last| matches!(between.get(1), Some(SyntaxNode::Command(stage)) if std::ptr::eq(*stage, last)),
    );
    let checked = !matches!(at.checked_sub(1).map(|at| context.parents[at]), Some(SyntaxNode::Statement(statement)) if statement.rest.is_empty());
    if apart || !in_last || checked || !continues_unchecked(context, at) {
        return;
    }
    report
        .add(command.words_span(), "this ends the subshell of the pipeline, not the script")
        .hint("check the exit status of the pipeline: \"done || exit\"");
}

/// Whether a statement that does not test the exit status follows the pipeline.
fn continues_unchecked(context: &CheckContext<'_>, at: usize) -> bool {
    let (Some(SyntaxNode::List(list)), Some(SyntaxNode::Statement(statement))) =
        (at.checked_sub(2).map(|at| context.parents[at]), at.checked_sub(1).map(|at| context.parents[at]))
    else {
        return false;
    };
    let next = list.statements.iter().skip_while(|other| !std::ptr::eq(*other, statement)).nth(1);
    next.is_some_and(|next| memchr::memmem::find(next.span.of(context.source), b"$?").is_none())
}
