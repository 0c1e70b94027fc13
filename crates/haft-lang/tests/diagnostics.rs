//! Snapshots of syntax error reports: `diagnostics/NAME.sh` is the text, `diagnostics/NAME.txt` the report.
//!
//! `HAFT_BLESS=1` updates the reports.

use std::path::Path;

use haft_lang::{ParseOptions, parse};

#[test]
fn syntax_error_reports_match_the_snapshots() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("the texts exist") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "sh") {
            continue;
        }
        count += 1;
        let source = std::fs::read(&path).expect("a readable text");
        let error = parse(&source, &ParseOptions::default()).expect_err("a syntax error");
        let report = format!(
            "{}{}\n",
            error.render("script.sh", &source),
            if error.incomplete { "(incomplete)" } else { "(wrong)" }
        );
        let recorded = path.with_extension("txt");
        if option_env!("HAFT_BLESS").is_some() {
            std::fs::write(&recorded, &report).expect("the report is written");
        }
        let expected = std::fs::read_to_string(&recorded).unwrap_or_default();
        if report != expected {
            failures.push(format!("{}:\n{report}---- recorded:\n{expected}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 30, "only {count} texts were found");
}
