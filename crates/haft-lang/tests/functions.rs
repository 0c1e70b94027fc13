//! Functions are shown as `declare -f` of bash shows them: `data/functions.declared` is what bash makes of
//! `data/functions.sh`. Here-documents are where that is hard to guess.

use std::collections::BTreeMap;

use haft_lang::ast::CommandKind;
use haft_lang::{ParseOptions, parse, print_function};

#[test]
fn functions_are_shown_as_bash_shows_them() {
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
