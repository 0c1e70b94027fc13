//! Mistakes with lists of files: `for … in $(ls)`, `find`.

use crate::ast::{Command, CommandKind, Glob, List, PartKind, Word, WordFlags};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// `for f in $(ls)`.
pub(super) static FOR_LS: Rule = Rule {
    code: "for-ls",
    severity: Severity::Warning,
    summary: "a loop over the output of ls or find",
    explanation: "The output undergoes word splitting, so a file name with a blank becomes several words. Loop \
        over a pattern (for f in ./*), or read the output of find -print0 with while IFS= read -r -d \
        ''.",
    wrong: &[
        "for f in $(ls); do :; done",
        "for f in `ls *.txt`; do :; done",
        "for f in $(find . -name '*.c'); do :; done",
    ],
    right: &[
        "for f in ./*; do :; done",
        "for f in $(cat list); do :; done",
        "for f in $(ls | wc -l); do :; done",
        "for f in \"$(ls)\"; do :; done",
    ],
    matcher: RuleMatcher::Node(for_ls),
};

fn for_ls<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(Command { kind: CommandKind::For(each), .. }) = node else { return };
    for word in each.words.as_deref().unwrap_or_default() {
        let [part] = word.parts() else { continue };
        let PartKind::Command(substitution) = &part.kind else { continue };
        let Some(name) = only_command(&substitution.body) else { continue };
        if matches!(name, b"ls" | b"find") {
            let name = String::from_utf8_lossy(name);
            let found =
                report.add(word.span, format!("the output of \"{name}\" is split at blanks in file names"));
            found.hint(if name == "ls" {
                "loop over a pattern: for f in ./*"
            } else {
                "find … -print0 | while IFS= read -r -d '' f"
            });
        }
    }
}

/// Returns the command name if a list consists of one simple command.
fn only_command(list: &List) -> Option<&[u8]> {
    let [statement] = &*list.statements else { return None };
    let ([command], []) = (&*statement.first.stages, &*statement.rest) else { return None };
    SimpleView::of(command).map(|simple| simple.name)
}

/// `find . -name *.c`.
pub(super) static FIND_PATTERN: Rule = Rule {
    code: "find-pattern",
    severity: Severity::Warning,
    summary: "an unquoted pattern in the arguments of find",
    explanation: "If a file in the working directory matches, the shell expands the pattern before it runs \
        find. Quote the pattern.",
    wrong: &["find . -name *.c", "find src -type f -iname *test*"],
    right: &["find . -name '*.c'", "find . -name \\*.c", "find . -name \\*.[ch]", "find *.d -name x"],
    matcher: RuleMatcher::Simple(find_pattern),
};

fn find_pattern(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    const TESTS: &[&[u8]] = &[b"-name", b"-iname", b"-path", b"-ipath", b"-wholename", b"-lname"];
    if command.name != b"find" {
        return;
    }
    for pair in command.words.windows(2) {
        let test = pair[0].literal().is_some_and(|word| TESTS.contains(&word));
        let star = pair[1].parts().iter().any(|part| matches!(part.kind, PartKind::Glob(Glob::AnyString)));
        if test && star {
            let text = context.text(pair[1].span);
            report
                .add(pair[1].span, format!("the shell expands {text} before it runs \"find\""))
                .hint(format!("write '{text}'"));
        }
    }
}

/// `find . -exec rm {}`.
pub(super) static FIND_EXEC: Rule = Rule {
    code: "find-exec-unterminated",
    severity: Severity::Error,
    summary: "find -exec without \\; or +",
    explanation: "find must know where the command ends. End it with \\; (run once per file) or + (run with \
        many files).",
    wrong: &["find . -exec rm {}", "find . -name x -exec rm {} ;"],
    right: &[
        "find . -exec rm {} \\;",
        "find . -exec rm {} +",
        "find . -exec rm {} ';'",
        "find . -exec rm {} $end",
    ],
    matcher: RuleMatcher::Simple(find_exec),
};

fn find_exec(_: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"find" || command.words.iter().any(|word| word.flags.contains(WordFlags::SPLIT)) {
        return;
    }
    let action = |word: &&&Word| matches!(word.literal(), Some(b"-exec" | b"-execdir" | b"-ok" | b"-okdir"));
    let Some(at) = command.words.iter().position(|word| action(&word)) else { return };
    let ends = command.words[at..].iter().any(|word| matches!(word.literal(), Some(b";" | b"+")));
    let fields = command.words.iter().any(|word| word.flags.contains(WordFlags::FIELDS));
    if !ends && !fields {
        report
            .add(command.words[at].span, "the command of this action is not terminated")
            .hint("end it with \\; or +");
    }
}
