//! Mistakes in assignments.

use crate::ast::{Argument, PartKind, Span};
use crate::check::context::{CheckContext, SimpleView, is_identifier};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::resolve::Resolution;

/// `x = 1`.
pub(super) static SPACES: Rule = Rule {
    code: "assignment-spaces",
    severity: Severity::Error,
    summary: "spaces around \"=\" in an assignment",
    explanation: "An assignment has no spaces around \"=\". With a space before it, the shell runs the \
        variable name as a command. With a space after it, the variable is set to the empty string \
        and the value is run as a command.",
    wrong: &["x = 1", "count =1", "name= 'Jane Doe'", "n= 5"],
    right: &["x=1", "IFS= read -r line", "expr a = b", "LC_ALL= sort file", "x='= 1'"],
    matcher: RuleMatcher::Simple(spaces),
};

fn spaces(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let unknown = |name: &[u8]| matches!(context.resolve(name), Resolution::Missing | Resolution::Unknown);
    let name = command.name;
    let before = command.literal(0).is_some_and(|word| word.starts_with(b"=") && word != b"==");
    if is_identifier(name) && before && command.simple.assignments.is_empty() && unknown(name) {
        let shown = String::from_utf8_lossy(name).into_owned();
        let found = report
            .add(command.words_span(), format!("this runs the command \"{shown}\" instead of assigning"));
        found.hint(format!("write {shown}=… without spaces"));
        return;
    }
    let [assignment] = &*command.simple.assignments else { return };
    let written = assignment.span.of(context.source);
    let first = command.name_span();
    let start = first.of(context.source).first();
    let value = start.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\''));
    if written.ends_with(b"=") && value && !name.is_empty() && unknown(name) {
        let shown = String::from_utf8_lossy(written).into_owned();
        let span = assignment.span.to(command.name_span());
        let found = report
            .add(span, format!("\"{shown}\" assigns an empty string, and the value is run as a command"));
        found.hint("remove the space after \"=\"");
    }
}

/// `$x=1`.
pub(super) static DOLLAR: Rule = Rule {
    code: "assignment-dollar",
    severity: Severity::Error,
    summary: "\"$\" before the variable name in an assignment",
    explanation: "$x=1 expands x and runs the result as a command. Write only the name on the left of an \
        assignment.",
    wrong: &["$x=1", "$name=\"a b\"", "${x}=1"],
    right: &["x=1", "\"$x\"", "eval \"$x=1\"", "$x --a=1"],
    matcher: RuleMatcher::Simple(dollar),
};

fn dollar(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(Argument::Word(word)) = command.simple.arguments.first() else { return };
    let [variable, literal, ..] = word.parts() else { return };
    let PartKind::Variable(name) = &variable.kind else { return };
    if matches!(&literal.kind, PartKind::Literal(text) if text.starts_with(b"=")) {
        let shown = context.text(word.span);
        report
            .add(word.span, format!("\"{shown}\" is run as a command instead of assigning"))
            .hint(format!("write {name}=… without \"$\""));
    }
}

/// `export x = 1`.
pub(super) static DECLARED_SPACES: Rule = Rule {
    code: "declaration-spaces",
    severity: Severity::Error,
    summary: "spaces around \"=\" in export, local, declare or readonly",
    explanation: "With spaces, each word is a separate name. \"=\" is not a valid name, so the builtin fails \
        and the value is not assigned.",
    wrong: &["export x = 1", "f() { local y = 2; }", "declare z =3", "export PATH= \"$PATH:/x\""],
    right: &["export x=1", "f() { local y=2; }", "export a b", "declare -p x", "export x= y"],
    matcher: RuleMatcher::Simple(declared_spaces),
};

fn declared_spaces(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if !matches!(command.name, b"export" | b"local" | b"declare" | b"typeset" | b"readonly") {
        return;
    }
    let equals = |argument: &Argument| argument.span().of(context.source).starts_with(b"=");
    for pair in command.simple.arguments.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        let span: Span = first.span().to(second.span());
        let ends =
            matches!(first, Argument::Assignment(_)) && first.span().of(context.source).ends_with(b"=");
        let quoted =
            second.span().of(context.source).first().is_some_and(|byte| matches!(byte, b'"' | b'\''));
        if equals(second) || (ends && quoted) {
            report
                .add(span, "the value is not assigned because of the spaces around \"=\"")
                .hint("write name=value without spaces");
            return;
        }
    }
}

/// `read $x`.
pub(super) static READ_DOLLAR: Rule = Rule {
    code: "read-dollar",
    severity: Severity::Warning,
    summary: "\"$\" before the variable name given to read",
    explanation: "read $x assigns to the variable whose name is the value of x, which is often empty. Write \
        only the name.",
    wrong: &["read $x", "read -r $line"],
    right: &["read x", "read -p \"$prompt\" x", "read -r -t $seconds x", "read \"$name\""],
    matcher: RuleMatcher::Simple(read_dollar),
};

fn read_dollar(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"read" {
        return;
    }
    let Some(last) = command.words.last() else { return };
    let before = command.words.len().checked_sub(2).and_then(|at| command.literal(at));
    let valued = before.is_some_and(|word| {
        word.len() > 1
            && word.starts_with(b"-")
            && word.last().is_some_and(|letter| b"adinNptu".contains(letter))
    });
    if let [part] = last.parts()
        && let PartKind::Variable(name) = &part.kind
        && !valued
    {
        let text = context.text(last.span);
        report
            .add(last.span, format!("\"{text}\" is the value of the variable, but \"read\" needs its name"))
            .hint(format!("write read {name}"));
    }
}
