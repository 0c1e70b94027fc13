//! Regression tests for texts found by fuzzing.

use crate::properties::examine;

/// Each text violated one of the properties once. Most of them were printed as another program.
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
fn texts_found_by_fuzzing_keep_the_properties() {
    for text in FOUND {
        for extglob in [false, true] {
            assert_eq!(examine(text.as_bytes(), extglob), Ok(()), "{text:?}");
        }
    }
}
