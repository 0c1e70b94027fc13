//! `jq` behaves as version 1.7.1. The expected results are those of that program.

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use haft_kernel::Kernel;
use support::ScriptResult;

fn run(script: &str) -> ScriptResult {
    let kernel = haft_commands::with_gnu_commands(Kernel::builder()).isolated(16 << 20).build();
    support::run_in(support::session_with(kernel), &format!("cd /tmp\n{script}"))
}

fn check(cases: &[(&str, &str, i32)]) {
    for (script, stdout, status) in cases {
        let ran = run(script);
        assert_eq!((ran.stdout.as_str(), ran.status), (*stdout, *status), "{script}\n{}", ran.stderr);
    }
}

#[test]
fn numbers_are_written_as_they_were_read() {
    check(&[
        (
            "echo '[1.000, 100000000000000000000000001, 1E5, 0.00001, -0]' | jq -c .",
            "[1.000,100000000000000000000000001,1E+5,0.00001,-0]\n",
            0,
        ),
        (
            "jq -nc '[1.000 + 0, 1e1000, 1e1000 * 1, 0.00001 * 1, 1e17 * 1, 3.0]'",
            "[1,1E+1000,1.7976931348623157e+308,1e-05,1e+17,3.0]\n",
            0,
        ),
        ("jq -n '13911860366432393 == 13911860366432392'", "false\n", 0),
        ("echo nan | jq -c '[., . < .]'", "[null,true]\n", 0),
    ]);
}

#[test]
fn outputs_of_several_generators_come_in_the_order_of_jq() {
    check(&[
        ("jq -nc '[(1,2) + (10,20)], [(1,2) * (3,4)]'", "[11,12,21,22]\n[3,6,4,8]\n", 0),
        (
            "jq -nc '{a: (1,2), b: (3,4)}'",
            "{\"a\":1,\"b\":3}\n{\"a\":1,\"b\":4}\n{\"a\":2,\"b\":3}\n{\"a\":2,\"b\":4}\n",
            0,
        ),
        ("jq -nc '[foreach (1,2,3) as $x (0; empty; .)], reduce (1,2) as $x (0; empty)'", "[]\nnull\n", 0),
        ("jq -nc '[1,5,3,0,7] | (.[] | select(. >= 2)) |= empty'", "[1,0]\n", 0),
        ("jq -nc '[[1,2],[{\"a\":3}]] | .[] as [$a] ?// [{a: $a}] | $a'", "1\n{\"a\":3}\n", 0),
    ]);
}

#[test]
fn exit_statuses_tell_what_happened() {
    check(&[
        ("jq -n '1 | .a'", "", 5),
        ("jq -n '('", "", 3),
        ("jq --unknown . < /dev/null", "", 2),
        ("jq . missing", "", 2),
        ("jq -n -e 'null, false'", "null\nfalse\n", 1),
        ("jq -n -e empty", "", 4),
        ("jq -n -e '1, 2'", "1\n2\n", 0),
        ("jq -n '\"bye\\n\" | halt_error(3)'", "", 3),
        ("echo '{' | jq .", "", 5),
        ("jq -n '1, halt, 2'", "1\n", 0),
    ]);
}

#[test]
fn messages_are_those_of_jq() {
    let cases = [
        ("echo '\n[1]' | jq .a", "jq: error (at <stdin>:2): Cannot index array with string \"a\"\n"),
        ("jq -n '{} - 1'", "jq: error (at <unknown>): object ({}) and number (1) cannot be subtracted\n"),
        ("jq -n 'error({a: 1})'", "jq: error (at <unknown>) (not a string): {\"a\":1}\n"),
        (
            "echo '{\"a\" 1}' | jq .",
            "jq: parse error: Expected separator between values at line 1, column 7\n",
        ),
        ("jq . missing", "jq: error: Could not open file missing: No such file or directory\n"),
        (
            "jq -n 'foo'",
            "jq: error: foo/0 is not defined at <top-level>, line 1:\nfoo\njq: 1 compile error\n",
        ),
        (
            "jq -n '.a | }'",
            "jq: error: syntax error, unexpected INVALID_CHARACTER (Unix shell quoting issues?) at <top-level>, line 1:\n.a | }     \njq: 1 compile error\n",
        ),
    ];
    for (script, stderr) in cases {
        assert_eq!(run(script).stderr, stderr, "{script}");
    }
}

#[test]
fn inputs_come_from_files_lines_and_streams() {
    check(&[
        (
            "echo 1 > a; echo '2 3' > b; jq -c '[., input_filename]' a b",
            "[1,\"a\"]\n[2,\"b\"]\n[3,\"b\"]\n",
            0,
        ),
        ("echo 1 2 3 | jq -c '[., input]'", "[1,2]\n", 5),
        ("echo 1 2 3 | jq -nc '[inputs]'", "[1,2,3]\n", 0),
        ("printf 'x\\ny' | jq -R .", "\"x\"\n\"y\"\n", 0),
        ("printf 'x\\ny' | jq -Rs .", "\"x\\ny\"\n", 0),
        (
            "echo '{\"a\":[1,{}]}' | jq -c --stream .",
            "[[\"a\",0],1]\n[[\"a\",1],{}]\n[[\"a\",1]]\n[[\"a\"]]\n",
            0,
        ),
        ("printf '\\x1e1\\n\\x1e[2]\\n' | jq -c --seq .", "\u{1e}1\n\u{1e}[2]\n", 0),
        ("echo '[1]' > v; jq -nc --slurpfile s v --rawfile r v '$s, $r'", "[[1]]\n\"[1]\\n\"\n", 0),
        (
            "jq -nc '$ARGS' --arg x 1 --argjson y '{}' --args p q",
            "{\"positional\":[\"p\",\"q\"],\"named\":{\"x\":\"1\",\"y\":{}}}\n",
            0,
        ),
    ]);
}

#[test]
fn output_options_change_only_how_values_are_written() {
    check(&[
        ("jq -n '[1,{\"a\":[]}]'", "[\n  1,\n  {\n    \"a\": []\n  }\n]\n", 0),
        ("jq -n --tab '[1]'", "[\n\t1\n]\n", 0),
        ("jq -n --indent 1 '[1]'", "[\n 1\n]\n", 0),
        ("jq -nr '\"a\\tb\", 1'", "a\tb\n1\n", 0),
        ("jq -nj '\"a\", 1'", "a1", 0),
        ("jq -nac '\"é😀\"'", "\"\\u00e9\\ud83d\\ude00\"\n", 0),
        ("jq -ncS '{b: 1, a: 2}'", "{\"a\":2,\"b\":1}\n", 0),
        (
            "jq -nCc '[null,\"a\"]'",
            "\u{1b}[1;39m[\u{1b}[0;90mnull\u{1b}[0m\u{1b}[1;39m,\u{1b}[0;32m\"a\"\u{1b}[0m\u{1b}[1;39m\u{1b}[1;39m]\u{1b}[0m\n",
            0,
        ),
    ]);
}

#[test]
fn deep_recursion_and_deep_values_end_normally() {
    check(&[
        ("jq -n 'def f: if . > 50000 then . else (. + 1 | f) + 0 end; 0 | f'", "50001\n", 0),
        ("jq -n 'reduce range(50000) as $i (null; [.]) | [.] == [1]'", "false\n", 0),
        ("jq -n 'last(range(100000))'", "99999\n", 0),
    ]);
    for (depth, stdout, status) in [(140, "1\n", 0), (900, "", 3)] {
        let nested = format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        check(&[(&format!("jq -n '{nested}'"), stdout, status)]);
    }
    for (length, stdout, status) in [(750, "null\n", 0), (15_000, "", 3)] {
        let long = vec!["."; length].join("+");
        check(&[(&format!("jq -n '{long}'"), stdout, status)]);
    }
}
