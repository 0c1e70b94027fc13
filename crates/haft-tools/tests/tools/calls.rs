//! Calls of well-behaved and misbehaving tools.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{CancelToken, Environment};
use haft_test_support::{child, eventually};
use haft_tools::{CallOptions, Toolset};
use serde_json::{Value, json};

use crate::fixture::{ToolFixture, call, error, result};

/// Returns true if the process has ended.
fn is_gone(pid: &str) -> bool {
    let pid = pid.trim().parse().expect("a number");
    haft_test_support::process::state(pid).is_none_or(|state| state == 'Z')
}

#[test]
fn tools_in_three_languages_can_be_called() {
    let fixture = ToolFixture::new();
    fixture.tool("shell", "", "sed 's/^/[/; s/$/]/'");
    fixture.write(
        "user/tools/python-tool",
        r#"#!/usr/bin/env python3
import json, sys
if sys.argv[1:] == ["--schema"]:
    print(json.dumps({"name": "python", "description": "Adds", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}}}))
else:
    given = json.load(sys.stdin)
    print("adding", file=sys.stderr)
    print(json.dumps({"sum": given["a"] + given["b"]}))
"#,
    );
    std::os::unix::fs::symlink(child(), fixture.scratch.file("user/tools/rust-tool")).expect("a link");
    let registry = fixture.registry();
    assert_eq!(result(&call(&registry, "shell", json!({"a": 1}))), json!([{"a": 1}]));
    let envelope = call(&registry, "python", json!({"a": 40}));
    assert_eq!((result(&envelope), envelope.stderr.as_str()), (json!({"sum": 42}), "adding\n"));
    assert!(envelope.duration > Duration::ZERO);
    assert_eq!(result(&call(&registry, "rust", json!({"x": "ü"})))["arguments"], json!({"x": "ü"}));
}

#[test]
fn any_value_is_a_result() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "", "sed 's/^{\"value\"://; s/}$//'");
    let registry = fixture.registry();
    for value in [json!(null), json!(false), json!(1.5), json!("text\n"), json!([]), json!({"a": {}})] {
        assert_eq!(result(&call(&registry, "x", json!({"value": value}))), value);
    }
}

#[test]
fn each_kind_of_misbehaviour_has_its_error_code() {
    let fixture = ToolFixture::new();
    let cases = [
        (
            "three",
            "echo '{\"half\": '; echo reason >&2; exit 3",
            "TOOL_CRASHED",
            "tool 'three' exited with 3: reason",
        ),
        ("signal", "kill -ABRT $$", "TOOL_CRASHED", "tool 'signal' was killed by SIGABRT"),
        ("nothing", "exit 0", "INVALID_OUTPUT", "tool 'nothing' wrote no JSON value"),
        ("text", "echo hello", "INVALID_OUTPUT", "tool 'text' wrote invalid JSON at byte 0"),
        ("half", "printf '{\"a\": '", "INVALID_OUTPUT", "tool 'half' wrote invalid JSON at byte 5"),
        ("bytes", "printf '\"\\377\"'", "INVALID_OUTPUT", "tool 'bytes' wrote invalid UTF-8 at byte 1"),
        (
            "two",
            "echo '1 2'",
            "INVALID_OUTPUT",
            "tool 'two' wrote more than one JSON value: unexpected text at byte 1",
        ),
    ];
    for (name, does, _, _) in cases {
        fixture.tool(name, "", does);
    }
    let registry = fixture.registry();
    for (name, _, code, start) in cases {
        let envelope = call(&registry, name, json!({}));
        let (given, text) = error(&envelope);
        assert_eq!(given, code, "{name}: {text}");
        assert!(text.starts_with(start), "{name}: {text}");
    }
    let shown = serde_json::to_value(call(&registry, "three", json!({}))).expect("JSON");
    assert_eq!((&shown["exit_code"], &shown["signal"]), (&json!(3), &Value::Null));
    assert_eq!((&shown["stdout"], &shown["stderr"]), (&json!("{\"half\": \n"), &json!("reason\n")));
    let shown = serde_json::to_value(call(&registry, "signal", json!({}))).expect("JSON");
    assert_eq!((&shown["exit_code"], &shown["signal"]), (&Value::Null, &json!("SIGABRT")));
    assert_eq!(call(&registry, "signal", json!({})).exit_status(), 128 + 6);
}

#[test]
fn a_hanging_grandchild_is_killed_at_the_deadline() {
    let fixture = ToolFixture::new();
    let pids = fixture.scratch.text("pids");
    fixture.tool(
        "hang",
        "\"timeout\": 0.5",
        &format!("echo begun >&2\nsh -c 'sh -c \"echo \\$\\$ >> {pids}; trap \\\"\\\" TERM; sleep 100; sleep 100\" & wait' & echo '{{'\nwait"),
    );
    let registry = fixture.registry();
    assert!(registry.find("hang").is_ok());
    let started = Instant::now();
    let envelope = call(&registry, "hang", json!({}));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(error(&envelope), ("TOOL_TIMEOUT", "tool 'hang' did not answer within 0.5 s".to_owned()));
    assert_eq!(envelope.stderr, "begun\n");
    assert_eq!(envelope.exit_status(), 124);
    let written = std::fs::read_to_string(fixture.scratch.file("pids")).unwrap_or_default();
    for pid in written.lines() {
        assert!(is_gone(pid), "{pid} is left");
    }
}

#[test]
fn the_timeout_of_a_call_overrides_that_of_the_tool() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "\"timeout\": 100", "sleep 100");
    let registry = fixture.registry();
    assert!(registry.find("x").is_ok());
    let options = CallOptions { timeout: Some(Duration::from_millis(100)), ..CallOptions::default() };
    let envelope = registry.call("x", json!({}), &options);
    assert_eq!(error(&envelope).0, "TOOL_TIMEOUT");
}

#[test]
fn a_flood_on_standard_error_does_not_block() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "", "head -c 10485760 /dev/zero >&2; cat");
    let registry = fixture.registry();
    let envelope = call(&registry, "x", json!({"a": 1}));
    assert_eq!(result(&envelope), json!({"a": 1}));
    let truncated = &envelope.truncated[0];
    assert_eq!((truncated.stream, truncated.total_bytes), ("stderr", 10_485_760));
    assert_eq!(registry.output(&truncated.id).map(|output| output.total_bytes()), Some(10_485_760));
}

#[test]
fn truncated_outputs_are_available_to_later_calls_and_processes() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "", "seq 1 20000 >&2; echo 1");
    let envelope = call(&fixture.registry(), "x", json!({}));
    let truncated = &envelope.truncated[0];
    assert!(envelope.stderr.len() < 40_000);
    let file = std::fs::read_to_string(truncated.path.as_ref().expect("a file")).expect("text");
    assert_eq!(file.lines().count(), 20_000);
    // A second registry stands for another process: they share only files.
    let registry = fixture.registry();
    let look = |more: Value| {
        let mut arguments = json!({"id": truncated.id});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        call(&registry, "output", arguments)
    };
    let shown = |more: Value| result(&look(more))["text"].as_str().expect("text").to_owned();
    assert_eq!(shown(json!({"tail": 2})), "19999\n20000\n");
    assert_eq!(shown(json!({"head": 1})), "1\n");
    assert_eq!(shown(json!({"first": 7000, "last": 7001})), "7000\n7001\n");
    assert_eq!(shown(json!({"grep": "^1234$", "context": 1})), "1233-1233\n1234:1234\n1235-1235\n");
    let all = result(&look(json!({})));
    assert_eq!((&all["total_lines"], &all["truncated"]), (&json!(20_000), &json!(true)));
    assert_eq!(error(&look(json!({"head": 1, "tail": 1}))).0, "INVALID_PARAMS");
    let (code, text) = error(&call(&registry, "output", json!({"id": "../../etc/passwd"})));
    assert_eq!(code, "INVALID_PARAMS");
    assert!(text.starts_with("parameter 'id': unknown output"), "{text}");
}

#[test]
fn a_tool_may_ignore_a_mebibyte_of_arguments() {
    let fixture = ToolFixture::new();
    fixture.tool("deaf", "", "echo 1");
    fixture.tool("count", "", "wc -c");
    let registry = fixture.registry();
    let large = "x".repeat(1 << 20);
    assert_eq!(result(&call(&registry, "deaf", json!({"a": large}))), 1);
    assert_eq!(result(&call(&registry, "count", json!({"a": large}))), (1 << 20) + 8);
}

#[test]
fn a_background_child_that_holds_the_output_open_is_terminated() {
    let fixture = ToolFixture::new();
    let pid = fixture.scratch.text("pid");
    fixture.tool("x", "", &format!("sleep 100 & echo $! > {pid}; echo 1"));
    let registry = fixture.registry();
    assert!(registry.find("x").is_ok());
    let started = Instant::now();
    assert_eq!(result(&call(&registry, "x", json!({}))), 1);
    assert!(started.elapsed() < Duration::from_secs(20));
    let pid = std::fs::read_to_string(fixture.scratch.file("pid")).expect("a number");
    assert!(is_gone(&pid));
}

#[test]
fn a_result_beyond_the_limit_is_refused_but_kept() {
    let fixture = ToolFixture::new();
    fixture.tool(
        "x",
        "\"output_limit\": 100000",
        "printf '\"'; head -c 200000 /dev/zero | tr '\\0' a; printf '\"'",
    );
    let registry = fixture.registry();
    let envelope = call(&registry, "x", json!({}));
    assert_eq!(
        error(&envelope),
        ("OUTPUT_LIMIT", "tool 'x' wrote 200002 bytes, the limit is 100000".to_owned())
    );
    let truncated = envelope.truncated.iter().find(|one| one.stream == "stdout").expect("a part is shown");
    assert!(registry.output(&truncated.id).is_some_and(|output| output.is_complete()));
    let options = CallOptions { output_limit: Some(300_000), ..CallOptions::default() };
    assert!(registry.call("x", json!({}), &options).is_success());
}

#[test]
fn arguments_are_checked_before_anything_starts() {
    let fixture = ToolFixture::new();
    let log = fixture.scratch.text("log");
    fixture.tool(
        "x",
        "\"parameters\": {\"properties\": {\"limit\": {\"type\": \"integer\", \"default\": 5}}, \"required\": [\"limit\"]}",
        &format!("echo >> {log}; cat"),
    );
    let registry = fixture.registry();
    let wrong = call(&registry, "x", json!({"limit": "many"}));
    assert_eq!(
        error(&wrong),
        ("INVALID_PARAMS", "parameter 'limit': expected integer, got \"many\"".to_owned())
    );
    assert_eq!(error(&call(&registry, "x", json!([]))).0, "INVALID_PARAMS");
    assert_eq!(fixture.scratch.lines("log"), 0);
    assert_eq!(result(&call(&registry, "x", json!({}))), json!({"limit": 5}));
}

#[test]
fn results_are_validated_against_the_returns_schema() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "\"returns\": {\"type\": \"object\", \"required\": [\"a\"]}", "cat");
    let registry = fixture.registry();
    assert!(call(&registry, "x", json!({"a": 1})).is_success());
    let (code, text) = error(&call(&registry, "x", json!({"b": 1})));
    assert_eq!(
        (code, text.as_str()),
        ("INVALID_OUTPUT", "the result of tool 'x' does not match its schema: parameter 'a' is missing")
    );
}

#[test]
fn secrets_of_the_caller_do_not_leak() {
    let fixture = ToolFixture::new();
    std::os::unix::fs::symlink(child(), fixture.scratch.file("user/tools/plain-tool")).expect("a link");
    fixture.tool(
        "named",
        "\"env\": [\"WANTED_KEY\"]",
        "env -0 | cut -z -d= -f1 | tr '\\0' ' ' | sed 's/.*/\"&\"/'",
    );
    let registry = fixture.registry();
    let mut session = (*fixture.options().environment).clone();
    session.set("MINE", "1").expect("a variable");
    let options = CallOptions { environment: Some(Arc::new(session)), ..CallOptions::default() };
    let seen = result(&registry.call("plain", json!({}), &options))["environment"].clone();
    let mut seen: Vec<_> = seen.as_array().expect("names").iter().filter_map(Value::as_str).collect();
    seen.sort_unstable();
    assert_eq!(seen, ["HAFT_RUN", "HAFT_TOOL", "HAFT_TOOL_DIR", "HAFT_TOOL_PATH", "MINE", "PATH"]);
    let seen = result(&call(&registry, "named", json!({}))).as_str().expect("names").to_owned();
    assert!(seen.contains("WANTED_KEY") && !seen.contains("SECRET_KEY"), "{seen}");
}

#[test]
fn cancelling_a_call_ends_its_processes() {
    let fixture = ToolFixture::new();
    let ready = fixture.scratch.text("ready");
    fixture.tool("x", "", &format!("touch {ready}; sleep 100"));
    let registry = fixture.registry();
    let cancel = CancelToken::new();
    let options = CallOptions { cancel: Some(cancel.clone()), ..CallOptions::default() };
    std::thread::scope(|threads| {
        let running = threads.spawn(|| registry.call("x", json!({}), &options));
        assert!(eventually(Duration::from_secs(20), || fixture.scratch.file("ready").exists()));
        cancel.cancel();
        let envelope = running.join().expect("an answer");
        assert_eq!((error(&envelope).0, envelope.exit_status()), ("CANCELLED", 130));
    });
    assert_eq!(error(&registry.call("glob", json!({"pattern": "*"}), &options)).0, "CANCELLED");
}

#[test]
fn a_toolset_refuses_other_tools() {
    let fixture = ToolFixture::new();
    fixture.tool("allowed", "", "echo 1");
    fixture.tool("other", "", "echo 1");
    let registry = fixture.registry();
    let toolset = Toolset::new("few", ["allow*"]).expect("a toolset");
    let options = CallOptions { toolset: Some(toolset), ..CallOptions::default() };
    assert!(registry.call("allowed", json!({}), &options).is_success());
    let expected = ("DISABLED", "tool 'other' is not in the toolset 'few'".to_owned());
    assert_eq!(error(&registry.call("other", json!({}), &options)), expected);
}

#[test]
fn an_unknown_name_is_an_error_with_suggestions() {
    let fixture = ToolFixture::new();
    fixture.tool("deploy_site", "", "echo 1");
    let registry = fixture.registry();
    let expected = ("TOOL_NOT_FOUND", "unknown tool 'deploy_sit'; did you mean 'deploy_site'?".to_owned());
    assert_eq!(error(&call(&registry, "deploy_sit", json!({}))), expected);
    assert_eq!(error(&call(&registry, "../../x", json!({}))).0, "TOOL_NOT_FOUND");
    std::fs::write(fixture.scratch.file("user/tools/forgotten-tool"), "#!/bin/sh\n").expect("a file");
    let (code, text) = error(&call(&registry, "forgotten", json!({})));
    assert_eq!(code, "TOOL_NOT_FOUND");
    assert!(text.contains("is not executable; run `chmod +x"), "{text}");
}

#[test]
fn a_failure_to_start_is_reported() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "", "echo 1");
    let registry = fixture.registry();
    assert!(registry.find("x").is_ok());
    let options = CallOptions { directory: Some("/no/such/directory".into()), ..CallOptions::default() };
    let (code, text) = error(&registry.call("x", json!({}), &options));
    assert_eq!(code, "SPAWN_FAILED");
    assert!(text.contains("/no/such/directory"), "{text}");
}

#[test]
fn session_variables_are_passed_without_an_inherited_environment() {
    let fixture = ToolFixture::new();
    fixture.tool("x", "", "printf '\"%s\"' \"$HAFT_TOOL$SECRET_KEY\"");
    let options =
        haft_tools::RegistryOptions { environment: Arc::new(Environment::new()), ..fixture.options() };
    let registry = fixture.registry_with(options);
    let session =
        Environment::from_pairs([("PATH", "/bin:/usr/bin"), ("SECRET_KEY", "given")]).expect("pairs");
    let options = CallOptions { environment: Some(Arc::new(session)), ..CallOptions::default() };
    assert_eq!(result(&registry.call("x", json!({}), &options)), "xgiven");
}
