//! Overlays over MCP: scripts whose changes wait for a decision of the agent or the user.

use std::time::Duration;

use haft_test_support::{Haft, Scratch, eventually};
use serde_json::json;

use crate::client::{Client, HAFT};

/// A client of a server whose project is the directory `project`, with the file `notes`.
fn in_project(arguments: &[&str]) -> Client {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.file("project")).expect("a directory");
    std::fs::write(scratch.file("project/notes"), "one\n").expect("a file");
    let state = scratch.text("state");
    let mut client = Client::start(scratch, arguments, &[("XDG_STATE_HOME", &state)]);
    client.introduce("2025-06-18", json!({}));
    client
}

#[test]
fn an_agents_changes_wait_in_the_overlay() {
    let scratch = Scratch::new();
    let project = scratch.file("project");
    std::fs::create_dir(&project).expect("a directory");
    std::fs::write(project.join("notes"), "one\n").expect("a file");
    let (state, tree) = (scratch.text("state"), project.display().to_string());
    let overlay = format!("--overlay={tree}");
    let mut client = Client::start(scratch, &[&overlay], &[("XDG_STATE_HOME", &state)]);
    client.introduce("2025-06-18", json!({}));
    let reply = client.run(&format!("cd {tree}; rm notes; echo x > new; ls"));
    assert!(reply.text().starts_with("new\n"), "{}", reply.text());
    let written = json!({ "path": format!("{tree}/other"), "content": "y\n" });
    assert!(!client.call("file_write", written).is_error());
    let shown = client.call("changes", json!({ "action": "show" }));
    assert!(shown.text().starts_with("A new\nD notes\nA other\n"), "{}", shown.text());
    let refused = client.call("changes", json!({ "action": "commit" }));
    assert!(refused.text().contains("when the server has ended"), "{}", refused.text());
    assert_eq!(client.leave(), Some(0));
    assert!(project.join("notes").exists() && !project.join("new").exists());

    let haft = |words: &[&str]| Haft::new(HAFT).args(words).env("XDG_STATE_HOME", &state).run().status(0);
    let list = haft(&["changes", "--json"]).output_text();
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let id = list["overlays"][0]["id"].as_str().expect("an overlay");
    let _ = haft(&["changes", "commit", id]);
    assert!(!project.join("notes").exists() && project.join("new").exists());
}

#[test]
fn a_script_runs_in_an_overlay_and_is_committed_and_undone() {
    let mut client = in_project(&[]);
    let project = client.scratch.file("project");
    // Redirections, globs and tests of this process see the same files as programs.
    let script = "rm notes; echo new > made; [[ ! -e notes && -s made ]] && cat * && /bin/cat ./made";
    let reply = client.call("run", json!({ "script": script, "cwd": "project", "overlay": true }));
    assert!(reply.text().starts_with("new\nnew\n"), "{}", reply.text());
    assert!(reply.text().contains("]\nA made\nD notes\n[overlay"), "{}", reply.text());
    assert!(project.join("notes").exists() && !project.join("made").exists());
    let id = reply.data()["overlay"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(reply.data()["overlay"]["counts"]["added"], 1);

    let continued = json!({ "script": "echo more >> made", "cwd": "project", "overlay": id });
    assert!(client.call("run", continued).text().contains("2 changed paths: 1 added, 1 deleted"));
    let patch = client.call("changes", json!({ "action": "diff", "paths": ["made"] }));
    assert!(patch.text().ends_with("+new\n+more\n"), "{}", patch.text());

    let committed = client.call("changes", json!({ "action": "commit", "id": id }));
    assert!(committed.text().starts_with("committed 2 paths"), "{}", committed.text());
    assert!(!project.join("notes").exists() && project.join("made").exists());
    let undone = client.call("changes", json!({ "action": "undo" }));
    assert!(undone.text().starts_with("took 2 paths back"), "{}", undone.text());
    assert!(project.join("notes").exists() && !project.join("made").exists());
    let _ = client.call("changes", json!({ "action": "discard" }));
    assert_eq!(client.call("changes", json!({})).text(), "no overlays\n");
}

#[test]
fn a_session_stays_in_its_overlay_and_gets_a_new_one_after_a_commit() {
    let mut client = in_project(&[]);
    let project = client.scratch.file("project");
    let opened = client.call("run", json!({ "script": "cd project", "session": "s" }));
    assert!(!opened.text().contains("overlay"), "{}", opened.text());
    let changed =
        client.call("run", json!({ "script": "x=1; echo two > notes", "session": "s", "overlay": true }));
    let id = changed.data()["overlay"]["id"].as_str().expect("an id").to_owned();
    let next = client.call("run", json!({ "script": "echo $x; cat notes", "session": "s" }));
    assert!(next.text().starts_with("1\ntwo\n"), "{}", next.text());
    assert_eq!(next.data()["overlay"]["id"], id.as_str());
    let elsewhere = client.call("run", json!({ "script": "cat project/notes" }));
    assert!(elsewhere.text().starts_with("one\n"), "{}", elsewhere.text());
    let outside = client.call("run", json!({ "script": ":", "session": "s", "overlay": false }));
    assert!(outside.text().contains("this session works in overlay"), "{}", outside.text());

    let _ = client.call("changes", json!({ "action": "commit" }));
    assert_eq!(std::fs::read_to_string(project.join("notes")).expect("the file"), "two\n");
    let after = client.call("run", json!({ "script": "echo three > notes; echo $x", "session": "s" }));
    assert!(after.text().starts_with("1\n") && after.text().contains("\nM notes\n"), "{}", after.text());
    assert_ne!(after.data()["overlay"]["id"], id.as_str());
    assert_eq!(std::fs::read_to_string(project.join("notes")).expect("the file"), "two\n");
}

fn is_committed(client: &mut Client) -> bool {
    client.call("changes", json!({ "action": "commit" })).text().starts_with("committed")
}

#[test]
fn an_overlay_in_use_is_not_committed() {
    let mut client = in_project(&[]);
    let background = json!({
        "script": "echo two > notes; sleep 1000 & echo started",
        "session": "s", "cwd": "project", "overlay": true,
    });
    let started = client.call("run", background);
    assert!(started.text().starts_with("started\n"), "{}", started.text());
    let refused = client.call("changes", json!({ "action": "commit" }));
    assert!(refused.text().contains("is in use"), "{}", refused.text());
    let _ = client.call("run", json!({ "script": "kill $!; wait", "session": "s" }));
    assert!(eventually(Duration::from_secs(60), || is_committed(&mut client)));
}

#[test]
fn an_overlay_is_free_when_the_background_process_has_ended() {
    let mut client = in_project(&[]);
    let background = json!({
        "script": "echo two > notes; sleep 0.2 & echo started",
        "session": "s", "cwd": "project", "overlay": true,
    });
    let _ = client.call("run", background);
    assert!(eventually(Duration::from_secs(60), || is_committed(&mut client)));
}

#[test]
fn commits_can_be_left_to_the_user() {
    let mut client = in_project(&["--overlay-commit", "person"]);
    let script = json!({ "script": "echo two > notes", "cwd": "project", "overlay": true });
    let _ = client.call("run", script);
    let refused = client.call("changes", json!({ "action": "commit" }));
    assert!(refused.text().contains("ask the user to run `haft changes commit"), "{}", refused.text());
}

#[test]
fn file_tools_work_in_an_overlay() {
    let mut client = in_project(&[]);
    let project = client.scratch.file("project");
    let script =
        json!({ "script": "echo two > notes; echo needle > made", "cwd": "project", "overlay": true });
    let id = client.call("run", script).data()["overlay"]["id"].as_str().expect("an id").to_owned();
    let real = client.call("file_read", json!({ "path": "project/notes" }));
    assert!(real.text().contains("one"), "{}", real.text());
    let read = client.call("file_read", json!({ "path": "project/notes", "overlay": id }));
    assert!(read.text().contains("two"), "{}", read.text());
    let found = client.call("grep", json!({ "pattern": "needle", "path": "project", "overlay": id }));
    assert!(found.text().contains("made"), "{}", found.text());
    let edit = json!({ "path": "project/notes", "old": "two", "new": "three", "overlay": id });
    let _ = client.call("file_edit", edit);
    let write = json!({ "path": "project/written", "content": "x\n", "overlay": id });
    let _ = client.call("file_write", write);
    assert_eq!(std::fs::read_to_string(project.join("notes")).expect("the file"), "one\n");
    assert!(!project.join("written").exists());
    let listed = client.call("changes", json!({ "action": "show", "id": id }));
    assert!(listed.text().contains("A written"), "{}", listed.text());
    let _ = client.call("changes", json!({ "action": "commit", "id": id }));
    assert_eq!(std::fs::read_to_string(project.join("notes")).expect("the file"), "three\n");
    let unknown = client.call("file_read", json!({ "path": "project/notes", "overlay": "nope" }));
    assert!(unknown.text().contains("unknown overlay"), "{}", unknown.text());
}

#[test]
fn a_script_that_exceeds_its_disk_limit_ends_and_keeps_its_changes() {
    let mut client = in_project(&[]);
    let script = "while :; do head -c 100000 /dev/zero >> big; done";
    let limited =
        json!({ "script": script, "cwd": "project", "overlay": true, "limits": { "disk": 1_000_000 } });
    let run = client.call("run", limited);
    assert!(run.text().contains("disk limit of 1000000 bytes exceeded"), "{}", run.text());
    assert!(run.text().contains("A big"), "{}", run.text());
    let refused = client.call("run", json!({ "script": ":", "limits": { "disk": 1_000_000 } }));
    assert!(refused.text().contains("needs 'overlay'"), "{}", refused.text());
}
