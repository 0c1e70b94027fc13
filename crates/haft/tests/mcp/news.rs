//! Notifications to clients, and the server's log.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use haft_test_support::{Marker, Scratch, child, eventually};
use serde_json::json;

use crate::client::Client;
use crate::stand_in::configured;

const SOON: Duration = Duration::from_secs(30);

fn write_tool(scratch: &Scratch, name: &str) {
    let directory = scratch.file("haft/tools");
    std::fs::create_dir_all(&directory).unwrap();
    let schema = format!("{{\"name\": \"{name}\", \"description\": \"does {name}\", \"parameters\": {{}}}}");
    let path = directory.join(format!("{name}-tool"));
    std::fs::write(
        &path,
        format!("#!/bin/sh\n[ \"$1\" = --schema ] && echo '{schema}' || echo '\"done\"'\n"),
    )
    .unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn changes_of_the_tool_list_are_announced() {
    let scratch = configured("[tools]\nschema_timeout = 20\n");
    write_tool(&scratch, "first");
    let mut client = Client::configured(scratch);
    let listed = |client: &mut Client| client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed(&mut client).contains("\"name\":\"first\""));
    client.notifications.clear();
    write_tool(&client.scratch, "second");
    client.notification("notifications/tools/list_changed");
    assert!(listed(&mut client).contains("\"name\":\"second\""));
    assert_eq!(client.call("second", json!({})).text(), "done");
    std::fs::remove_file(client.scratch.file("haft/tools/first-tool")).unwrap();
    client.notification("notifications/tools/list_changed");
    assert!(!listed(&mut client).contains("\"name\":\"first\""));
}

#[test]
fn a_silent_remote_server_does_not_delay_the_tool_list() {
    let scratch = configured(
        "[tools]\nschema_timeout = 20\n[[mcp]]\nname = \"silent\"\ncommand = [\"sleep\", \"600\"]\n",
    );
    write_tool(&scratch, "quick");
    let mut client = Client::configured(scratch);
    let start = Instant::now();
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("\"quick\"") && listed.contains("\"file_read\""), "{listed}");
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
}

#[test]
fn the_end_of_a_job_is_announced_to_its_client() {
    let mut client = Client::new();
    let started = |client: &mut Client, script: &str| {
        client.call("run", json!({ "script": script, "until": { "pattern": "started" } })).job()
    };
    let job = started(&mut client, "echo started; sleep 0.5; exit 3");
    let told = client.notification("notifications/message");
    assert_eq!((&told["params"]["level"], &told["params"]["logger"]), (&json!("info"), &json!("jobs")));
    let data = &told["params"]["data"];
    assert_eq!((&data["job"], &data["status"]["code"]), (&json!(job), &json!(3)));
    let message = data["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("job {job} ended: echo started; sleep 0.5; exit 3 [exit 3 ")),
        "{message}"
    );

    client.ask("logging/setLevel", json!({ "level": "warning" }));
    let job = started(&mut client, "echo started; sleep 0.5");
    let uri = format!("haft://job/{job}");
    client.ask("resources/subscribe", json!({ "uri": uri }));
    assert_eq!(client.notification("notifications/resources/updated")["params"]["uri"], uri);
    let log = client.ask("resources/read", json!({ "uri": uri }));
    assert_eq!(log["result"]["contents"][0]["text"], "started\n");
    assert!(client.notifications.iter().all(|told| told["method"] != "notifications/message"));
}

#[test]
fn kept_jobs_outlive_their_client() {
    let marker = Marker::new();
    let mut client = Client::silent(&["--keep"]);
    client.introduce("2025-06-18", json!({}));
    let script = format!("{} sleep {} & sleep 2; kill %1; echo over > made", child(), marker.as_str());
    client.call("run", json!({ "script": script, "until": { "quiet": 0.2 } }));
    assert!(eventually(SOON, || marker.count() == 1));
    assert_eq!(client.leave(), Some(0));
    assert_eq!(std::fs::read_to_string(client.scratch.file("made")).unwrap(), "over\n");
    assert_eq!(marker.count(), 0);
}

#[test]
fn the_log_is_short() {
    let mut client = Client::silent(&["--verbose"]);
    client.introduce("2025-06-18", json!({}));
    client.run("echo out; exit 3");
    client.call("run", json!({ "scrpt": "true" }));
    assert_eq!(client.leave(), Some(0));
    let log = std::fs::read_to_string(client.scratch.file("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "haft: serving MCP on standard input and output");
    assert_eq!(lines[1], "haft: client test 1 connected, protocol revision 2025-06-18");
    assert!(lines[2].starts_with("haft: run: ") && lines[2].contains("[exit 3 · "), "{log}");
    assert!(lines[3].contains("unknown parameter 'scrpt'"), "{log}");
    assert_eq!(lines[4..], ["haft: client test 1 disconnected"]);
}
