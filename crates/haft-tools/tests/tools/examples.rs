//! The tools and programs in `examples/` work, and the documentation shows the same tools.

use std::path::{Path, PathBuf};

use haft_tools::ToolVerdict;
use serde_json::json;

use crate::fixture::{ToolFixture, call, result};

#[path = "../../examples/embed_registry.rs"]
mod embed_registry;

const DOCUMENTATION: &str = include_str!("../../../../docs/tools.md");

/// The Rust example, which cargo builds next to the test programs.
fn rust_example() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let program = test.ancestors().nth(2).expect("a target directory").join("examples/add_tool");
    assert!(program.exists(), "run `cargo build -p haft-tools --example add_tool` first");
    program
}

#[track_caller]
fn check_add_tool(file: &Path) {
    let fixture = ToolFixture::new();
    std::fs::copy(file, fixture.scratch.file("user/tools/add-tool")).expect("a copy of the example");
    let registry = fixture.registry();
    assert_eq!(result(&call(&registry, "add", json!({"a": 2, "b": 3}))).as_f64(), Some(5.0));
    let findings = registry.check_tool(&fixture.scratch.file("user/tools/add-tool"));
    assert!(findings.iter().all(|finding| finding.verdict != ToolVerdict::Wrong), "{findings:?}");
}

#[test]
fn the_example_tools_in_three_languages_can_be_called() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tools");
    check_add_tool(&examples.join("bash/add-tool"));
    check_add_tool(&examples.join("python/add-tool"));
    check_add_tool(&rust_example());
}

#[test]
fn the_documentation_shows_the_example_tools() {
    assert!(DOCUMENTATION.contains(include_str!("../../examples/tools/bash/add-tool")));
    assert!(DOCUMENTATION.contains(include_str!("../../examples/tools/python/add-tool")));
    assert!(DOCUMENTATION.contains(include_str!("../../examples/add_tool.rs")));
}

#[test]
fn the_registry_can_be_embedded() {
    embed_registry::main();
}
