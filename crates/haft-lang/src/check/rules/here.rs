//! Warnings of the parser.

use crate::ast::{Warning, WarningKind};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

/// A here-document without its delimiter.
pub(super) static UNTERMINATED: Rule = Rule {
    code: "here-document-end",
    severity: Severity::Warning,
    summary: "a here-document without its delimiter",
    explanation: "The delimiter must be alone on its line, without leading blanks (<<- allows tabs) and \
        without trailing characters. Otherwise the rest of the script becomes part of the \
        here-document.",
    wrong: &["cat <<EOF\ntext\n  EOF\necho more", "cat <<EOF\ntext\nEOF \n", "cat <<END\ntext"],
    right: &["cat <<EOF\ntext\nEOF\n", "cat <<-EOF\n\ttext\n\tEOF\n", "cat <<EOF\n EOF\nEOF\n"],
    matcher: RuleMatcher::Warning(unterminated),
};

fn unterminated(warning: &Warning, source: &[u8], report: &mut RuleReport<'_>) {
    let WarningKind::UnterminatedHereDocument { delimiter } = &warning.kind else { return };
    let rest = source.get(warning.span.start as usize..).unwrap_or_default();
    let nearly = |line: &[u8]| line.trim_ascii() == delimiter.as_bytes();
    let near = rest.split(|byte| *byte == b'\n').find(|line| nearly(line));
    let found =
        report.add(warning.span, format!("the here-document has no line with its delimiter \"{delimiter}\""));
    match near {
        Some(line) if line.starts_with(b"\t") => {
            found.hint("the delimiter is indented with tabs, which only \"<<-\" allows")
        }
        Some(line) if line.starts_with(b" ") => {
            found.hint("the delimiter is indented, but it must start its line")
        }
        Some(_) => found.hint("the delimiter is followed by blanks"),
        None => found.hint(format!("end it with a line that contains only \"{delimiter}\"")),
    };
}

/// NUL bytes.
pub(super) static NUL_BYTES: Rule = Rule {
    code: "nul-bytes",
    severity: Severity::Warning,
    summary: "NUL bytes in the script",
    explanation: "The shell drops NUL bytes. The file is probably not a script, or it has another encoding \
        (UTF-16).",
    wrong: &["echo a\0b"],
    right: &["printf 'a\\0b'"],
    matcher: RuleMatcher::Warning(nul_bytes),
};

fn nul_bytes(warning: &Warning, _: &[u8], report: &mut RuleReport<'_>) {
    if warning.kind == WarningKind::NulBytes {
        report.add(warning.span, "the script contains NUL bytes, which the shell drops");
    }
}
