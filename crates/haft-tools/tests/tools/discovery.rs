//! Discovery: which files are tools, and why others are rejected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use haft_config::Layer;
use haft_test_support::eventually;
use haft_tools::{RegistryOptions, ToolSnapshot};
use serde_json::json;

use crate::fixture::{ToolFixture, call, error, result, script};

fn reason(snapshot: &ToolSnapshot, name: &str) -> String {
    let rejected = snapshot.rejected().iter().find(|rejected| rejected.name == name);
    rejected.map_or_else(|| panic!("'{name}' was not rejected"), |rejected| rejected.reason.clone())
}

#[test]
fn later_layers_win_and_shadowed_tools_are_listed() {
    let fixture = ToolFixture::new();
    fixture.write("system/x-tool", &script("x", "", "echo '\"system\"'"));
    fixture.write("user/tools/x-tool", &script("x", "", "echo '\"user\"'"));
    fixture.write("user/tools/glob-tool", &script("glob", "", "echo '\"mine\"'"));
    let registry = fixture.registry();
    assert_eq!(result(&call(&registry, "x", json!({}))), "user");
    assert_eq!(result(&call(&registry, "glob", json!({}))), "mine");
    let snapshot = registry.wait_for_all();
    let shadowed: Vec<_> =
        snapshot.shadowed().iter().map(|one| (one.name.as_str(), one.layer, one.by)).collect();
    assert!(shadowed.contains(&("x", Layer::System, Layer::User)), "{shadowed:?}");
    assert!(shadowed.contains(&("glob", Layer::Embedded, Layer::User)), "{shadowed:?}");
    assert_eq!(snapshot.rejected(), []);
}

#[test]
fn files_without_the_name_or_mode_of_a_tool_are_ignored() {
    let fixture = ToolFixture::new();
    let marker = fixture.scratch.text("marker");
    fixture.write("user/tools/other", &format!("#!/bin/sh\ntouch {marker}\n"));
    std::fs::write(fixture.scratch.file("user/tools/plain-tool"), "#!/bin/sh\n").expect("a file");
    std::fs::create_dir(fixture.scratch.file("user/tools/directory-tool")).expect("a directory");
    let snapshot = fixture.registry().wait_for_all();
    assert!(snapshot.get("plain").is_none() && snapshot.get("directory").is_none());
    assert_eq!(snapshot.rejected(), []);
    assert!(!fixture.scratch.file("marker").exists());
}

#[test]
fn rejected_tools_are_listed_with_reasons() {
    let fixture = ToolFixture::new();
    let tool = |name: &str, text: &str| {
        fixture.write(&format!("user/tools/{name}-tool"), &format!("#!/bin/sh\n{text}\n"));
    };
    tool("text", "echo hello");
    tool("half", "echo '{\"name\": \"half\", '");
    tool("three", "echo oh dear >&2; exit 3");
    tool("dead", "kill -SEGV $$");
    tool("silent", "exit 0");
    tool("large", "head -c 2000000 /dev/zero | tr '\\0' ' '; sleep 60");
    tool(
        "typed",
        "echo '{\"name\": \"typed\", \"description\": \"\", \"parameters\": {\"type\": \"objekt\"}}'",
    );
    tool(
        "invalid",
        "echo '{\"name\": \"invalid\", \"description\": \"\", \"parameters\": {\"properties\": {\"a\": {\"minimum\": \"x\"}}}}'",
    );
    tool("other", "echo '{\"name\": \"another\", \"description\": \"\", \"parameters\": {}}'");
    tool("bytes", "printf '\\377'");
    fixture.write("user/tools/interpreted-tool", "#!/no/such/interpreter\n");
    let started = Instant::now();
    let snapshot = fixture.registry().wait_for_all();
    assert!(started.elapsed() < Duration::from_secs(15));
    let starts = [
        ("text", "the schema is not JSON at byte 0"),
        ("half", "the schema is not JSON at byte 18"),
        ("three", "`--schema` exited with 3: oh dear"),
        ("dead", "`--schema` was killed by SIGSEGV"),
        ("silent", "the schema is empty"),
        ("large", "the schema is larger than 1 MiB"),
        ("typed", "bad schema at /parameters/type: "),
        ("invalid", "bad schema at /parameters/properties/a/minimum: "),
        ("other", "its schema says 'another', but its file name says 'other'"),
        ("bytes", "the schema is not UTF-8 at byte 0"),
        ("interpreted", "cannot run "),
    ];
    for (name, start) in starts {
        let reason = reason(&snapshot, name);
        assert!(reason.starts_with(start), "{name}: {reason}");
    }
    assert_eq!(snapshot.rejected().len(), starts.len());
}

#[test]
fn a_slow_schema_is_rejected_in_time_and_its_processes_end() {
    let fixture = ToolFixture::new();
    let ready = fixture.scratch.text("ready");
    fixture.write(
        "user/tools/slow-tool",
        &format!("#!/bin/sh\n(trap '' TERM; echo $$ > {ready}; sleep 100) & sleep 100\n"),
    );
    let options = RegistryOptions { schema_timeout: Duration::from_millis(1500), ..fixture.options() };
    let registry = fixture.registry_with(options);
    let started = Instant::now();
    let snapshot = registry.wait_for_all();
    assert_eq!(reason(&snapshot, "slow"), "`--schema` did not answer within 1.5 s");
    assert!(started.elapsed() < Duration::from_secs(20));
    let (code, text) = error(&call(&registry, "slow", json!({})));
    assert_eq!(code, "DISABLED");
    assert!(text.contains("`--schema` did not answer within 1.5 s"), "{text}");
}

#[test]
fn a_call_waits_for_its_own_tool_only() {
    let fixture = ToolFixture::new();
    fixture.write("user/tools/slow-tool", "#!/bin/sh\nsleep 100\n");
    fixture.tool("quick", "", "echo 1");
    let registry = fixture.registry();
    registry.start_discovery();
    let started = Instant::now();
    assert_eq!(result(&call(&registry, "quick", json!({}))), 1);
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(!registry.snapshot().is_complete());
    // Dropping the registry does not wait for the slow tool either.
    drop(registry);
    assert!(started.elapsed() < Duration::from_secs(18));
}

#[test]
fn schemas_are_cached_until_the_content_changes() {
    let fixture = ToolFixture::new();
    let log = fixture.scratch.text("log");
    let text = |version: &str| {
        script("x", &format!("\"version\": \"{version}\""), "echo 1")
            .replace("cat <<", &format!("echo >> {log}\ncat <<"))
    };
    let path = fixture.write("user/tools/x-tool", &text("1"));
    for _ in 0..3 {
        assert!(fixture.registry().wait_for_all().get("x").is_some());
    }
    assert_eq!(fixture.scratch.lines("log"), 1);
    // A new modification time, but the same content.
    std::fs::File::open(&path)
        .and_then(|file| file.set_modified(std::time::SystemTime::now()))
        .expect("a time");
    assert!(fixture.registry().wait_for_all().get("x").is_some());
    assert_eq!(fixture.scratch.lines("log"), 1);
    fixture.write("user/tools/x-tool", &text("2"));
    let registry = fixture.registry();
    let snapshot = registry.wait_for_all();
    let version = snapshot.get("x").and_then(|tool| tool.descriptor().version.clone());
    assert_eq!((version.as_deref(), fixture.scratch.lines("log")), (Some("2"), 2));
    // A corrupt cache only means another probe.
    std::fs::write(fixture.scratch.file("cache/tools.json"), "{").expect("a file");
    assert!(fixture.registry().wait_for_all().get("x").is_some());
    assert_eq!(fixture.scratch.lines("log"), 3);
}

#[test]
fn project_tools_do_not_run_until_they_are_trusted() {
    let fixture = ToolFixture::new();
    let log = fixture.scratch.text("log");
    let text = script("x", "", "echo 1").replacen("if", &format!("echo >> {log}\nif"), 1);
    fixture.write("project/.haft/tools/x-tool", &text);
    let registry = fixture.registry();
    let (code, text) = error(&call(&registry, "x", json!({})));
    assert_eq!(code, "NOT_TRUSTED");
    assert!(text.ends_with("run `haft trust` to trust it"), "{text}");
    assert!(registry.wait_for_all().rejected()[0].untrusted);
    assert_eq!(fixture.scratch.lines("log"), 0);

    fixture.trust_file("project/.haft/tools/x-tool");
    assert_eq!(result(&call(&registry, "x", json!({}))), 1);
    fixture.write("project/.haft/tools/x-tool", &script("x", "", "echo 2"));
    assert_eq!(error(&call(&registry, "x", json!({}))).0, "NOT_TRUSTED");
    fixture.trust_file("project/.haft/tools/x-tool");
    assert_eq!(result(&call(&registry, "x", json!({}))), 2);
}

#[test]
fn an_untrusted_tool_replaces_no_other() {
    let fixture = ToolFixture::new();
    fixture.write("project/.haft/tools/x-tool", &script("x", "", "echo '\"project\"'"));
    fixture.tool("x", "", "echo '\"user\"'");
    let registry = fixture.registry();
    assert_eq!(result(&call(&registry, "x", json!({}))), "user");
    assert_eq!(registry.wait_for_all().get("x").map(|tool| tool.layer()), Some(Layer::User));
    fixture.trust_file("project/.haft/tools/x-tool");
    assert_eq!(result(&call(&registry, "x", json!({}))), "project");
    assert_eq!(registry.refresh().get("x").map(|tool| tool.layer()), Some(Layer::Project));
}

#[test]
fn a_note_reports_a_broken_tool_of_higher_precedence() {
    let fixture = ToolFixture::new();
    fixture.write("user/tools/glob-tool", "#!/bin/sh\nexit 3\n");
    let registry = fixture.registry();
    let envelope = call(&registry, "glob", json!({"pattern": "*"}));
    assert!(envelope.is_success());
    let path = fixture.scratch.text("user/tools/glob-tool");
    let expected =
        format!("skipped '{path}' (`--schema` exited with 3); called 'glob' of the embedded layer instead");
    assert_eq!(envelope.notes, [expected.as_str()]);
    assert_eq!(serde_json::to_value(&envelope).expect("JSON")["notes"], json!([expected]));
    let snapshot = registry.wait_for_all();
    let rejected = &snapshot.rejected()[0];
    assert_eq!((rejected.name.as_str(), rejected.instead), ("glob", Some(Layer::Embedded)));
    fixture.tool("glob", "", "echo 1");
    let envelope = call(&registry, "glob", json!({}));
    assert_eq!((result(&envelope), envelope.notes.len()), (json!(1), 0));
}

#[test]
fn new_and_changed_tools_are_found_without_a_refresh() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    registry.wait_for_all();
    assert_eq!(error(&call(&registry, "late", json!({}))).0, "TOOL_NOT_FOUND");
    fixture.tool("late", "", "echo 1");
    assert!(registry.has("late"));
    assert_eq!(result(&call(&registry, "late", json!({}))), 1);
    fixture.tool("late", "\"parameters\": {\"required\": [\"a\"]}", "echo 2");
    assert_eq!(
        error(&call(&registry, "late", json!({}))),
        ("INVALID_PARAMS", "parameter 'a' is missing".to_owned())
    );
}

#[test]
fn subscribers_are_notified_of_changes_only() {
    let fixture = ToolFixture::new();
    fixture.tool("a", "", "echo 1");
    let registry = fixture.registry();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    registry.subscribe(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    registry.wait_for_all();
    assert!(eventually(Duration::from_secs(20), || heard.load(Ordering::SeqCst) == 1));
    registry.refresh();
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    fixture.tool("b", "", "echo 1");
    registry.refresh();
    assert_eq!(heard.load(Ordering::SeqCst), 2);
}
