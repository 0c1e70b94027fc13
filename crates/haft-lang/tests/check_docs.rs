//! `docs/checks.md` lists the rules as they are. `HAFT_BLESS=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use haft_lang::check::{RULES, Rule};

const OPENING: &str = "# Checks

`haft check` looks for these before anything runs. An *error* cannot work, or destroys the system, and makes the status of
`haft check` 1; `haft run` refuses what is not bash, and runs the rest as bash would. What cannot work is a warning where the script may
never get to it; what destroys the system is an error wherever it stands. A *warning* is most probably not meant, a *note* is worth knowing. `haft check --explain CODE` shows the same text.
";

fn section(rule: &Rule) -> String {
    let mut text = format!(
        "\n## {}\n\n{}: {}.\n\n{}\n\n",
        rule.code,
        rule.severity.word(),
        rule.summary,
        rule.explanation
    );
    for (title, examples) in [("found in", rule.wrong), ("not found in", rule.right)] {
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
fn the_documentation_lists_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md");
    let expected: String =
        std::iter::once(OPENING.to_owned()).chain(RULES.iter().map(|rule| section(rule))).collect();
    if option_env!("HAFT_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the documentation is written");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "docs/checks.md is not up to date; HAFT_BLESS=1 cargo test writes it anew");
}
