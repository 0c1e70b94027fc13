//! What the parser warns about.

use crate::ast::{Warning, WarningKind};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Matcher, Rule, RuleReport};

/// A here-document that never ends.
pub(super) static UNTERMINATED: Rule = Rule {
    code: "here-document-end",
    severity: Severity::Warning,
    summary: "a here-document whose delimiter is never seen",
    explanation: "The delimiter has to stand on a line of its own, with nothing before it (tabs are allowed after <<-) and nothing after \
        it. Otherwise the rest of the script is part of the document.",
    wrong: &["cat <<EOF\ntext\n  EOF\necho more", "cat <<EOF\ntext\nEOF \n", "cat <<END\ntext"],
    right: &["cat <<EOF\ntext\nEOF\n", "cat <<-EOF\n\ttext\n\tEOF\n", "cat <<EOF\n EOF\nEOF\n"],
    matcher: Matcher::Warning(unterminated),
};

fn unterminated(warning: &Warning, source: &[u8], report: &mut RuleReport<'_>) {
    let WarningKind::UnterminatedHereDocument { delimiter } = &warning.kind else { return };
    let rest = source.get(warning.span.start as usize..).unwrap_or_default();
    let nearly = |line: &[u8]| line.trim_ascii() == delimiter.as_bytes();
    let near = rest.split(|byte| *byte == b'\n').find(|line| nearly(line));
    let found = report.add(warning.span, format!("the here-document's end \"{delimiter}\" is never seen"));
    match near {
        Some(line) if line.starts_with(b"\t") => {
            found.hint("the delimiter is indented with tabs: \"<<-\" allows that")
        }
        Some(line) if line.starts_with(b" ") => {
            found.hint("the delimiter is indented: it has to begin its line")
        }
        Some(_) => found.hint("something invisible follows the delimiter on its line"),
        None => found.hint(format!("end it with \"{delimiter}\" on a line of its own")),
    };
}

/// NUL bytes.
pub(super) static NUL_BYTES: Rule = Rule {
    code: "nul-bytes",
    severity: Severity::Warning,
    summary: "NUL bytes in the script",
    explanation: "A shell drops NUL bytes. A script that holds some is most often not the file that was meant, or in another encoding \
        (UTF-16).",
    wrong: &["echo a\0b"],
    right: &["printf 'a\\0b'"],
    matcher: Matcher::Warning(nul_bytes),
};

fn nul_bytes(warning: &Warning, _: &[u8], report: &mut RuleReport<'_>) {
    if warning.kind == WarningKind::NulBytes {
        report.add(warning.span, "the text holds NUL bytes, which are dropped");
    }
}
