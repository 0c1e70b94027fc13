//! Syntax mistakes in `[` and `test`.

use crate::ast::{RedirectKind, Span};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

/// `[` without `]`.
pub(super) static UNCLOSED: Rule = Rule {
    code: "test-unclosed",
    severity: Severity::Error,
    summary: "\"[\" without \"]\"",
    explanation: "\"[\" is a command whose last argument must be \"]\", as a separate word. \"&&\" and \"||\" \
        end the command: write [ a ] && [ b ], or [[ a && b ]].",
    wrong: &["[ -f x", "if [ -f x && -f y ]; then :; fi", "[ \"$a\" = b]"],
    right: &["[ -f x ]", "[ -f x ] && [ -f y ]", "[ $test ]", "[ \"$@\""],
    matcher: RuleMatcher::Simple(unclosed),
};

fn unclosed(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"[" || command.simple.arguments.last().and_then(|last| last.word()).is_none() {
        return;
    }
    let Some(last) = command.words.last() else {
        report.add(command.name_span(), "\"[\" without \"]\"").hint("close it with \"]\"");
        return;
    };
    if last.literal() == Some(b"]") || last.flags.contains(crate::ast::WordFlags::FIELDS) {
        return;
    }
    let end = Span::new(last.span.end.saturating_sub(1), last.span.end);
    let glued = end.of(context.source) == b"]" && last.span.of(context.source) != b"]";
    let found = report.add(command.name_span(), "\"[\" without \"]\"");
    if glued {
        found.relate(end, "part of the previous word").hint("put a space before \"]\"");
    } else if context.statement().is_some_and(|statement| !statement.rest.is_empty()) {
        found.hint("\"&&\" and \"||\" end the command: write \"[ … ] && [ … ]\" or \"[[ … && … ]]\"");
    } else {
        found.hint("close it with \"]\" as a separate word");
    }
}

/// `[-f x ]`.
pub(super) static NO_SPACE: Rule = Rule {
    code: "test-no-space",
    severity: Severity::Error,
    summary: "no space after \"[\" or \"[[\"",
    explanation: "\"[\" and \"[[\" are words. Without a space after them, the shell looks for a command with a \
        longer name.",
    wrong: &["[-f x ]", "if [\"$a\" = b ]; then :; fi"],
    right: &["[ -f x ]", "[[ -f x ]]", "[abc]*"],
    matcher: RuleMatcher::Simple(no_space),
};

fn no_space(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let span = command.name_span();
    let written = span.of(context.source);
    let closed = command.words.last().and_then(|word| word.literal());
    if written.len() > 1
        && written.starts_with(b"[")
        && written != b"[["
        && matches!(closed, Some(b"]" | b"]]"))
    {
        report.add(span, "no space after \"[\"").hint("put a space after it");
    }
}

/// `[ a > b ]`.
pub(super) static REDIRECT: Rule = Rule {
    code: "test-redirect",
    severity: Severity::Warning,
    summary: "\"<\" or \">\" inside \"[ ]\" is a redirection",
    explanation: "In \"[ ]\", an unquoted < or > is a redirection: [ a > b ] writes to a file named b and is \
        always true. Use -lt or -gt for numbers, [[ a > b ]] for strings.",
    wrong: &["[ \"$a\" > 5 ]", "test 1 < 2"],
    right: &[
        "[ \"$a\" -gt 5 ]",
        "[ a \\> b ]",
        "[[ a > b ]]",
        "[ -t 0 ] > log",
        "[ -r x ] 2>/dev/null",
        "test -s x >/dev/null",
    ],
    matcher: RuleMatcher::Simple(redirect),
};

fn redirect(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if !matches!(command.name, b"[" | b"test") {
        return;
    }
    let end = command.words_span().end;
    for redirect in command.redirects() {
        let (RedirectKind::Read(word) | RedirectKind::Write(word)) = &redirect.kind else { continue };
        let number = word.literal().is_some_and(|text| text.iter().all(u8::is_ascii_digit));
        let inside = redirect.span.start < end || (command.name == b"test" && number);
        if redirect.descriptor == crate::ast::RedirectDescriptor::Default && inside {
            let text = context.text(redirect.span);
            let found = report.add(redirect.span, format!("\"{text}\" redirects instead of comparing"));
            found.hint("use -lt or -gt for numbers, [[ ]] for strings");
        }
    }
}

/// `[ $a=b ]`.
pub(super) static JOINED: Rule = Rule {
    code: "test-joined",
    severity: Severity::Warning,
    summary: "a comparison without spaces is a single word and always true",
    explanation: "[ $a=b ] has a single operand, which is true because it is not empty. Put spaces around the \
        operator.",
    wrong: &["[ $a=b ]", "[[ $a==b ]]", "[ \"$a\"!=\"b\" ]"],
    right: &["[ \"$a\" = b ]", "[[ $a == b ]]", "[ $a ]", "[[ \"--x=$y\" ]]"],
    matcher: RuleMatcher::Node(joined),
};

fn joined<'a>(context: &CheckContext<'a>, node: crate::walk::SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    use crate::ast::{ConditionalKind, PartKind, Word};
    use crate::walk::SyntaxNode;
    let word: &Word = match node {
        SyntaxNode::Conditional(conditional) => match &conditional.kind {
            ConditionalKind::Word(word) => word,
            _ => return,
        },
        SyntaxNode::Command(command) => match SimpleView::of(command) {
            Some(SimpleView { name: b"[", words, .. }) if words.len() == 2 => words[0],
            _ => return,
        },
        _ => return,
    };
    let parts = word.parts();
    let expanded = |kind: &PartKind| match kind {
        PartKind::Variable(_) | PartKind::Parameter(_) | PartKind::Command(_) => true,
        PartKind::DoubleQuoted(inner) => inner.iter().any(|part| {
            matches!(part.kind, PartKind::Variable(_) | PartKind::Parameter(_) | PartKind::Command(_))
        }),
        _ => false,
    };
    let starts = parts.first().is_some_and(|part| expanded(&part.kind));
    let operator = parts.get(1).is_some_and(|part| matches!(&part.kind, PartKind::Literal(text) if text.starts_with(b"=") || text.starts_with(b"!=")));
    if starts && operator {
        let text = context.text(word.span);
        report
            .add(word.span, format!("\"{text}\" is a single word, which is always true"))
            .hint("put spaces around the operator");
    }
}
