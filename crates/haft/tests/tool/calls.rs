//! `haft tool list`, `call` and `batch`.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;

use serde_json::{Value, json};

use crate::scene::{ADD, scene, tool, write};

#[test]
fn the_list_includes_rejected_tools() {
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
        .stderr_has("parameter 'a': expected integer, got 'one'");
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
    let wrong = tool(&scratch, &["batch"])
        .input(b"\n\xff{\n{\"tool\": \"glob\", \"arguments\": {\"pattern\": \"*\"}}".to_vec());
    let wrong = wrong.run().status(1).output_text();
    let answers: Vec<Value> = wrong.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(
        answers[0]["error"].as_str().is_some_and(|error| error.starts_with("line 2 is not a call")),
        "{wrong}"
    );
    assert_eq!(
        (&answers[0]["error_code"], &answers[1]["tool_success"]),
        (&json!("INVALID_PARAMS"), &json!(true))
    );
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

#[test]
fn a_batch_answers_while_its_input_is_open() {
    let scratch = scene();
    let (near, mut far) = std::io::pipe().expect("a pipe");
    let (answers, out) = std::io::pipe().expect("a pipe");
    let file = |end: OwnedFd| File::from(end);
    let null = File::options().write(true).open("/dev/null").expect("a file");
    let files = [file(near.into()), file(out.into()), null];
    let running = tool(&scratch, &["batch"]).standard(files).start();
    let mut answers = BufReader::new(answers);
    let mut ask = |call: Value| -> Value {
        writeln!(far, "{call}").expect("haft reads");
        let mut line = String::new();
        answers.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    };
    let script = json!({"command": "echo ready; read line; echo got $line"});
    let started = ask(json!({"tool": "process_start", "arguments": script}));
    let id = &started["result"]["id"];
    let read = json!({"tool": "process_read", "arguments": {"id": id, "wait": 60}});
    assert_eq!(ask(read.clone())["result"]["output"], "ready\n");
    let _ = ask(json!({"tool": "process_write", "arguments": {"id": id, "input": "this\n"}}));
    assert_eq!(ask(read)["result"]["output"], "got this\n");
    running.signal(2);
    let _ = running.finish().status(130);
}

#[test]
fn a_truncated_output_can_be_read_by_the_next_command() {
    let scratch = scene();
    let run = tool(&scratch, &["call", "bash", "command=seq 20000"]).run().status(0);
    let said = run.error_text();
    let id =
        said.split("output id=").nth(1).and_then(|rest| rest.split('`').next()).expect("an id").to_owned();
    let shown = tool(&scratch, &["call", "output", &format!("id={id}"), "tail=1"]).run().status(0);
    assert!(shown.output_text().contains("\"text\":\"20000\\n\""), "{shown}");
    let late = ["call", "--json", "bash", "command=seq 20000; sleep 60", "timeout=2"];
    let late = tool(&scratch, &late).run().status(124).json();
    let path = late["truncated"][0]["path"].as_str().expect("a file");
    assert!(std::fs::read_to_string(path).expect("text").ends_with("\n20000\n"));
}

#[test]
fn a_session_of_the_bash_tool_keeps_its_state() {
    let scratch = scene();
    let script =
        |text: &str| json!({"tool": "bash", "arguments": {"command": text, "session": "s", "timeout": 60}});
    let calls = [
        script("cd /; x=5; f() { echo f; }"),
        script("pwd; echo $x; f"),
        json!({"tool": "bash", "arguments": {"command": "sleep 60", "session": "s", "timeout": 0.2}}),
        script("echo still $x; exit 3"),
        json!({"tool": "bash", "arguments": {"command": "echo \"<$x>\""}}),
        json!({"tool": "bash", "arguments": {"command": "true", "cwd": "missing"}}),
    ];
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let run = tool(&scratch, &["batch"]).input(input).run().status(1);
    let answers: Vec<Value> =
        run.output_text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers[1]["result"]["output"], "/\n5\nf\n");
    assert_eq!(answers[2]["error_code"], "TOOL_TIMEOUT");
    assert_eq!(
        (&answers[3]["result"]["output"], &answers[3]["result"]["exit_code"]),
        (&json!("still 5\n"), &json!(3))
    );
    assert_eq!(answers[5]["error_code"], "INVALID_PARAMS");
}

#[test]
fn started_processes_end_with_haft() {
    let scratch = scene();
    let started = tool(&scratch, &["call", "process_start", "command=sleep 60"]).run().status(0);
    let _ = started.stderr_has("the started process ends with this command");
    let script = "process_start command='echo ready; sleep 60' > /dev/null; process_read id=p1 wait=30";
    let run = crate::scene::haft(&scratch).args(["-c", script]).run().status(0);
    assert!(run.output_text().contains("\"output\":\"ready\\n\""), "{run}");
}

#[test]
fn a_broken_tool_is_skipped_with_a_message() {
    let scratch = scene();
    write(&scratch, "home/.config/haft/tools/glob-tool", "#!/bin/sh\nexit 3\n");
    let said = "(`--schema` exited with 3); called 'glob' of the embedded layer instead";
    let _ = tool(&scratch, &["call", "glob", "pattern=*"]).run().status(0).stderr_has(said);
    let _ = crate::scene::haft(&scratch).args(["-c", "glob pattern='*'"]).run().status(0).stderr_has(said);
    let _ = tool(&scratch, &["list"])
        .run()
        .status(0)
        .stderr_has("'glob' of the embedded layer is called instead");
}

#[test]
fn options_of_haft_may_follow_the_name() {
    let scratch = scene();
    let call = |words: &[&str]| tool(&scratch, &["call"]).args(words).run();
    assert_eq!(
        call(&["add", "a=1", "--json", "--timeout", "20s", "b=3"]).status(0).json()["result"]["given"]["b"],
        3
    );
    assert_eq!(
        call(&["add", "--json", "--limit-output=4", "a=1"]).status(1).json()["error_code"],
        "OUTPUT_LIMIT"
    );
    let _ = call(&["add", "a=1", "--timeout", "soon"])
        .status(2)
        .stderr_has("invalid value 'soon' for '--timeout'");
    // After two dashes, everything is the tool's.
    let _ = call(&["add", "--", "--json"]).status(2).stderr_has("unknown parameter 'json'");
    let _ =
        call(&["add", "a=1", "--", "--timeout", "1s"]).status(2).stderr_has("unknown parameter 'timeout'");
}

#[test]
fn a_failed_call_says_what_to_do() {
    let scratch = scene();
    let call = |words: &[&str]| tool(&scratch, &["call", "--json"]).args(words).run().json();
    let unknown = call(&["ad"]);
    assert_eq!((&unknown["nearest"], &unknown["hint"]), (&json!(["add"]), &json!("did you mean 'add'?")));
    let unknown = call(&["add", "{\"a\": 1, \"lst\": []}"]);
    assert_eq!(unknown["nearest"], json!(["list"]));
    let limited = call(&["add", "a=1", "--limit-output", "1"]);
    assert!(limited["hint"].as_str().is_some_and(|hint| hint.contains("--limit-output")), "{limited}");
    assert!(call(&["add", "a=1"]).get("hint").is_none());
}

#[test]
fn an_executable_with_an_odd_name_is_listed_as_rejected() {
    let scratch = scene();
    write(&scratch, "home/.config/haft/tools/odd name-tool", ADD);
    write(&scratch, "home/.config/haft/tools/add.v2-tool", ADD);
    let listed = tool(&scratch, &["list"]).run().status(0);
    let listed = listed.stderr_has("rejected: odd name-tool").stderr_has("rejected: add.v2-tool");
    listed.stderr_has("has only letters, digits");
}

/// A copy of haft runs tools beside it only from `libexec/haft`, and only if the user or root owns that directory.
#[test]
fn files_beside_the_program_are_no_tools() {
    let scratch = scene();
    let copy = scratch.file("programs/haft");
    write(&scratch, "programs/evil-tool", ADD);
    std::fs::copy(env!("CARGO_BIN_EXE_haft"), &copy).expect("a copy");
    write(&scratch, "programs/libexec/haft/good-tool", &ADD.replace("\"add\"", "\"good\""));
    let list = || {
        let call =
            haft_test_support::Haft::new(&copy).env("HOME", scratch.file("home")).env("HAFT_LIBEXEC", "");
        let call = call.env("XDG_CONFIG_HOME", "").env("XDG_STATE_HOME", "").env("XDG_CACHE_HOME", "");
        call.directory(scratch.file("work")).args(["tool", "list"]).run().status(0)
    };
    let listed = list();
    let text = listed.output_text() + &listed.error_text();
    assert!(text.contains("good ") && !text.contains("evil"), "{text}");
    if haft_test_support::is_root() {
        let libexec = scratch.file("programs/libexec/haft");
        for path in [libexec.join("good-tool"), libexec] {
            std::os::unix::fs::chown(path, Some(65_533), None).expect("another owner");
        }
        let _ = list().stderr_has("it belongs to another user (65533)");
    }
}

#[test]
fn integers_beyond_64_bits_stay_exact() {
    let scratch = scene();
    let large = "123456789012345678901234567890";
    let expected = format!("{{\"given\":{{\"a\":{large},\"b\":-{large}}}}}\n");
    let object = format!("{{\"a\": {large}, \"b\": -{large}}}");
    let words = [&format!("a={large}")[..], &format!("b=-{large}")];
    let _ = tool(&scratch, &["call", "add"]).args(words).run().status(0).stdout(&expected);
    let _ = tool(&scratch, &["call", "add", &object]).run().status(0).stdout(&expected);
    let _ = tool(&scratch, &["call", "add", "-"]).input(object.clone()).run().status(0).stdout(&expected);
    let envelope = tool(&scratch, &["call", "add", &object, "--json"]).run().status(0).output_text();
    assert!(envelope.contains(&format!("\"result\":{}", expected.trim_end())), "{envelope}");
    let line = format!("{{\"tool\": \"add\", \"arguments\": {object}}}\n");
    let answer = tool(&scratch, &["batch"]).input(line).run().status(0).output_text();
    assert!(answer.contains(expected.trim_end()), "{answer}");
    let _ = tool(&scratch, &["call", "add", "a=1e30.5"]).run().status(2);
}
