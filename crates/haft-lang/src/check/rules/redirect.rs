//! Mistakes in redirections.

use crate::ast::{Command, Duplicate, Pipeline, Redirect, RedirectDescriptor, RedirectKind, Word, WordFlags};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `2>1`.
pub(super) static NUMBER: Rule = Rule {
    code: "redirect-number",
    severity: Severity::Warning,
    summary: "a redirection to a file named 1 or 2",
    explanation: "2>1 writes standard error to a file named 1. To duplicate a file descriptor, write an \
        ampersand: 2>&1.",
    wrong: &["make 2>1", "echo error >2", "make > log 2>1"],
    right: &["make 2>&1", "echo error >&2", "make > ./1", "make 2>/dev/null"],
    matcher: RuleMatcher::Node(number),
};

fn number<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Redirect(redirect) = node else { return };
    let RedirectKind::Write(word) = &redirect.kind else { return };
    let Some(number @ (b"1" | b"2")) = word.plain() else { return };
    if is_test(context) {
        return;
    }
    let number = String::from_utf8_lossy(number);
    let text = context.text(redirect.span);
    let prefix = text.split('>').next().unwrap_or_default().to_owned();
    report
        .add(redirect.span, format!("\"{text}\" writes to a file named \"{number}\""))
        .hint(format!("write {prefix}>&{number}"));
}

/// Whether the redirection is in `[ ]`, where another rule explains the mistake better.
fn is_test(context: &CheckContext<'_>) -> bool {
    context
        .commands()
        .next()
        .and_then(SimpleView::of)
        .is_some_and(|simple| matches!(simple.name, b"[" | b"test"))
}

/// `2&>1`.
pub(super) static BOTH: Rule = Rule {
    code: "redirect-both",
    severity: Severity::Warning,
    summary: "a digit before \"&>\" is an argument",
    explanation: "&> redirects standard output and standard error, and takes no file descriptor: the digit \
        before it is an argument of the command. 2>&1 sends standard error to standard output.",
    wrong: &["make 2&>1", "make 2&>/dev/null"],
    right: &["make 2>&1", "make &>log", "head -n 2 &>log"],
    matcher: RuleMatcher::Simple(both),
};

fn both(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(last) = command.words.last() else { return };
    for redirect in command.redirects() {
        let (RedirectKind::WriteBoth(_) | RedirectKind::AppendBoth(_)) = &redirect.kind else { continue };
        if matches!(last.plain(), Some(b"1" | b"2")) && last.span.end == redirect.span.start {
            let span = last.span.to(redirect.span);
            let text = context.text(span);
            report
                .add(span, format!("the digit in \"{text}\" is an argument of the command"))
                .hint("write 2>&1, or &> without a digit");
        }
    }
}

/// `2>&1 > file`.
pub(super) static ORDER: Rule = Rule {
    code: "redirect-order",
    severity: Severity::Warning,
    summary: "2>&1 before the redirection of standard output",
    explanation: "Redirections take effect from left to right. 2>&1 > file sends standard error to the old \
        standard output, and then redirects only standard output to the file. Write > file 2>&1.",
    wrong: &["make 2>&1 > log", "make 2>&1 >/dev/null"],
    right: &[
        "make > log 2>&1",
        "make 2>&1 >/dev/null | grep error",
        "errors=$(make 2>&1 >/dev/null)",
        "make 3>&1 >log",
    ],
    matcher: RuleMatcher::Node(order),
};

fn order<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(command) = node else { return };
    let Some(at) = command.redirects.iter().position(is_errors_to_output) else { return };
    let later = command.redirects[at + 1..].iter().find(|redirect| {
        matches!(redirect.kind, RedirectKind::Write(_) | RedirectKind::Append(_) | RedirectKind::Clobber(_))
            && matches!(redirect.descriptor, RedirectDescriptor::Default | RedirectDescriptor::Number(1))
    });
    let redirected_before = command.redirects[..at].iter().any(|redirect| {
        matches!(redirect.descriptor, RedirectDescriptor::Default | RedirectDescriptor::Number(1))
            && matches!(
                redirect.kind,
                RedirectKind::Write(_) | RedirectKind::Append(_) | RedirectKind::DuplicateOutput(_)
            )
    });
    let Some(later) = later.filter(|_| !redirected_before && !is_read(context, command)) else { return };
    let found = report.add(command.redirects[at].span, "standard error goes to the old standard output");
    found
        .relate(later.span, "standard output is redirected here")
        .hint(format!("write {} 2>&1", context.text(later.span)));
}

fn is_errors_to_output(redirect: &Redirect) -> bool {
    matches!(redirect.descriptor, RedirectDescriptor::Number(2))
        && matches!(redirect.kind, RedirectKind::DuplicateOutput(Duplicate::Descriptor { number: 1, .. }))
}

/// Whether a pipe or a substitution reads the output of the command, so the order makes sense.
fn is_read(context: &CheckContext<'_>, command: &crate::ast::Command) -> bool {
    let piped = context
        .pipeline()
        .is_some_and(|pipeline| !pipeline.stages.last().is_some_and(|last| std::ptr::eq(last, command)));
    let held = context.commands().any(|outer| !outer.redirects.is_empty());
    piped || context.in_substitution() || held
}

/// `sort file > file`.
pub(super) static OVERWRITES_INPUT: Rule = Rule {
    code: "overwrites-input",
    severity: Severity::Warning,
    summary: "a file is truncated before it is read",
    explanation: "The shell truncates the file of > before the command starts, so there is nothing left to \
        read. Write to another file and rename it, or use sed -i, sort -o or sponge.",
    wrong: &[
        "sort names > names",
        "grep -v x \"$f\" > \"$f\"",
        "cat a | sed s/x/y/ > a",
        "jq . < f.json > f.json",
    ],
    right: &[
        "sort names > sorted",
        "sort names >> names",
        "sort -o names names",
        "grep x a > b",
        "echo a > a",
        "cat /dev/tty > /dev/tty",
    ],
    matcher: RuleMatcher::Node(overwrites_input),
};

fn overwrites_input<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Pipeline(pipeline) = node else { return };
    for word in written(pipeline) {
        let name = word.span.of(context.source);
        if name.starts_with(b"/dev/") || name.is_empty() || word.flags.contains(WordFlags::COMMANDS) {
            continue;
        }
        let same = |other: &&Word| other.span.of(context.source) == name;
        if let Some(other) = pipeline.stages.iter().flat_map(read_by).find(same) {
            let text = context.text(word.span);
            let found = report.add(word.span, format!("{text} is truncated before it is read"));
            found.relate(other.span, "read here").hint("write to another file and rename it");
        }
    }
}

/// Returns the files that a command certainly reads: its standard input and its operands.
fn read_by(command: &Command) -> Vec<&Word> {
    const FILES: &[&[u8]] =
        &[b"cat", b"sort", b"uniq", b"head", b"tail", b"tac", b"rev", b"nl", b"expand", b"fmt", b"column"];
    const PROGRAM_FIRST: &[&[u8]] = &[b"sed", b"grep", b"egrep", b"awk", b"jq", b"yq", b"cut", b"iconv"];
    let Some(simple) = SimpleView::of(command) else { return Vec::new() };
    let skipped = match simple.name {
        name if FILES.contains(&name) => 0,
        name if PROGRAM_FIRST.contains(&name) => 1,
        b"tr" | b"envsubst" => usize::MAX,
        _ => return Vec::new(),
    };
    let input = simple.redirects().iter().filter_map(|redirect| match &redirect.kind {
        RedirectKind::Read(word) => Some(word),
        _ => None,
    });
    simple.words.iter().skip(skipped).copied().chain(input).collect()
}

/// Returns the files that a pipeline truncates.
fn written(pipeline: &Pipeline) -> impl Iterator<Item = &Word> {
    let redirects = pipeline.stages.iter().flat_map(|stage| stage.redirects.iter());
    redirects.filter_map(|redirect| match &redirect.kind {
        RedirectKind::Write(word) | RedirectKind::Clobber(word) | RedirectKind::WriteBoth(word) => Some(word),
        _ => None,
    })
}

/// `sudo echo x > /etc/file`.
pub(super) static SUDO: Rule = Rule {
    code: "sudo-redirect",
    severity: Severity::Warning,
    summary: "sudo does not apply to a redirection",
    explanation: "The shell opens the file before sudo starts, with the permissions of the current user. Pipe \
        into sudo tee FILE instead.",
    wrong: &["sudo echo 1 > /proc/sys/vm/drop_caches", "sudo cat key >> /etc/keys"],
    right: &[
        "echo 1 | sudo tee /proc/sys/vm/drop_caches",
        "sudo cat /etc/shadow > copy",
        "sudo make > /dev/null",
        "sudo ls > /tmp/x",
    ],
    matcher: RuleMatcher::Simple(sudo),
};

fn sudo(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    const PROTECTED: [&[u8]; 8] =
        [b"/etc/", b"/root/", b"/usr/", b"/proc/", b"/sys/", b"/boot/", b"/var/lib/", b"/lib/"];
    if command.name != b"sudo" {
        return;
    }
    for redirect in command.redirects() {
        let (RedirectKind::Write(word) | RedirectKind::Append(word)) = &redirect.kind else { continue };
        let path = word.span.of(context.source);
        let path = path.strip_prefix(b"\"").unwrap_or(path);
        if PROTECTED.iter().any(|prefix| path.starts_with(prefix)) {
            let text = context.text(word.span);
            report
                .add(redirect.span, format!("{text} is opened without \"sudo\""))
                .hint(format!("use … | sudo tee {text}"));
        }
    }
}
