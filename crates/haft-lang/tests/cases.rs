//! The cases under `cases/`, by topic. Each begins with a line that says what is expected of the text that follows:
//! `### accept`, `### refuse`, or `### incomplete`. All were put to bash; what it accepts and refuses is what is expected, save
//! for `[[ ]]`, which bash drops silently along with the rest of the script.
//!
//! What is accepted must also survive being printed and parsed again.

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
            other => panic!("no such expectation: {other:?}"),
        };
        cases.push((expected, text.strip_suffix('\n').unwrap_or(text).to_owned()));
    }
    cases
}

#[test]
fn every_case_is_answered_as_bash_answers() {
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
                    failures.push(format!("{topic}: printed wrong:\n{text}\n----\n{printed}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n\n"));
    assert!(count > 600, "only {count} cases were found");
}
