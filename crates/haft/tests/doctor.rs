//! `haft doctor` and `haft version` from end to end.

use haft_test_support::{Haft, Scratch};
use serde_json::Value;

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.path())
        .env("XDG_STATE_HOME", "")
        .env("XDG_CONFIG_HOME", "")
        .directory(scratch.path())
}

/// The findings of a section.
fn section(report: &Value, name: &str) -> String {
    let sections = report["sections"].as_array().expect("sections");
    let section = sections.iter().find(|section| section["name"] == name);
    section.expect("the section exists")["findings"].to_string()
}

#[test]
fn doctor_tries_what_this_machine_can_do() {
    let scratch = Scratch::new();
    let report = haft(&scratch).args(["doctor", "--json"]).run().json();
    assert!(section(&report, "processes").contains("a deadline ends a detached process too"), "{report}");
    assert!(section(&report, "sandbox").contains("policy 'workspace'"), "{report}");
    assert!(section(&report, "other machines").contains("scatter"), "{report}");
    assert!(section(&report, "storage").contains(".local/state/haft"), "{report}");
    assert!(section(&report, "tools and MCP servers").contains("tools can be called"), "{report}");
    assert_eq!(report["ok"], true, "{report}");
    let text = haft(&scratch).arg("doctor").run().status(0).output_text();
    assert!(text.starts_with("processes\nok       a deadline ends"), "{text}");
}

#[test]
fn doctor_names_the_mistake_in_a_configuration_and_a_server_that_does_not_start() {
    let scratch = Scratch::new();
    let config = scratch.path().join(".config/haft");
    std::fs::create_dir_all(&config).expect("a directory");
    let text =
        "[policy]\npreset = \"wrong\"\n[[mcp]]\nname = \"gone\"\ncommand = [\"/nonexistent/server\"]\n";
    std::fs::write(config.join("config.toml"), text).expect("a file");
    let text = haft(&scratch).arg("doctor").run().status(1).output_text();
    assert!(text.contains("unknown value 'wrong' in [policy]"), "{text}");
    assert!(text.contains("problem  'gone' cannot be used"), "{text}");
}

#[test]
fn the_version_can_be_json() {
    let scratch = Scratch::new();
    for words in [["version", "--json"], ["--version", "--json"]] {
        let report = haft(&scratch).args(words).run().status(0).json();
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
        assert!(report["capabilities"]["landlock_abi"].is_number(), "{report}");
    }
}
