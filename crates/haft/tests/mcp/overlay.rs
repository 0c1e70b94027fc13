//! `haft mcp --overlay`: an agent whose changes wait for the user.

use haft_test_support::{Haft, Scratch};
use serde_json::json;

use crate::client::{Client, HAFT};

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
    assert_eq!(client.leave(), Some(0));
    assert!(project.join("notes").exists() && !project.join("new").exists());

    let haft = |words: &[&str]| Haft::new(HAFT).args(words).env("XDG_STATE_HOME", &state).run().status(0);
    let list = haft(&["changes", "--json"]).output_text();
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let id = list["overlays"][0]["id"].as_str().expect("an overlay");
    let _ = haft(&["changes", "commit", id]);
    assert!(!project.join("notes").exists() && project.join("new").exists());
}
