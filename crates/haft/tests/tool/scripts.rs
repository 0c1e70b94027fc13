//! Tools as commands in scripts.

use serde_json::json;

use crate::scene::{ADD, haft, scene, tool, write};

#[test]
fn a_tool_is_a_command_in_scripts() {
    let scratch = scene();
    std::fs::write(scratch.file("work/f"), "one\ntwo\nthree\n").expect("a file");
    let script = |text: &str| haft(&scratch).args(["-c", text]).run();
    let _ = script("file_read path=f limit=2 | grep -o '\"content\":\"[^\"]*\"'")
        .status(0)
        .stdout("\"content\":\"one\\ntwo\\n\"\n");
    let _ = script("add a=1 list=[\"x y\", \"z\"]")
        .status(0)
        .stdout("{\"given\":{\"a\":1,\"list\":[\"x y\",\"z\"],\"b\":2}}\n");
    let _ = script("x=5; tool add --a $x")
        .status(0)
        .stdout("{\"given\":{\"a\":5,\"b\":2}}\n")
        .stderr("working\n");
    let _ = script("tool grep pattern=two output=files")
        .status(0)
        .stdout("{\"truncated\":false,\"files\":[\"f\"]}\n");
    let _ = script("add a=x || echo \"status $?\"")
        .status(0)
        .stdout("status 2\n")
        .stderr_has("add: parameter 'a': expected integer, got 'x'");
    let _ = script("add a=1 list=oops; echo $?").status(0).stdout("3\n").stderr_has("went wrong");
    let _ = script("no_such_tool").status(127).stderr_has("no_such_tool: command not found");
    let _ = script("add() { echo function; }; add a=1").status(0).stdout("function\n");
    let _ = script("cd ..; tool glob pattern='wor*/f'")
        .status(0)
        .stdout("{\"files\":[\"work/f\"],\"total\":1,\"truncated\":false}\n");
    let outcome = haft(&scratch).args(["run", "--json", "-c", "add a=1"]).run().status(0).json();
    assert_eq!(outcome["data"], json!({"given": {"a": 1, "b": 2}}));
    assert_eq!(outcome["stages"][0]["kind"], "tool");
}

#[test]
fn keys_do_not_reach_tools_and_exports_do() {
    let scratch = scene();
    let text = "#!/bin/sh\nif [ \"$1\" = --schema ]; then echo '{\"name\": \"names\", \"description\": \"x\", \"parameters\": {}}'; exit; fi\nenv | cut -d= -f1 | sort | tr '\\n' ' ' | sed 's/.*/\"&\"/'\n";
    write(&scratch, "home/.config/haft/tools/names-tool", text);
    let run = haft(&scratch)
        .env("SECRET_KEY", "s")
        .args(["-c", "export MINE=1; names"])
        .run()
        .status(0)
        .output_text();
    assert!(run.contains("MINE") && run.contains("HAFT_TOOL") && !run.contains("SECRET_KEY"), "{run}");
}

#[test]
fn project_tools_need_trust() {
    let scratch = scene();
    write(&scratch, "work/.haft/tools/mine-tool", &ADD.replace("\"add\"", "\"mine\""));
    let _ =
        tool(&scratch, &["call", "mine", "a=1"]).run().status(126).stderr_has("run `haft trust` to trust it");
    let _ = haft(&scratch).args(["-c", "mine a=1"]).run().status(126).stderr_has("not trusted");
    let _ = haft(&scratch).args(["trust", "--yes"]).run().status(0);
    let _ = tool(&scratch, &["call", "mine", "a=1"]).run().status(0);
}

#[test]
fn a_dash_reads_arguments_from_standard_input() {
    let scratch = scene();
    let script = |text: &str| haft(&scratch).args(["-c", text]).run();
    let _ = script("printf '{\"a\": %d}' 7 | add -").status(0).stdout("{\"given\":{\"a\":7,\"b\":2}}\n");
    let _ = script("tool add - <<< '{\"a\": 8}'").status(0).stdout("{\"given\":{\"a\":8,\"b\":2}}\n");
    let _ = script("echo nonsense | add -").status(2).stderr_has("standard input is not JSON");
    let _ = script("add - <&-").status(2).stderr_has("standard input is not JSON");
}

#[test]
fn check_and_plan_know_tools() {
    let scratch = scene();
    let _ = haft(&scratch)
        .args(["check", "-c", "add a=1; file_read path=f; tool add a=1"])
        .run()
        .status(0)
        .stdout("");
    let wrong = haft(&scratch).args(["check", "-c", "ad a=1"]).run().status(1);
    assert!(wrong.output_text().contains("command \"ad\" not found"), "{wrong}");
    let plan = haft(&scratch).args(["plan", "--json", "-c", "add a=1"]).run().status(0).json();
    assert_eq!(plan["steps"][0]["target"], json!({"is": "tool"}));
}
