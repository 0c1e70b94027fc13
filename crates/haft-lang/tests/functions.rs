//! Functions are printed like bash's `declare -f`: `data/functions.declared` is its output for
//! `data/functions.sh`. Most of them contain here-documents, whose layout is hard to guess.

use std::collections::BTreeMap;

use haft_lang::ast::CommandKind;
use haft_lang::{ParseOptions, parse, print_function};

#[test]
fn functions_are_printed_as_by_declare() {
    let program = parse(include_bytes!("data/functions.sh"), &ParseOptions::default()).expect("a script");
    let mut functions = BTreeMap::new();
    for statement in &program.body.statements {
        let CommandKind::Function(function) = &statement.first.stages[0].kind else { panic!("a function") };
        functions.insert(function.name.clone(), print_function(function));
    }
    let shown: Vec<u8> = functions.into_values().flat_map(|text| [text, b"\n".to_vec()].concat()).collect();
    let expected = include_str!("data/functions.declared");
    assert_eq!(String::from_utf8_lossy(&shown), expected);
}
