//! `haft tool`, and tools as commands in scripts, from end to end.

use std::os::unix::fs::PermissionsExt;

use haft_test_support::{Haft, Scratch};
use serde_json::{Value, json};

const ADD: &str = r#"#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name": "add", "description": "Adds numbers", "access": "none", "parameters": {"type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}, "list": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"], "additionalProperties": false, "examples": [{"a": 1}]}}'
  exit
fi
read -r line
case $line in *oops*) echo "went wrong" >&2; exit 3;; esac
echo working >&2
printf '{"given": %s}\n' "$line"
"#;

/// A home with a tool in it.
fn scene() -> Scratch {
    let scratch = Scratch::new();
    write(&scratch, "home/.config/haft/tools/add-tool", ADD);
    std::fs::create_dir_all(scratch.file("work")).expect("a directory");
    scratch
}

fn write(scratch: &Scratch, place: &str, text: &str) {
    let path = scratch.file(place);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.file("home"))
        .env("XDG_CONFIG_HOME", "")
        .env("XDG_STATE_HOME", "")
        .env("XDG_CACHE_HOME", "")
        .env("HAFT_LIBEXEC", scratch.file("libexec"))
        .temporary(scratch.path())
        .directory(scratch.file("work"))
}

fn tool(scratch: &Scratch, words: &[&str]) -> Haft {
    haft(scratch).arg("tool").args(words)
}

#[test]
fn tools_are_listed_with_what_is_none() {
    let scratch = scene();
    write(&scratch, "home/.config/haft/tools/broken-tool", "#!/bin/sh\necho hello\n");
    write(&scratch, "libexec/add-tool", ADD);
    let listed = tool(&scratch, &["list"])
        .run()
        .status(0)
        .stderr_has("rejected: broken, ")
        .stderr_has("the schema is not JSON at byte 0")
        .stderr_has("shadowed: add of the system layer")
        .output_text();
    assert!(listed.contains("add            user      Adds numbers\n"), "{listed}");
    assert!(listed.contains("file_read      embedded  "), "{listed}");
    let listed = tool(&scratch, &["list", "--json"]).run().status(0).json();
    let names: Vec<&str> =
        listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(
        ["add", "bash", "file_edit", "process_start"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );
    assert_eq!(listed["rejected"][0]["name"], "broken");
    assert_eq!(listed["shadowed"][0]["by"], "user");
    let shown = tool(&scratch, &["show", "add"]).run().status(0).output_text();
    assert!(shown.contains("    a: integer, required\n    b: integer, default 2\n"), "{shown}");
}

#[test]
fn a_call_prints_the_result_or_the_whole_envelope() {
    let scratch = scene();
    let _ = tool(&scratch, &["call", "add", "a=1"])
        .run()
        .status(0)
        .stdout("{\"given\":{\"a\":1,\"b\":2}}\n")
        .stderr("working\n");
    let _ = tool(&scratch, &["call", "add", "--a", "1", "--list", "x", "--list=y"])
        .run()
        .status(0)
        .stdout("{\"given\":{\"a\":1,\"list\":[\"x\",\"y\"],\"b\":2}}\n");
    let _ = tool(&scratch, &["call", "add", "-"])
        .input("{\"a\": 3, \"b\": 4}")
        .run()
        .status(0)
        .stdout("{\"given\":{\"a\":3,\"b\":4}}\n");
    let envelope = tool(&scratch, &["call", "add", "{\"a\": 5}", "--json"]).run().status(0).json();
    assert_eq!((&envelope["tool_success"], &envelope["stderr"]), (&json!(true), &json!("working\n")));
    let failed = tool(&scratch, &["call", "--json", "add", "a=1", "list=oops"]).run().status(3).json();
    assert_eq!((&failed["error_code"], &failed["exit_code"]), (&json!("TOOL_CRASHED"), &json!(3)));
    let _ = tool(&scratch, &["call", "add", "a=1", "list=oops"])
        .run()
        .status(3)
        .stdout("")
        .stderr_has("tool 'add' exited with 3: went wrong");
    let _ = tool(&scratch, &["call", "add", "a=one"])
        .run()
        .status(2)
        .stderr_has("parameter 'a': given 'one', wanted integer");
    let _ = tool(&scratch, &["call", "ad", "a=1"]).run().status(127).stderr_has("did you mean 'add'?");
    let _ = tool(&scratch, &["call", "--toolset", "gr*,glob", "add", "a=1"])
        .run()
        .status(126)
        .stderr_has("not in the toolset");
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let scratch = scene();
    let calls = "{\"tool\": \"file_write\", \"arguments\": {\"path\": \"f\", \"content\": \"hello\"}, \"id\": 7}\n\n\
                 {\"tool\": \"file_read\", \"arguments\": {\"path\": \"f\"}}\n{\"tool\": \"nothing\"}\n";
    let run = tool(&scratch, &["batch"]).input(calls).run().status(1);
    let answers: Vec<Value> =
        run.output_text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&answers[0]["id"], &answers[0]["tool"]), (&json!(7), &json!("file_write")));
    assert_eq!(answers[1]["result"]["content"], "hello");
    assert_eq!(answers[2]["error_code"], "TOOL_NOT_FOUND");
    let _ = tool(&scratch, &["batch"]).input("nonsense\n").run().status(2).stderr_has("line 1 is no call");
}

#[test]
fn check_says_what_is_wrong_and_new_writes_what_is_right() {
    let scratch = scene();
    let good =
        tool(&scratch, &["check", "../home/.config/haft/tools/add-tool", "--json"]).run().status(0).json();
    assert_eq!(good["ok"], true);
    write(&scratch, "bad-tool", "#!/bin/sh\nexit 4\n");
    let bad = tool(&scratch, &["check", "../bad-tool"]).run().status(1).output_text();
    assert!(bad.contains("WRONG   schema       exit 4"), "{bad}");
    for (name, language) in [("py_words", "python"), ("sh_words", "bash")] {
        let _ = tool(&scratch, &["new", name, "--lang", language]).run().status(0).stderr("");
        let _ =
            tool(&scratch, &["call", name, "text=to be or not"]).run().status(0).stdout("{\"words\":4}\n");
        let _ = tool(&scratch, &["new", name, "--lang", language]).run().status(1).stderr_has("file exists");
    }
    let _ = tool(&scratch, &["new", "compiled", "--lang", "rust"]).run().status(0).stderr_has("cargo build");
    assert!(scratch.file("work/compiled-tool/src/main.rs").exists());
    let _ = tool(&scratch, &["new", "not/good"]).run().status(2);
}

#[test]
fn a_projects_tools_are_refused_until_they_are_trusted() {
    let scratch = scene();
    write(&scratch, "work/.haft/tools/mine-tool", &ADD.replace("\"add\"", "\"mine\""));
    let _ =
        tool(&scratch, &["call", "mine", "a=1"]).run().status(126).stderr_has("to trust it run `haft trust`");
    let _ = haft(&scratch).args(["-c", "mine a=1"]).run().status(126).stderr_has("not trusted");
    let _ = haft(&scratch).args(["trust", "--yes"]).run().status(0);
    let _ = tool(&scratch, &["call", "mine", "a=1"]).run().status(0);
}

#[test]
fn in_a_script_a_tool_is_a_command() {
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
        .stderr_has("add: parameter 'a': given 'x', wanted integer");
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
fn the_bash_tool_answers_with_output_in_true_order() {
    let scratch = scene();
    let bash = |words: &[&str]| tool(&scratch, &["call", "--json", "bash"]).args(words).run();
    let answer = bash(&["command=echo out; echo err >&2; echo again; exit 3"]).status(0).json();
    assert_eq!(answer["result"]["output"], "out\nerr\nagain\n");
    assert_eq!((&answer["result"]["exit_code"], &answer["result"]["signal"]), (&json!(3), &Value::Null));
    let answer = bash(&["command=pwd", "cwd=/"]).status(0).json();
    assert_eq!(answer["result"]["output"], "/\n");
    let long = bash(&["command=seq 100000"]).status(0).json();
    assert_eq!((&long["result"]["truncated"], long["result"]["id"].is_string()), (&json!(true), true));
    let late = bash(&["command=echo before; sleep 60", "timeout=0.5"]).status(124).json();
    assert_eq!((&late["error_code"], &late["stdout"]), (&json!("TOOL_TIMEOUT"), &json!("before\n")));
}
