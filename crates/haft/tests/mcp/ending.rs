//! No process is left, however a call, a client or the server ends.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use haft_test_support::{Marker, Scratch, child, eventually, separate_directories, signal};
use serde_json::json;

use crate::client::{Client, HAFT};

const SOON: Duration = Duration::from_secs(30);

/// A script whose descendants ignore `SIGTERM`.
fn stubborn(marker: &Marker) -> String {
    let (child, marker) = (child(), marker.as_str());
    format!("{child} stubborn {marker} & ({child} stubborn {marker} & wait) & {child} sleep {marker}")
}

#[test]
fn a_timeout_ends_the_whole_tree() {
    let mut client = Client::new();
    let marker = Marker::new();
    let reply = client.call("run", json!({ "script": stubborn(&marker), "timeout": 1 }));
    assert_eq!(marker.count(), 0);
    assert!(reply.is_error() && reply.facts().starts_with("[timed out"), "{}", reply.text());
    assert_eq!(reply.data()["status"]["code"], 124);
    assert_eq!(reply.data()["tree"]["survivors"], 0);
}

#[test]
fn a_cancelled_call_ends_its_tree_and_nothing_else() {
    let mut client = Client::new();
    let (marker, other) = (Marker::new(), Marker::new());
    let id = client.begin("run", json!({ "script": stubborn(&marker) }));
    let kept = client.begin("run", json!({ "script": format!("{} sleep {}", child(), other.as_str()) }));
    assert!(eventually(SOON, || marker.count() >= 3 && other.count() == 1));
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    assert!(eventually(SOON, || marker.count() == 0));
    assert_eq!(other.count(), 1);
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": kept } }),
    );
    assert!(eventually(SOON, || other.count() == 0));
    assert_eq!(client.run("echo fine").data()["stdout"]["text"], "fine\n");
}

#[test]
fn a_call_that_ends_with_its_client_is_not_answered() {
    let mut client = Client::new();
    let marker = Marker::new();
    let call = client.begin("run", json!({ "script": stubborn(&marker) }));
    assert!(eventually(SOON, || marker.count() >= 3));
    assert_eq!(client.leave(), Some(0));
    assert!(eventually(SOON, || marker.count() == 0), "{} are left", marker.count());
    assert!(client.no_more_messages(), "call {call} was answered");
}

#[test]
fn everything_ends_when_the_client_disconnects() {
    let mut client = Client::new();
    let marker = Marker::new();
    client.run(&format!("{} sleep {} & echo", child(), marker.as_str()));
    let named = format!("{} sleep {} & echo", child(), marker.as_str());
    client.call("run", json!({ "script": named, "session": "s" }));
    let script = format!("{} sleep {}", child(), marker.as_str());
    client.call("run", json!({ "script": script, "until": { "quiet": 0.2 } }));
    assert!(eventually(SOON, || marker.count() == 3));
    assert_eq!(client.leave(), Some(0));
    assert_eq!(marker.count(), 0);
    let left = client.scratch.listing();
    assert!(left.iter().all(|name| !name.contains("run-")), "{left:?}");
}

#[test]
fn everything_ends_when_the_client_is_killed() {
    let scratch = Scratch::new();
    let marker = Marker::new();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "run", "arguments": { "script": stubborn(&marker) } },
    });
    // A client in bash, which is killed without a chance to disconnect.
    let script = "coproc S { exec \"$0\" mcp 2>/dev/null; }; echo $S_PID; echo \"$1\" >&${S[1]}; read -u ${S[0]}; \
                  echo \"$2\" >&${S[1]}; read -u ${S[0]}";
    let mut client = Command::new("bash")
        .args(["-c", script, HAFT, &hello.to_string(), &call.to_string()])
        .env("TMPDIR", scratch.path())
        .envs(separate_directories())
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash is there");
    let mut line = String::new();
    let _ = BufReader::new(client.stdout.take().unwrap()).read_line(&mut line);
    let server: i32 = line.trim().parse().unwrap();
    assert!(eventually(SOON, || marker.count() >= 3));
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(eventually(SOON, || marker.count() == 0), "{} are left", marker.count());
    assert!(eventually(SOON, || haft_test_support::process::state(server).is_none_or(|state| state == 'Z')));
}

#[test]
fn everything_ends_when_the_server_is_killed() {
    let mut client = Client::new();
    let marker = Marker::new();
    client.begin("run", json!({ "script": stubborn(&marker) }));
    assert!(eventually(SOON, || marker.count() >= 3));
    signal(client.pid(), 9);
    assert!(eventually(SOON, || marker.count() == 0), "{} are left", marker.count());
}

#[test]
fn two_clients_are_independent() {
    let (mut one, mut two) = (Client::new(), Client::new());
    one.call("run", json!({ "script": "x=one", "session": "same" }));
    two.call("run", json!({ "script": "x=two", "session": "same" }));
    let first = one.begin("run", json!({ "script": "sleep 0.2; echo $x", "session": "same" }));
    let second = two.begin("run", json!({ "script": "sleep 0.2; echo $x", "session": "same" }));
    assert_eq!(two.answer(second)["result"]["structuredContent"]["stdout"]["text"], "two\n");
    assert_eq!(one.answer(first)["result"]["structuredContent"]["stdout"]["text"], "one\n");
    assert_eq!(one.leave(), Some(0));
    assert_eq!(two.run("echo fine").data()["stdout"]["text"], "fine\n");
}
