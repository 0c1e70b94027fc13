//! Core tools for background processes.

use std::time::Duration;

use haft_test_support::{Marker, child, eventually};
use haft_tools::Registry;
use serde_json::{Value, json};

use crate::fixture::{ToolFixture, call, error, result};

fn start(registry: &Registry, arguments: Value) -> String {
    result(&call(registry, "process_start", arguments))["id"].as_str().expect("a name").to_owned()
}

fn read(registry: &Registry, arguments: Value) -> Value {
    result(&call(registry, "process_read", arguments))
}

#[test]
fn a_process_can_be_written_to_read_and_awaited() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    let id = start(
        &registry,
        json!({"command": "while read line; do echo \"got $line\"; done; echo over; exit 3"}),
    );
    result(&call(&registry, "process_write", json!({"id": id, "input": "one\n"})));
    let first = read(&registry, json!({"id": id, "wait": 20}));
    assert!(first["command"].as_str().is_some_and(|command| command.starts_with("while read line")));
    assert_eq!((&first["output"], &first["running"]), (&json!("got one\n"), &json!(true)));
    assert_eq!(read(&registry, json!({"id": id}))["output"], "");
    result(&call(&registry, "process_write", json!({"id": id, "input": "two\nthree\n"})));
    result(&call(&registry, "process_close", json!({"id": id})));
    let ended = || result(&call(&registry, "process_list", json!({})))[0]["running"] == false;
    assert!(eventually(Duration::from_secs(20), ended));
    let rest = read(&registry, json!({"id": id}));
    assert_eq!((&rest["output"], &rest["exit_code"]), (&json!("got two\ngot three\nover\n"), &json!(3)));
    assert_eq!(read(&registry, json!({"id": id, "tail": 2}))["output"], "got three\nover\n");
    assert_eq!(read(&registry, json!({"id": id, "first": 1, "last": 2}))["output"], "got one\ngot two\n");
    assert_eq!(error(&call(&registry, "process_write", json!({"id": id, "input": ""}))).0, "INVALID_PARAMS");
}

#[test]
fn kill_ends_the_whole_tree_and_a_signal_is_only_sent() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    let marker = Marker::new();
    let argv = json!([child(), "tree", marker.as_str(), fixture.scratch.text("ready"), "marker"]);
    let id = start(&registry, json!({"argv": argv}));
    fixture.scratch.await_lines("ready", 9);
    let killed = result(&call(&registry, "process_kill", json!({"id": id})));
    assert_eq!((&killed["running"], marker.count()), (&json!(false), 0));

    let id = start(
        &registry,
        json!({"command": "trap 'echo caught; exit 5' USR1; echo ready; while :; do read -r line; done"}),
    );
    assert_eq!(read(&registry, json!({"id": id, "wait": 20}))["output"], "ready\n");
    result(&call(&registry, "process_kill", json!({"id": id, "signal": "SIGUSR1"})));
    assert_eq!(read(&registry, json!({"id": id, "wait": 20}))["output"], "caught\n");
    let (code, text) = error(&call(&registry, "process_kill", json!({"id": "p99"})));
    assert_eq!(code, "INVALID_PARAMS");
    assert!(text.starts_with("unknown process 'p99'; known processes: p1, p2"), "{text}");
}

#[test]
fn a_process_ends_with_its_time_to_live_or_the_registry() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    let short = start(&registry, json!({"command": "sleep 100", "ttl": 0.2}));
    assert!(
        eventually(Duration::from_secs(20), || read(&registry, json!({"id": short}))["timed_out"] == true)
    );
    let marker = Marker::new();
    let argv = json!([child(), "pause", marker.as_str(), fixture.scratch.text("ready")]);
    start(&registry, json!({"argv": argv}));
    fixture.scratch.await_lines("ready", 1);
    drop(registry);
    assert_eq!(marker.count(), 0);
}

#[test]
fn a_failure_to_start_is_reported() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    let start = |arguments: Value| error(&call(&registry, "process_start", arguments));
    assert_eq!(start(json!({})).0, "INVALID_PARAMS");
    assert_eq!(start(json!({"argv": ["no-such-program"]})).0, "SPAWN_FAILED");
    assert_eq!(start(json!({"argv": []})).0, "INVALID_PARAMS");
}
