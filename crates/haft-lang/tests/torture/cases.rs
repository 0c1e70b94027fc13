//! The scripts in `tests/data/differences.txt`.

use haft_lang::{ParseOptions, parse};

use crate::bash::BashOracle;

/// A script, and whether the parser and bash accept it.
struct DifferenceCase {
    script: String,
    ours: bool,
    bashs: bool,
}

#[test]
fn recorded_differences_from_bash_do_not_change() {
    let bash = BashOracle::find();
    for case in cases() {
        for extglob in [false, true] {
            let options = ParseOptions { extglob, ..ParseOptions::default() };
            let ours = parse(case.script.as_bytes(), &options);
            assert_eq!(ours.is_ok(), case.ours, "{:?}: {ours:?}", case.script);
            if let Some(bash) = &bash {
                let verdict = bash.judge_closely(case.script.as_bytes(), extglob);
                assert_eq!(verdict.accepted(), Some(case.bashs), "bash of {:?}: {verdict:?}", case.script);
            }
        }
    }
}

fn cases() -> Vec<DifferenceCase> {
    let mut cases: Vec<DifferenceCase> = Vec::new();
    for line in include_str!("../data/differences.txt").lines() {
        if let Some(header) = line.strip_prefix("== ") {
            let kind = header.split(':').next().unwrap_or_default();
            let (ours, bashs) = match kind {
                "accepted" => (true, true),
                "refused" => (false, false),
                "only bash accepts" => (false, true),
                "only bash refuses" => (true, false),
                other => panic!("unknown kind {other:?}"),
            };
            cases.push(DifferenceCase { script: String::new(), ours, bashs });
        } else if let Some(case) = cases.last_mut() {
            case.script.push_str(line);
            case.script.push('\n');
        }
    }
    cases
}
