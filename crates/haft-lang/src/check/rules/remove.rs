//! `rm` commands that may remove the wrong files.

use crate::ast::{CommandKind, List, ParameterOperator, PartKind, Word, WordPart};
use crate::check::context::{CheckContext, SimpleView, unquoted};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

use super::operand::is_safe;

/// `rm $x`.
pub(super) static UNQUOTED: Rule = Rule {
    code: "rm-unquoted",
    severity: Severity::Warning,
    summary: "an unquoted variable in the arguments of rm",
    explanation: "If the value contains a blank, it becomes several file names. If it contains a pattern, the \
        shell expands it. rm may then remove the wrong files. Quote the variable, and use an array \
        for several files.",
    wrong: &["rm $1", "rm -f $(cat list)/x", "for f in \"$@\"; do rm -rf $f; done"],
    right: &["rm \"$1\"", "rm -f -- \"${files[@]}\"", "f=/tmp/x; rm $f", "rm -f x.$$", "rm -rf ./build"],
    matcher: RuleMatcher::Simple(rm_unquoted),
};

fn rm_unquoted(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"rm" {
        return;
    }
    for word in &command.words {
        let risky = unquoted(word).find(|part| !is_safe(context, part) && !is_option_variable(word, part));
        if let Some(part) = risky {
            let text = context.text(part.span);
            let found = report
                .add(part.span, format!("unquoted \"{text}\": blanks or patterns in it name other files"));
            found.hint("use double quotes");
        }
    }
}

/// Whether a word is a variable whose name suggests a list of options or files: the author splits it on
/// purpose.
fn is_option_variable(word: &Word, part: &WordPart) -> bool {
    let PartKind::Variable(name) = &part.kind else { return false };
    let name = name.to_ascii_lowercase();
    let marks = [&b"opt"[..], b"flag", b"arg", b"files", b"list", b"dirs", b"paths", b"verbose", b"force"];
    word.parts().len() == 1 && marks.iter().any(|mark| memchr::memmem::find(&name, mark).is_some())
}

/// `rm -rf "$x/"`.
pub(super) static ROOT: Rule = Rule {
    code: "rm-root",
    severity: Severity::Warning,
    summary: "rm -r of a path that starts at the root if a variable is empty",
    explanation: "If the variable is unset or empty, the path starts at the root: rm -rf \"$x/\"* then removes \
        everything. Write \"${x:?}/\", which stops the script instead.",
    wrong: &["rm -rf \"$x/\"*", "rm -rf $x/*", "rm -r \"$1/usr\""],
    right: &[
        "rm -rf \"${x:?}/\"*",
        "rm -rf \"$x\"",
        "rm -rf \"$x/build\"",
        "rm \"$x/\"*",
        "x=/srv/y; rm -rf \"$x/\"*",
        "x=$(mktemp -d); rm -rf \"$x/\"*",
    ],
    matcher: RuleMatcher::Simple(rm_root),
};

fn rm_root(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let recursive = command.has_letter(b'r') || command.has_letter(b'R');
    if command.name != b"rm" || !recursive {
        return;
    }
    for word in &command.words {
        let mut parts = flattened(word).into_iter();
        let Some(first) = parts.next() else { continue };
        let rest: Vec<&WordPart> = parts.collect();
        if may_be_empty(context, first) && is_top(&rest) {
            let text = context.text(word.span);
            let found = report
                .add(word.span, format!("{text} starts at the root directory if the variable is empty"));
            found.hint("write \"${name:?}\", which stops the script if the variable is empty");
        }
    }
}

/// Returns the parts of a word, with double quotes flattened.
fn flattened(word: &Word) -> Vec<&WordPart> {
    let inner = |part: &'_ WordPart| matches!(part.kind, PartKind::DoubleQuoted(_));
    let mut all = Vec::new();
    for part in word.parts() {
        match &part.kind {
            PartKind::DoubleQuoted(parts) if inner(part) => all.extend(parts.iter()),
            _ => all.push(part),
        }
    }
    all
}

fn may_be_empty(context: &CheckContext<'_>, part: &WordPart) -> bool {
    match &part.kind {
        PartKind::Variable(name) => !is_never_empty(context, name),
        PartKind::Parameter(expansion) => matches!(expansion.operator, ParameterOperator::Value),
        _ => false,
    }
}

/// Whether every value that the script assigns to the variable is non-empty.
fn is_never_empty(context: &CheckContext<'_>, name: &[u8]) -> bool {
    let Some(places) = context.facts.assigned.get(name) else { return name == b"HOME" || name == b"PWD" };
    places.len() <= 64
        && places.iter().all(|span| {
            let text = span.of(context.source);
            let value = memchr::memchr(b'=', text).map_or(&b""[..], |at| &text[at + 1..]);
            let value = value.strip_prefix(b"\"").unwrap_or(value);
            let made = [&b"$(mktemp"[..], b"`mktemp", b"$(pwd", b"$PWD", b"$(cd "]
                .iter()
                .any(|mark| value.starts_with(mark));
            made || value.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"/._~".contains(byte))
        })
}

/// Whether the text after the variable is `/`, `/*` or a top-level directory.
fn is_top(parts: &[&WordPart]) -> bool {
    const TOP: [&[u8]; 12] = [
        b"/bin", b"/boot", b"/dev", b"/etc", b"/home", b"/lib", b"/opt", b"/root", b"/sbin", b"/srv",
        b"/usr", b"/var",
    ];
    let [first, rest @ ..] = parts else { return false };
    let PartKind::Literal(text) = &first.kind else { return false };
    let globs = rest.iter().all(|part| matches!(part.kind, PartKind::Glob(_)));
    (text == "/" && globs) || (rest.is_empty() && TOP.contains(&text.as_bytes()))
}

/// `cd x; rm -rf *`.
pub(super) static AFTER_CD: Rule = Rule {
    code: "cd-unchecked",
    severity: Severity::Warning,
    summary: "rm after a cd that may have failed",
    explanation: "If cd fails, the script continues in the old directory, and rm removes files there. Write cd \
        dir && rm …, cd dir || exit, or set -e.",
    wrong: &["cd build; rm -rf *", "cd \"$1\"\nrm -f *.o"],
    right: &[
        "cd build && rm -rf *",
        "cd build || exit\nrm -rf *",
        "set -e; cd build; rm -rf *",
        "cd build; rm -f /tmp/x",
        "cd build; make",
    ],
    matcher: RuleMatcher::List(after_cd),
};

fn after_cd(context: &CheckContext<'_>, list: &List, report: &mut RuleReport<'_>) {
    if context.facts.errexit {
        return;
    }
    let mut unchecked = None;
    for statement in &*list.statements {
        let [command] = &*statement.first.stages else { continue };
        let Some(simple) = SimpleView::of(command) else {
            if !matches!(command.kind, CommandKind::Simple(_)) {
                unchecked = None;
            }
            continue;
        };
        match (simple.name, unchecked) {
            (b"cd", _) => {
                let always = matches!(simple.literal(0), Some(b"/" | b"-") | None) && simple.words.is_empty();
                unchecked = (statement.rest.is_empty() && !always).then(|| simple.words_span());
            }
            (b"rm", Some(cd)) if simple.words.iter().any(|word| is_relative(word)) => {
                let text = context.text(cd);
                let found = report.add(
                    simple.words_span(),
                    format!("this runs in the wrong directory if \"{text}\" fails"),
                );
                found.relate(cd, "the exit status is not checked").hint(format!("write {text} || exit"));
                unchecked = None;
            }
            _ => {}
        }
    }
}

/// Whether a word is a relative path.
fn is_relative(word: &Word) -> bool {
    match word.literal() {
        Some(text) => !text.starts_with(b"-") && !text.starts_with(b"/"),
        None => {
            matches!(word.parts().first().map(|part| &part.kind), Some(PartKind::Glob(_)))
                || matches!(word.parts().first().map(|part| &part.kind), Some(PartKind::Literal(text)) if !text.starts_with(b"/") && !text.starts_with(b"-"))
        }
    }
}
