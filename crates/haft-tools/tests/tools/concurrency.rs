//! Many tools and many concurrent calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use haft_test_support::eventually;
use haft_tools::{BatchCall, CallError, CallOptions};
use serde_json::{Value, json};

use crate::fixture::{ToolFixture, call, result};

#[test]
fn a_hundred_tools_are_found_and_calls_survive_a_refresh() {
    let fixture = ToolFixture::new();
    for number in 0..100 {
        fixture.tool(&format!("t{number}"), "", &format!("echo {number}"));
    }
    let registry = fixture.registry();
    let snapshot = registry.wait_for_all();
    let found = snapshot.tools().filter(|tool| tool.file().is_some()).count();
    assert_eq!(found, 100, "{:?}", snapshot.rejected());
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|threads| {
        for number in 0..20 {
            let (registry, done) = (&registry, &done);
            threads.spawn(move || {
                for _ in 0..3 {
                    let name = format!("t{number}");
                    assert_eq!(result(&call(registry, &name, json!({}))), number);
                }
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        let (registry, stop, fixture) = (&registry, &stop, &fixture);
        threads.spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                // Half of the tools are replaced while they are called.
                for number in (0..20).step_by(2) {
                    fixture.tool(&format!("t{number}"), "\"version\": \"2\"", &format!("echo {number}"));
                }
                registry.refresh();
            }
        });
        let finished = eventually(Duration::from_secs(80), || done.load(Ordering::SeqCst) == 20);
        stop.store(true, Ordering::SeqCst);
        assert!(finished, "{} of 20 are done", done.load(Ordering::SeqCst));
    });
    let snapshot = registry.refresh();
    assert_eq!(snapshot.get("t0").and_then(|tool| tool.descriptor().version.clone()).as_deref(), Some("2"));
}

/// Numbered calls.
fn calls(values: &[Value]) -> impl Iterator<Item = (usize, Result<BatchCall, CallError>)> + Send + use<> {
    let call = |value: &Value| Ok(serde_json::from_value(value.clone()).expect("a call"));
    let calls: Vec<_> = values.iter().map(call).collect();
    calls.into_iter().enumerate()
}

#[test]
fn a_batch_runs_in_parallel_and_answers_in_order() {
    let fixture = ToolFixture::new();
    // Each tool waits until the other has started, so they finish only if they run in parallel.
    let (one, two) = (fixture.scratch.text("one"), fixture.scratch.text("two"));
    let meet =
        |own: &str, other: &str| format!("touch {own}; while [ ! -e {other} ]; do sleep 0.02; done; echo 1");
    fixture.tool("one", "\"access\": \"none\"", &meet(&one, &two));
    fixture.tool("two", "\"access\": \"none\"", &meet(&two, &one));
    let registry = fixture.registry();
    let mut order = Vec::new();
    let calls = calls(&[json!({"tool": "one"}), json!({"tool": "missing"}), json!({"tool": "two"})]);
    registry.batch(calls, 4, &CallOptions::default(), |index, envelope| {
        order.push((index, envelope.code().map(|code| code.as_str())));
    });
    assert_eq!(order, [(0, None), (1, Some("TOOL_NOT_FOUND")), (2, None)]);
}

#[test]
fn a_batch_keeps_the_order_of_writes_and_reads_of_one_file() {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    let mut values = Vec::new();
    for round in 0..5 {
        values.push(json!({"tool": "file_write", "arguments": {"path": "f", "content": format!("{round}")}}));
        values.push(json!({"tool": "file_read", "arguments": {"path": "f"}}));
        values.push(json!({"tool": "file_read", "arguments": {"path": "./f"}}));
    }
    let mut read = Vec::new();
    registry.batch(calls(&values), 8, &CallOptions::default(), |index, envelope| {
        if index % 3 != 0 {
            read.push(result(&envelope)["content"].as_str().expect("text").to_owned());
        }
    });
    assert_eq!(read.join(""), "0011223344");
}

#[test]
fn a_tool_without_declared_access_runs_alone() {
    let fixture = ToolFixture::new();
    let inside = fixture.scratch.text("inside");
    let alone = format!(
        "if ! mkdir {inside}; then echo '\"met\"'; exit; fi; sleep 0.05; rmdir {inside}; echo '\"alone\"'"
    );
    fixture.tool("x", "", &alone);
    let registry = fixture.registry();
    let calls = calls(&vec![json!({"tool": "x"}); 4]);
    let started = Instant::now();
    registry.batch(calls, 4, &CallOptions::default(), |_, envelope| assert_eq!(result(&envelope), "alone"));
    assert!(started.elapsed() >= Duration::from_millis(200));
}
