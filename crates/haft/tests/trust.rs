//! `haft trust` from end to end.

use std::os::unix::fs::PermissionsExt as _;

use haft_test_support::{Haft, Scratch};
use serde_json::json;

/// A project with one tool and a configuration, and a home directory.
fn project() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("project/.haft/tools")).expect("directories");
    std::fs::create_dir_all(scratch.file("project/deep/down")).expect("directories");
    std::fs::create_dir(scratch.file("home")).expect("a directory");
    let tool = scratch.file("project/.haft/tools/x-tool");
    std::fs::write(&tool, "#!/bin/sh\n").expect("a tool");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::write(scratch.file("project/.haft/haft.toml"), "").expect("a file");
    scratch
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.file("home"))
        .env("XDG_STATE_HOME", "")
        .directory(scratch.file("project/deep/down"))
        .arg("trust")
}

#[test]
fn without_a_terminal_files_are_listed_and_not_trusted() {
    let scratch = project();
    let _ = haft(&scratch)
        .run()
        .status(1)
        .stdout("")
        .stderr_has("tools/x-tool")
        .stderr_has("new      configuration")
        .stderr_has("no terminal to ask at")
        .stderr_has("hint: run `haft trust`");
    let _ = haft(&scratch).args(["--list"]).run().status(0).stdout("");
}

#[test]
fn trust_is_granted_listed_lost_by_a_change_and_revoked() {
    let scratch = project();
    let asked = haft(&scratch).arg("--json").run().status(1).json();
    assert_eq!(asked["trusted"], json!(false));
    assert_eq!(asked["files"][1]["kind"], json!("tool"));
    assert_eq!(asked["files"][1]["standing"], json!("new"));

    let _ = haft(&scratch).arg("--yes").run().status(0);
    let listed = haft(&scratch).args(["--list", "--json"]).run().status(0).json();
    assert_eq!(listed["trusted"].as_array().map(Vec::len), Some(2));
    let _ = haft(&scratch).run().status(0).stderr_has("nothing left to trust");

    std::fs::write(scratch.file("project/.haft/tools/x-tool"), "#!/bin/sh\nother\n").expect("a tool");
    let changed = haft(&scratch).arg("--json").run().status(1).json();
    assert_eq!(changed["files"][1]["standing"], json!("changed"));
    assert_eq!(changed["files"][0]["standing"], json!("trusted"));

    let _ = haft(&scratch).run().status(1).stderr_has("x-tool  (changed since you trusted it)");

    let revoked = haft(&scratch).args(["--revoke", "--json"]).run().status(0).json();
    assert_eq!(revoked["revoked"].as_array().map(Vec::len), Some(2));
    let _ = haft(&scratch).args(["--list"]).run().status(0).stdout("");
}

/// Runs on a terminal that `haft spawn --pty` creates.
#[test]
fn a_user_at_a_terminal_is_asked() {
    let scratch = project();
    let own = env!("CARGO_BIN_EXE_haft");
    let ask = |answer: &str| {
        let call = Haft::new(own).env("HOME", scratch.file("home")).env("XDG_STATE_HOME", "");
        let call = call.directory(scratch.file("project")).input(answer);
        let run = call.args(["spawn", "--pty", "--stdin", "-", "--", own, "trust"]).run();
        let seen = run.output_text();
        assert!(
            seen.contains("tools/x-tool") && seen.contains("trust these 2 files? [y/N/v to view again] "),
            "{run}"
        );
        run
    };
    for answer in ["\n", "n\n", "yep\n"] {
        let _ = ask(answer).status(1);
        let _ = haft(&scratch).args(["--list"]).run().status(0).stdout("");
    }
    let _ = ask("y\n").status(0);
    let listed = haft(&scratch).args(["--list", "--json"]).run().status(0).json();
    assert_eq!(listed["trusted"].as_array().map(Vec::len), Some(2));
}

#[test]
fn without_a_project_the_hint_asks_for_paths() {
    let scratch = Scratch::new();
    let _ = Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.path())
        .directory(scratch.path())
        .arg("trust")
        .run()
        .status(1)
        .stderr_has("no project here")
        .stderr_has("hint: name the files");
}

#[test]
fn a_change_is_shown_as_a_difference() {
    let scratch = project();
    let own = env!("CARGO_BIN_EXE_haft");
    let tool = scratch.file("project/.haft/tools/x-tool");
    std::fs::write(&tool, "#!/bin/sh\nfirst\nsecond\n").expect("a tool");
    let _ = haft(&scratch).arg("--yes").run().status(0);
    std::fs::write(&tool, "#!/bin/sh\nfirst\nthird\n").expect("a tool");
    let call = Haft::new(own).env("HOME", scratch.file("home")).env("XDG_STATE_HOME", "").env("PAGER", "cat");
    let call = call.directory(scratch.file("project")).input("n\n");
    let run = call.args(["spawn", "--pty", "--stdin", "-", "--", own, "trust"]).run().status(1);
    let seen = run.output_text().replace('\r', "");
    assert!(
        seen.contains("x-tool (changed since you trusted it)\n #!/bin/sh\n first\n-second\n+third\n"),
        "{seen}"
    );
}

#[test]
fn revoking_says_what_it_did() {
    let scratch = project();
    let _ = haft(&scratch).arg("--revoke").run().status(0).stdout("").stderr_has("nothing to revoke: '");
    let _ = haft(&scratch).arg("--yes").run().status(0);
    let text = haft(&scratch).arg("--revoke").run().status(0).output_text();
    assert!(text.starts_with("no longer trusted: /") && text.lines().count() == 2, "{text}");
}
