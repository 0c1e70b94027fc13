//! `docs/checks.md` is generated from the rules. `HAFT_BLESS=1` writes it.

use std::fmt::Write as _;
use std::path::Path;

use haft_lang::check::{RULES, Rule};

const OPENING: &str = "# Checks

`haft check` finds these mistakes before a script runs. An *error* always fails, or destroys the system; `haft check` then exits
with status 1. `haft run` refuses scripts with syntax errors and runs all others. An error is lowered to a warning if the script may
never reach the command, unless the command destroys the system. A *warning* is probably a mistake. A *note* is worth knowing.
`haft check --explain CODE` prints the text of a rule.
";

fn section(rule: &Rule) -> String {
    let mut text = format!(
        "\n## {}\n\n{}: {}.\n\n{}\n\n",
        rule.code,
        rule.severity.word(),
        rule.summary,
        rule.explanation
    );
    for (title, examples) in [("reported", rule.wrong), ("not reported", rule.right)] {
        let shown: Vec<String> = examples
            .iter()
            .map(|example| {
                format!(
                    "`{}`",
                    example
                        .escape_debug()
                        .to_string()
                        .replace("\\\"", "\"")
                        .replace("\\'", "'")
                        .replace('`', "'")
                )
            })
            .collect();
        let _ = writeln!(text, "- {title}: {}", shown.join(" · "));
    }
    text
}

#[test]
fn documentation_lists_all_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md");
    let expected: String =
        std::iter::once(OPENING.to_owned()).chain(RULES.iter().map(|rule| section(rule))).collect();
    if option_env!("HAFT_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the documentation is written");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "docs/checks.md is not up to date; HAFT_BLESS=1 cargo test updates it");
}
