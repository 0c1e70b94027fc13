//! `haft check` and `haft plan` from end to end.

use haft_test_support::{FinishedHaft, Haft, Scratch};
use serde_json::json;

fn haft() -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
}

fn shows(finished: &FinishedHaft, text: &str) {
    let output = finished.output_text();
    assert!(output.contains(text), "{text:?} is not in {output:?}");
}

#[test]
fn a_correct_script_has_no_findings() {
    let _ = haft().args(["check", "-c", "echo hello"]).run().status(0).stdout("").stderr("");
}

#[test]
fn errors_fail_the_check_and_warnings_do_not() {
    let _ = haft().args(["check", "-c", "true 2>1"]).run().status(0).stdout(
        "warning: \"2>1\" writes to a file named \"1\" [redirect-number]\n --> -c:1:6\n  |\n1 | true 2>1\n  |      ^^^\nhint: write 2>&1\n",
    );
    let _ = haft().args(["check", "-c", "[ -f x"]).run().status(1);
    let _ = haft().args(["check", "-c", "no-such-command-anywhere"]).run().status(1);
    let _ = haft().args(["check", "-c", "if true; then no-such-command-anywhere; fi"]).run().status(0);
}

#[test]
fn in_process_commands_are_known() {
    let script = "seq 3 | scatter --as N | test \"$N\" | gather; spawn command=ls";
    let _ = haft().args(["check", "-c", script]).run().status(0).stdout("");
}

#[test]
fn json_diagnostics_have_positions() {
    let run = haft().args(["check", "--json", "-c", "true\nx = 1"]).run().status(1);
    let report = run.json();
    assert_eq!(report["ok"], json!(false));
    let found = &report["diagnostics"][0];
    assert_eq!(found["code"], json!("assignment-spaces"));
    assert_eq!(
        (&found["line"], &found["column"], &found["start"], &found["end"]),
        (&json!(2), &json!(1), &json!(5), &json!(10))
    );
}

#[test]
fn syntax_errors_say_whether_more_input_could_complete_the_script() {
    let incomplete = haft().args(["check", "--json", "-c", "if true"]).run().status(1).json();
    assert_eq!(
        (&incomplete["incomplete"], &incomplete["diagnostics"][0]["code"]),
        (&json!(true), &json!("syntax"))
    );
    let wrong = haft().args(["check", "--json", "-c", "fi"]).run().status(1).json();
    assert_eq!(wrong["incomplete"], json!(false));
}

#[test]
fn a_script_comes_from_a_file_or_standard_input() {
    let scratch = Scratch::new();
    let path = scratch.path().join("script");
    std::fs::write(&path, "echo $@x | read y\n").unwrap();
    shows(&haft().arg("check").arg(&path).run().status(0), "pipe-read");
    let _ = haft().args(["check", "-"]).input("[ -f x\n").run().status(1);
    let _ =
        haft().args(["check", "/no/such/script"]).run().status(2).stderr_has("cannot read '/no/such/script'");
    let _ = haft().arg("check").run().status(2).stderr_has("no script was given");
}

#[test]
fn rules_are_explained() {
    shows(&haft().args(["check", "--explain", "rm-root"]).run().status(0), "found in:");
    let _ =
        haft().args(["check", "--explain", "no-such-code"]).run().status(2).stderr_has("hint: the codes are");
}

#[test]
fn jq_programs_are_parsed() {
    shows(&haft().args(["check", "-c", "jq '.[' x"]).run().status(0), "[bad-jq]");
    let _ = haft().args(["check", "-c", "jq '.[]' x"]).run().status(0).stdout("");
}

#[test]
fn a_plan_lists_programs_files_and_unknown_parts() {
    let run = haft().args(["plan", "--json", "-c", "sh -c 'echo \"$1\" > out'; eval \"$x\""]).run().status(0);
    let steps = run.json()["steps"].clone();
    assert_eq!(steps[0]["kind"], json!("command"));
    assert_eq!(steps[0]["target"]["is"], json!("external"));
    assert_eq!(
        (&steps[1]["parent"], &steps[1]["role"], &steps[1]["target"]["is"]),
        (&json!(0), &json!("script"), &json!("builtin"))
    );
    assert_eq!(steps[1]["argv"][1]["pieces"][0]["dynamic"]["source"], json!("$1"));
    assert_eq!(steps[1]["files"], json!([{ "mode": "write", "target": { "text": "out" } }]));
    assert_eq!(steps[2]["opaque"], json!([{ "reason": "script-text", "source": "$x" }]));
}

#[test]
fn a_plan_as_text_has_a_line_for_each_command() {
    let _ = haft().args(["plan", "-c", "cd /srv && echo *.log > list"]).run().status(0).stdout(
        "   1  cd /srv  [builtin]\n   1  echo «*».log >list  [builtin, conditional]\n\nwrites:  /srv/list\n",
    );
    let _ = haft().args(["plan", "-c", "if"]).run().status(1).stdout("").stderr_has("[syntax]");
}

#[test]
fn dangerous_commands_are_found_however_they_are_run() {
    for (script, code, status) in [
        ("rm -rf /", "removes-system", 1),
        ("sudo sh -c 'cd / && rm -rf *'", "removes-system", 1),
        ("if true; then rm -rf ~; fi", "removes-system", 1),
        ("chmod -R 777 /", "system-permissions", 1),
        (":(){ :|:& };:", "fork-bomb", 1),
        ("curl https://example.org/x | sudo bash", "runs-download", 0),
        ("dd if=/dev/zero of=/dev/sda", "overwrites-device", 0),
        ("mkfs.ext4 /dev/sda1", "overwrites-device", 0),
        ("git reset --hard", "git-loses-work", 0),
    ] {
        let report = haft().args(["check", "--json", "-c", script]).run().status(status).json();
        let found = report["diagnostics"].as_array().cloned().unwrap_or_default();
        assert!(found.iter().any(|found| found["code"] == json!(code)), "{script}: {report}");
    }
}

#[test]
fn a_plan_lists_the_files_that_commands_read_write_and_delete() {
    let script = "cd d && sort -o out in; cp a b; tar xf x.tar -C to; rm -r \"$1\"; make";
    let plan = haft().args(["plan", "--json", "-c", script]).run().status(0).json();
    assert_eq!(
        plan["files"],
        json!({
            "reads": [
                { "target": { "text": "d/in" } }, { "target": { "text": "d/a" } }, { "target": { "text": "d/x.tar" } },
            ],
            "writes": [
                { "target": { "text": "d/out" } },
                { "target": { "text": "d/b" }, "scope": "inside" },
                { "target": { "text": "d/to" }, "scope": "tree" },
            ],
            "deletes": [{
                "target": { "pieces": [{ "dynamic": { "by": "parameter", "source": "$1" } }], "several": false },
                "scope": "tree",
            }],
            "complete": false,
        })
    );
    assert_eq!(plan["steps"][1]["directory"], json!({ "text": "d" }));
    let shown = haft().args(["plan", "-c", script]).run().status(0);
    shows(&shown, "reads:   d/in d/a d/x.tar\nwrites:  d/out d/b d/to/**\ndeletes: «$1»/**\n");
    shows(&shown, "other files may be used by: make\n");
}

#[test]
fn a_caller_that_asked_for_json_gets_json() {
    for command in ["check", "plan"] {
        let missing = haft().args([command, "--json", "/no/such/script"]).run().status(2).json();
        assert_eq!(missing["ok"], json!(false));
        assert!(
            missing["error"]["message"].as_str().is_some_and(|error| error.contains("/no/such/script")),
            "{missing}"
        );
        let wrong = haft().args([command, "--json", "-c", "if"]).run().status(1).json();
        assert_eq!(wrong["diagnostics"][0]["code"], json!("syntax"));
    }
}

#[test]
fn explained_examples_can_be_copied() {
    shows(
        &haft().args(["check", "--explain", "runs-download"]).run().status(0),
        "bash -c \"$(curl https://example.org/x)\"",
    );
}

#[test]
fn check_validates_the_arguments_of_typed_commands() {
    for (script, problem) in [
        ("spawn comand=make", "unknown parameter 'comand'"),
        ("seq 3 | scatter limit=x | echo | gather", "invalid value 'x' for 'limit'"),
        ("seq 3 | scatter | echo | gather --joblg=x", "unknown parameter 'joblg'"),
    ] {
        let ran = Haft::new(env!("CARGO_BIN_EXE_haft")).args(["check", "-c", script]).run();
        assert!(ran.output_text().contains("bad-arguments"), "{script}: {ran}");
        assert!(ran.output_text().contains(problem), "{script}: {ran}");
    }
}
