//! Project tools that are replaced while they are called: untrusted content never runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::fixture::{ToolFixture, call, error, result, script};

const TOOL: &str = "project/.haft/tools/x-tool";

/// Replaces the content of a file.
type Swap = fn(&Path, &str);

fn by_rename(path: &Path, text: &str) {
    let new = path.with_extension("swap");
    fs::write(&new, text).expect("a file");
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::rename(&new, path).expect("a place");
}

fn in_place(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
}

fn by_link(path: &Path, text: &str) {
    let other = path.with_extension("other");
    fs::write(&other, text).expect("a file");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    let link = path.with_extension("link");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    fs::rename(&link, path).expect("a place");
}

#[test]
fn a_tool_replaced_during_calls_never_runs_other_code() {
    for swap in [by_rename as Swap, in_place, by_link] {
        let fixture = ToolFixture::new();
        let log = fixture.scratch.text("log");
        let good = script("x", "", "echo 1");
        let evil = good.replacen("if", &format!("echo evil >> {log}\nif"), 1);
        let path = fixture.write(TOOL, &good);
        fixture.trust_file(TOOL);
        let registry = fixture.registry();
        let done = AtomicBool::new(false);
        let answered = std::thread::scope(|threads| {
            threads.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    swap(&path, &evil);
                    swap(&path, &good);
                    std::thread::yield_now();
                }
            });
            let calls = (0..100).map(|_| call(&registry, "x", json!({})));
            let answered = calls.filter(|envelope| envelope.is_success()).count();
            done.store(true, Ordering::Relaxed);
            answered
        });
        assert_eq!(fixture.scratch.lines("log"), 0, "of {answered} calls that were answered");
        in_place(&path, &evil);
        assert_eq!(error(&call(&registry, "x", json!({}))).0, "NOT_TRUSTED");
        assert_eq!(fixture.scratch.lines("log"), 0);
    }
}

#[test]
fn a_trusted_script_finds_files_next_to_it() {
    let fixture = ToolFixture::new();
    fixture.write("project/.haft/tools/library.sh", "answer=42\n");
    fixture.write(TOOL, &script("x", "", ". \"$HAFT_TOOL_DIR/library.sh\"; echo $answer"));
    fixture.write("user/tools/y-tool", &script("y", "", "echo \\\"$HAFT_TOOL_PATH\\\""));
    fixture.trust_file(TOOL);
    let registry = fixture.registry();
    assert_eq!(result(&call(&registry, "x", json!({}))), 42);
    assert_eq!(result(&call(&registry, "y", json!({}))), fixture.scratch.text("user/tools/y-tool"));
}

#[test]
fn a_huge_file_is_not_hashed_to_check_its_trust() {
    let fixture = ToolFixture::new();
    fixture.write(TOOL, &script("x", "", "echo 1"));
    let huge = fixture.write("project/.haft/tools/huge-tool", "");
    fs::File::options().write(true).open(&huge).and_then(|file| file.set_len(50 << 30)).expect("a size");
    let snapshot = fixture.registry().wait_for_all();
    let reason = |name: &str| {
        let found = snapshot.rejected().iter().find(|one| one.name == name).map(|one| one.reason.clone());
        found.unwrap_or_default()
    };
    assert_eq!(reason("huge"), "it is larger than 256 MiB");
    assert_eq!(reason("x"), "not trusted; run `haft trust` to trust it");
}

#[test]
fn a_tool_that_others_can_write_replaces_no_other() {
    let fixture = ToolFixture::new();
    fixture.tool("glob", "", "echo '\"mine\"'");
    let mode = |place: &str, mode| {
        let path = fixture.scratch.file(place);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let registry = fixture.registry();
    for (directory, file, mine) in [(0o755, 0o755, true), (0o777, 0o755, false), (0o755, 0o777, false)] {
        mode("user/tools", directory);
        mode("user/tools/glob-tool", file);
        let envelope = call(&registry, "glob", json!({"pattern": "*"}));
        assert_eq!(result(&envelope) == "mine", mine, "{directory:o} {file:o}");
        let noted = envelope.notes.iter().any(|note| note.contains("other users may write to"));
        assert_eq!(noted, !mine, "{:?}", envelope.notes);
    }
}

#[test]
fn a_tools_directory_with_too_many_entries_is_rejected() {
    let fixture = ToolFixture::new();
    let directory = fixture.scratch.file("project/.haft/tools");
    for number in 0..10_001 {
        fs::File::create(directory.join(format!("n{number}"))).expect("a file");
    }
    let snapshot = fixture.registry().wait_for_all();
    let rejected = &snapshot.rejected()[0];
    assert_eq!(rejected.path.as_ref(), Some(&directory));
    assert_eq!(rejected.reason, "the directory has more than 10000 entries");
}

#[test]
fn a_link_that_leaves_the_project_is_not_followed() {
    let fixture = ToolFixture::new();
    let outside = fixture.write("work/x-tool", &script("x", "", "echo 1"));
    std::os::unix::fs::symlink(&outside, fixture.scratch.file(TOOL)).expect("a link");
    fixture.trust_file(TOOL);
    let (code, text) = error(&call(&fixture.registry(), "x", json!({})));
    assert_eq!(code, "DISABLED");
    assert!(text.contains("it points outside the project"), "{text}");
}
