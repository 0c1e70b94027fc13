//! Unset variables, and `read` without `-r`.

use crate::ast::{Command, CommandKind, PartKind};
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::walk::SyntaxNode;

/// An unset variable with `set -u`.
pub(super) static UNSET: Rule = Rule {
    code: "unset-variable",
    severity: Severity::Warning,
    summary: "a variable that is never assigned, with set -u",
    explanation: "With set -u, the script exits when it uses an unset variable. This variable is not assigned \
        in the script and not set in the environment. Write ${name:-} if it may be unset.",
    wrong: &["set -u\necho $nmae", "set -euo pipefail\nname=x\necho \"${naem}\""],
    right: &[
        "set -u\nname=x\necho $name",
        "echo $name",
        "set -u\necho ${name:-}",
        "set -u\n. ./env\necho $name",
        "set -u\nread -r name\necho $name",
        "set -u\necho $HOME",
        "set -u\n[[ -v name ]] && echo $name",
        "set -u\ncoproc cat\necho $COPROC_PID",
        "set -u\ncoproc job { cat; }\nkill $job_PID",
        "set -u\ndeclare -n r=name\nr=x\necho $name",
        "set -u\nf() { local -n r=$1; r=x; }\nf name\necho $name",
    ],
    matcher: RuleMatcher::Node(unset),
};

fn unset<'a>(context: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Part(part) = node else { return };
    let PartKind::Variable(name) = &part.kind else { return };
    let facts = context.facts;
    let silent = !facts.nounset || facts.runs_unknown_code || facts.unknown_nameref;
    if silent || facts.assigned.contains_key(name.as_bytes()) || is_set_by_shell(name) {
        return;
    }
    let shouted = !name.iter().any(u8::is_ascii_lowercase);
    let set = context.resolver.is_set(name).unwrap_or(shouted);
    if set || facts.probed_variables.contains(name.as_bytes()) {
        return;
    }
    let found =
        report.add(part.span, format!("\"{name}\" is never assigned, so the script exits here (set -u)"));
    found.hint(format!("write \"${{{name}:-}}\" if it may be unset"));
}

/// Whether the shell sets the variable itself.
fn is_set_by_shell(name: &[u8]) -> bool {
    const SET_BY_SHELL: &[&str] = &[
        "COLUMNS",
        "DIRSTACK",
        "EPOCHREALTIME",
        "EPOCHSECONDS",
        "EUID",
        "FUNCNAME",
        "GROUPS",
        "HISTCMD",
        "HOME",
        "HOSTNAME",
        "HOSTTYPE",
        "IFS",
        "LINENO",
        "LINES",
        "LOGNAME",
        "MACHTYPE",
        "MAPFILE",
        "OLDPWD",
        "OPTARG",
        "OPTERR",
        "OPTIND",
        "OSTYPE",
        "PATH",
        "PIPESTATUS",
        "PPID",
        "PS4",
        "PWD",
        "RANDOM",
        "REPLY",
        "SECONDS",
        "SHELL",
        "SHELLOPTS",
        "SHLVL",
        "SRANDOM",
        "TERM",
        "UID",
        "USER",
        "_",
        "TMPDIR",
    ];
    name.starts_with(b"BASH")
        || name.starts_with(b"COMP")
        || SET_BY_SHELL.iter().any(|given| given.as_bytes() == name)
}

/// `while read line`.
pub(super) static READ_BACKSLASH: Rule = Rule {
    code: "read-backslash",
    severity: Severity::Note,
    summary: "a loop that reads lines without -r",
    explanation: "Without -r, read treats backslashes in the input as escapes and joins lines that end in a \
        backslash. Write read -r.",
    wrong: &["while read line; do echo \"$line\"; done < file"],
    right: &[
        "while read -r line; do echo \"$line\"; done < file",
        "read answer",
        "while IFS= read -rd '' f; do :; done < list",
    ],
    matcher: RuleMatcher::Node(read_backslash),
};

fn read_backslash<'a>(_: &CheckContext<'a>, node: SyntaxNode<'a>, report: &mut RuleReport<'_>) {
    let SyntaxNode::Command(Command { kind: CommandKind::Loop(repeated), .. }) = node else { return };
    let Some(statement) = repeated.condition.statements.first() else { return };
    let Some(simple) = statement.first.stages.first().and_then(SimpleView::of) else { return };
    if simple.name == b"read" && !simple.has_letter(b'r') {
        report
            .add(simple.words_span(), "\"read\" treats backslashes in the input as escapes")
            .hint("use read -r");
    }
}
