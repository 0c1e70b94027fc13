//! Texts that fuzzing found something wrong with.

use crate::properties::examine;

/// Each once broke one of the properties, most of them by being printed as something else.
const FOUND: [&str; 22] = [
    "?'\0\0'(",
    "*\0\0(",
    "declare \0\0a={b,c}",
    "f() { a; } |& b",
    "coproc a |& b",
    "echo $[)] $[(]",
    "echo $(( '(' ))",
    "[\\\n",
    "[\\\n]",
    "[\\\na]",
    "~\\\n",
    "> a if b",
    "coproc > a b in",
    "''() { a; }",
    "(!\n)",
    "$(time\n)",
    "a=($(''))\"\"",
    "<<A\n$(<<B)\nA\n",
    "<<-A\n\t$(<<B)\nA\n",
    "a d=[ > b ]",
    "((([\\;|a) [) )",
    "(( [ `` ) [ )",
];

#[test]
fn what_fuzzing_found_is_found_no_more() {
    for text in FOUND {
        for extglob in [false, true] {
            assert_eq!(examine(text.as_bytes(), extglob), Ok(()), "{text:?}");
        }
    }
}
