//! `--json` of commands inside scripts.

use haft_test_support::{Haft, Scratch};
use serde_json::{Value, json};

fn haft(scratch: &Scratch) -> Haft {
    let haft = Haft::new(env!("CARGO_BIN_EXE_haft")).directory(scratch.path());
    haft.env("LC_ALL", "C").env("PATH", "/usr/bin:/bin")
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join("f"), "a b\n").expect("a file");
    scratch
}

#[test]
fn the_rows_of_a_command_are_the_data_of_the_run() {
    let scratch = scratch();
    let run = haft(&scratch).args(["run", "--timeout", "60s", "--json", "-c", "wc --json f"]).run();
    let report: Value = serde_json::from_str(&run.output_text()).expect("a report");
    let rows = json!([{"file": "f", "lines": 1, "words": 2, "chars": 4, "bytes": 4, "width": 3}]);
    assert_eq!(report["data"], rows);
    let text = report["stdout"]["text"].as_str().unwrap_or_default();
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), rows);
}

#[test]
fn find_and_type_have_the_option_in_supervised_runs() {
    let scratch = scratch();
    let script =
        "find --json . -name f | grep -c '\"size\":4'; type --json cd wc | grep -o '\"kind\":\"builtin\"'";
    let run = haft(&scratch).args(["run", "--timeout", "60s", "-c", script]).run();
    assert_eq!(run.output_text(), "1\n\"kind\":\"builtin\"\n", "{}", run.error_text());
}

#[test]
fn in_a_plain_shell_the_option_is_an_error_of_the_program() {
    let scratch = scratch();
    let run = haft(&scratch)
        .args(["-c", "ls --json 2> /dev/null; echo $?; type --json ls 2> /dev/null; echo $?"])
        .run();
    assert_eq!(run.output_text(), "2\n2\n", "{}", run.error_text());
}
