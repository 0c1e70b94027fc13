//! Literal jq programs.

use crate::ast::Word;
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

/// `jq '.['`. The resolver checks the program.
pub(super) static BAD_JQ: Rule = Rule {
    code: "bad-jq",
    severity: Severity::Warning,
    summary: "an invalid jq program",
    explanation: "The literal jq program has a syntax error: jq would exit with status 3 before it reads any \
        input.",
    wrong: &["jq '.[' file", "jq -r '.a | map(.b' file", "jq --arg x 1 '.a ==' file"],
    right: &[
        "jq '.[]' file",
        "jq . file",
        "jq \"$program\" file",
        "jq -f '.[' file",
        "jq --arg a '.[' '$a' file",
        "jq -n '[1,2] | add'",
    ],
    matcher: RuleMatcher::Simple(bad_jq),
};

fn bad_jq(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"jq" || context.is_defined_here(b"jq") {
        return;
    }
    let Some(word) = program(command) else { return };
    if let Some(error) = word.literal().and_then(|text| context.resolver.check_jq(text)) {
        let shown = context.text(word.span);
        report.add(word.span, format!("invalid jq program {shown}: {error}"));
    }
}

/// Returns the program: the first word that is neither an option nor the value of one.
fn program<'a>(command: &SimpleView<'a>) -> Option<&'a Word> {
    let mut words = command.words.iter();
    while let Some(word) = words.next() {
        let text = word.literal()?;
        match text {
            b"--arg" | b"--argjson" | b"--slurpfile" | b"--rawfile" => drop((words.next(), words.next())),
            b"--indent" | b"-L" => drop(words.next()),
            b"--from-file" => return None,
            _ if text.starts_with(b"--") => {}
            _ if text.starts_with(b"-") && text.len() > 1 => {
                if text.contains(&b'f') || text.contains(&b'L') {
                    return None;
                }
            }
            _ => return Some(word),
        }
    }
    None
}
