//! The cases under `cases/`, by topic. Each starts with a line that says what is expected of the text after
//! it: `### accept`, `### refuse` or `### incomplete`. The expectations are the results of bash, except for
//! `[[ ]]`, which bash silently drops together with the rest of the script.
//!
//! Accepted texts must also parse to the same program after printing.

use std::path::Path;

use haft_lang::{ParseOptions, parse, print};

#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Accept,
    Refuse,
    Incomplete,
}

fn cases(text: &str) -> Vec<(Expected, String)> {
    let mut cases = Vec::new();
    for block in text.split("### ").filter(|block| !block.is_empty()) {
        let (kind, text) = block.split_once('\n').expect("a case has a text");
        let expected = match kind {
            "accept" => Expected::Accept,
            "refuse" => Expected::Refuse,
            "incomplete" => Expected::Incomplete,
            other => panic!("unknown expectation: {other:?}"),
        };
        cases.push((expected, text.strip_suffix('\n').unwrap_or(text).to_owned()));
    }
    cases
}

#[test]
fn cases_are_accepted_and_refused_as_in_bash() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("the cases are there") {
        let path = entry.expect("an entry").path();
        let topic = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (expected, text) in cases(&std::fs::read_to_string(&path).expect("a readable file")) {
            count += 1;
            let parsed = parse(text.as_bytes(), &ParseOptions::default());
            let found = match &parsed {
                Ok(_) => Expected::Accept,
                Err(error) if error.incomplete => Expected::Incomplete,
                Err(_) => Expected::Refuse,
            };
            if found != expected {
                failures.push(format!("{topic}: expected {expected:?}, found {found:?}:\n{text}"));
            }
            if let Ok(program) = parsed {
                let printed = print(&program);
                if !parse(&printed, &ParseOptions::default()).is_ok_and(|again| again == program) {
                    let printed = String::from_utf8_lossy(&printed);
                    failures.push(format!("{topic}: does not survive printing:\n{text}\n----\n{printed}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n\n"));
    assert!(count > 600, "only {count} cases were found");
}
