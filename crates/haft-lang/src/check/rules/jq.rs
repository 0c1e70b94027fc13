//! Programs of `jq` given literally.

use crate::ast::Word;
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Matcher, Rule, RuleReport};

/// A jq program that does not parse. Who resolves names also knows jq.
pub(super) static BAD_JQ: Rule = Rule {
    code: "bad-jq",
    severity: Severity::Warning,
    summary: "a jq program that is wrong",
    explanation: "The program is given literally and cannot be parsed: jq would end with status 3 before it reads any input.",
    wrong: &["jq '.[' file", "jq -r '.a | map(.b' file", "jq --arg x 1 '.a ==' file"],
    right: &[
        "jq '.[]' file",
        "jq . file",
        "jq \"$program\" file",
        "jq -f '.[' file",
        "jq --arg a '.[' '$a' file",
        "jq -n '[1,2] | add'",
    ],
    matcher: Matcher::Simple(bad_jq),
};

fn bad_jq(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name != b"jq" || context.is_defined_here(b"jq") {
        return;
    }
    let Some(word) = program(command) else { return };
    if let Some(fault) = word.literal().and_then(|text| context.resolver.check_jq(text)) {
        let shown = context.text(word.span);
        report.add(word.span, format!("the jq program {shown} is wrong: {fault}"));
    }
}

/// The word that is the program: the first that is no option and no option's value.
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
