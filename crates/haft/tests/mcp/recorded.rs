//! The calls of a client are recorded.

use haft_test_support::{Haft, Scratch};
use serde_json::{Value, json};

use crate::client::{Client, HAFT};

fn log(state: &str, words: &[&str]) -> Value {
    Haft::new(HAFT).arg("log").args(words).arg("--json").env("XDG_STATE_HOME", state).run().status(0).json()
}

#[test]
fn calls_are_recorded_with_the_client_that_made_them() {
    let scratch = Scratch::new();
    let state = scratch.text("state");
    let mut client = Client::start(Scratch::new(), &[], &[("XDG_STATE_HOME", &state)]);
    client.introduce("2025-06-18", json!({}));
    client.run("printf a | cat; false");
    client.call("file_write", json!({ "path": "note", "content": "text" }));
    client.call("run", json!({ "script": "if" }));
    drop(client);
    let list = log(&state, &[]);
    let runs = list["runs"].as_array().expect("a list");
    let texts: Vec<&str> = runs.iter().filter_map(|run| run["text"].as_str()).collect();
    assert_eq!(texts.len(), 3, "{list}");
    assert_eq!((texts[0], texts[2]), ("printf a | cat; false", "if"));
    assert!(texts[1].starts_with("file_write {"), "{list}");
    assert!(runs.iter().all(|run| run["kind"] == "mcp" && run["agent"] == "test" && run["state"] == "ended"));
    assert_eq!([&runs[0]["code"], &runs[1]["code"], &runs[2]["code"]], [1, 0, 1]);
    let detail = log(&state, &["show", runs[0]["id"].as_str().expect("an id")]);
    assert_eq!(detail["start"]["client"], json!({ "name": "test", "version": "1" }));
    let stages: Vec<_> =
        detail["stages"].as_array().expect("stages").iter().map(|stage| &stage["argv"]).collect();
    assert_eq!(stages, [&json!(["printf", "a"]), &json!(["cat"]), &json!(["false"])]);
    assert_eq!(detail["end"]["outputs"][0]["bytes"], 1);
    assert_eq!(log(&state, &["--agent", "test", "--failed"])["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn secrets_of_a_call_are_not_recorded() {
    let scratch = Scratch::new();
    let state = scratch.text("state");
    let secret = "canary-0123456789";
    let environment = [("XDG_STATE_HOME", state.as_str()), ("GITHUB_TOKEN", secret)];
    let mut client = Client::start(Scratch::new(), &[], &environment);
    client.introduce("2025-06-18", json!({}));
    let given = "given-0123456789";
    client
        .call("run", json!({ "script": format!("/bin/echo {secret} {given}"), "env": { "MY_KEY": given } }));
    client.call("file_write", json!({ "path": format!("/nonexistent/{secret}"), "content": secret }));
    client.call("bash", json!({ "command": format!("curl -H 'Authorization: Bearer abcdef' {secret}") }));
    client.call(secret, json!({ secret: secret }));
    drop(client);
    let all = all_records(&scratch);
    assert!(
        all.contains("[GITHUB_TOKEN]") && all.contains("[MY_KEY]") && all.contains("Bearer ***"),
        "{all}"
    );
    assert!(!all.contains(secret) && !all.contains(given) && !all.contains("abcdef"), "{all}");
}

/// The text of all journals.
fn all_records(scratch: &Scratch) -> String {
    let files = std::fs::read_dir(scratch.file("state/haft/records")).expect("records").flatten();
    let texts =
        files.map(|file| String::from_utf8_lossy(&std::fs::read(file.path()).expect("bytes")).into_owned());
    texts.collect()
}
