//! Missing and superfluous quotes.

use crate::ast::{
    AssignmentValue, CommandKind, Parameter, ParameterOperator, PartKind, RedirectKind, SpecialParameter,
    Word, WordContent,
};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `rm "*.o"`.
pub(super) static GLOB: Rule = Rule {
    code: "pattern-quoted",
    severity: Severity::Warning,
    summary: "a quoted pattern is not expanded",
    explanation: "In quotes, * and ? are literal: the command looks for a file with exactly that name. Leave \
        the pattern unquoted: \"$dir\"/*.o.",
    wrong: &["rm \"*.o\"", "cp 'src/*.c' dst", "for f in \"*.txt\"; do :; done", "ls \"$dir/*.c\""],
    right: &[
        "rm *.o",
        "rm \"$dir\"/*.o",
        "find . -name '*.o'",
        "grep 'a*' file",
        "echo \"*\"",
        "for f in \"a\" 'b'; do :; done",
    ],
    matcher: RuleMatcher::Node(glob),
};

fn glob<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    const COMMANDS: &[&[u8]] =
        &[b"rm", b"cp", b"mv", b"ls", b"cat", b"wc", b"head", b"tail", b"chmod", b"chown", b"stat"];
    let SyntaxNode::Command(command) = node else { return };
    let words: Vec<&Word> = match &command.kind {
        CommandKind::For(each) => each.words.as_deref().unwrap_or_default().iter().collect(),
        CommandKind::Simple(_) => match SimpleView::of(command) {
            Some(simple) if COMMANDS.contains(&simple.name) => simple.words,
            _ => return,
        },
        _ => return,
    };
    for word in words {
        if !has_quoted_star(word) {
            continue;
        }
        let text = context.text(word.span);
        let found = report.add(word.span, format!("the quoted pattern {text} is not expanded"));
        found.hint("move the pattern out of the quotes");
    }
}

/// Whether a word is fully quoted and looks like a path with a pattern: no blanks, and a letter, dot or slash
/// next to the star.
fn has_quoted_star(word: &Word) -> bool {
    let [part] = word.parts() else { return false };
    let path = |text: &[u8]| {
        let star = text.contains(&b'*') && text.len() > 1;
        star && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"*./_-".contains(byte))
    };
    match &part.kind {
        PartKind::SingleQuoted(text) => path(text),
        PartKind::DoubleQuoted(parts) => match &word.content {
            WordContent::Static { text, .. } => path(text),
            _ => parts.len() > 1 && parts.iter().any(|part| matches!(&part.kind, PartKind::Literal(text) if path(text) && text.starts_with(b"/"))),
        },
        _ => false,
    }
}

/// `cd "~/x"`.
pub(super) static TILDE: Rule = Rule {
    code: "tilde-quoted",
    severity: Severity::Warning,
    summary: "a quoted tilde is not expanded",
    explanation: "The shell only expands an unquoted ~. Write ~/\"my files\" or \"$HOME/my files\".",
    wrong: &["cd \"~/src\"", "cat '~/.profile'", "echo x > \"~/log\"", "dir=\"~/src\""],
    right: &["cd ~/src", "cd \"$HOME/src\"", "echo \"~/x is there\"", "x='~'", "rm \"a~\""],
    matcher: RuleMatcher::Node(tilde),
};

fn tilde<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    const COMMANDS: &[&[u8]] = &[
        b"cd", b"rm", b"cp", b"mv", b"ls", b"cat", b"mkdir", b"touch", b"source", b".", b"tar", b"chmod",
        b"ln",
    ];
    let words: Vec<&Word> = match node {
        SyntaxNode::Command(command) => match SimpleView::of(command) {
            Some(simple) if COMMANDS.contains(&simple.name) => simple.words,
            _ => return,
        },
        SyntaxNode::Redirect(redirect) => match &redirect.kind {
            RedirectKind::Read(word) | RedirectKind::Write(word) | RedirectKind::Append(word) => vec![word],
            _ => return,
        },
        SyntaxNode::Assignment(assignment) => match &assignment.value {
            AssignmentValue::Word(word) => vec![word],
            AssignmentValue::Array(_) => return,
        },
        _ => return,
    };
    for word in words {
        let quoted = match word.parts().first().map(|part| &part.kind) {
            Some(PartKind::SingleQuoted(text)) => text.starts_with(b"~/"),
            Some(PartKind::DoubleQuoted(parts)) => {
                matches!(parts.first().map(|part| &part.kind), Some(PartKind::Literal(text)) if text.starts_with(b"~/"))
            }
            _ => false,
        };
        if quoted && !word.span.of(context.source).contains(&b' ') {
            let text = context.text(word.span);
            report
                .add(word.span, format!("the quoted tilde in {text} is not expanded"))
                .hint("move \"~/\" out of the quotes, or write \"$HOME/…\"");
        }
    }
}

/// `command $@`.
pub(super) static ARGUMENTS: Rule = Rule {
    code: "arguments-unquoted",
    severity: Severity::Warning,
    summary: "unquoted $@",
    explanation: "An unquoted $@ undergoes word splitting and filename expansion, so arguments change. \"$@\" \
        passes each argument unchanged.",
    wrong: &["exec program $@", "for a in $@; do :; done", "f() { g ${array[@]}; }"],
    right: &["exec program \"$@\"", "for a in \"$@\"; do :; done", "x=$@", "echo $*", "[[ $@ ]]", "echo $@"],
    matcher: RuleMatcher::Node(arguments),
};

fn arguments<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(command) = node else { return };
    let words: Vec<&Word> = match &command.kind {
        CommandKind::For(each) => each.words.as_deref().unwrap_or_default().iter().collect(),
        CommandKind::Simple(_) => match SimpleView::of(command) {
            Some(simple) if !matches!(simple.name, b"echo" | b"printf" | b"[" | b"test" | b"set") => {
                simple.words
            }
            _ => return,
        },
        _ => return,
    };
    for part in words.iter().flat_map(|word| word.parts()) {
        let PartKind::Parameter(expansion) = &part.kind else { continue };
        let all = expansion.parameter == Parameter::Special(SpecialParameter::At)
            || expansion
                .subscript
                .as_ref()
                .is_some_and(|subscript| subscript.kind == crate::ast::SubscriptKind::At);
        if all && expansion.operator == ParameterOperator::Value && !expansion.indirect {
            let text = context.text(part.span);
            report
                .add(part.span, format!("unquoted {text}: arguments are split at blanks"))
                .hint(format!("write \"{text}\" with double quotes"));
        }
    }
}
