//! Core tools that search files and lines.

use std::time::{Duration, SystemTime};

use haft_tools::Registry;
use serde_json::{Value, json};

use crate::fixture::{ToolFixture, call, error, result};

fn ready() -> (ToolFixture, Registry) {
    let fixture = ToolFixture::new();
    let files = [
        ("a.rs", "fn a() {}\n"),
        ("src/b.rs", "// above\nfn b() {}\n// below\n"),
        ("src/deep/c.rs", "fn c() {}\nfn d() {}\n"),
        ("src/d.txt", "fn text\n"),
        (".hidden/e.rs", "fn e() {}\n"),
        ("target/f.rs", "fn f() {}\n"),
        (".gitignore", "target\n"),
        ("binary", "fn \0 binary\n"),
    ];
    for (age, (name, content)) in files.iter().enumerate() {
        let path = fixture.scratch.file("work").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, content).expect("a file");
        let time = SystemTime::now() - Duration::from_secs(1000 * (age as u64 + 1));
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(time))
            .expect("a time");
    }
    let registry = fixture.registry();
    (fixture, registry)
}

#[test]
fn glob_returns_the_newest_files_first_without_ignored_ones() {
    let (_scene, registry) = ready();
    let glob = |arguments: Value| result(&call(&registry, "glob", arguments))["files"].clone();
    assert_eq!(glob(json!({"pattern": "**/*.rs"})), json!(["a.rs", "src/b.rs", "src/deep/c.rs"]));
    assert_eq!(glob(json!({"pattern": "*.rs"})), json!(["a.rs"]));
    assert_eq!(glob(json!({"pattern": "src/*"})), json!(["src/b.rs", "src/d.txt"]));
    assert_eq!(
        glob(json!({"pattern": "**/*.{rs,txt}", "path": "src"})),
        json!(["src/b.rs", "src/deep/c.rs", "src/d.txt"])
    );
    assert_eq!(
        glob(json!({"pattern": "**/*.rs", "hidden": true, "ignored": true})).as_array().map(Vec::len),
        Some(5)
    );
    assert_eq!(glob(json!({"pattern": ".hidden/*"})), json!([".hidden/e.rs"]));
    assert_eq!(glob(json!({"pattern": "no/such/*"})), json!([]));
    let few = result(&call(&registry, "glob", json!({"pattern": "**/*.rs", "limit": 1})));
    assert_eq!((&few["total"], &few["truncated"]), (&json!(3), &json!(true)));
    assert_eq!(error(&call(&registry, "glob", json!({"pattern": "[a"}))).0, "INVALID_PARAMS");
}

#[test]
fn grep_returns_lines_with_context() {
    let (_scene, registry) = ready();
    let grep = |arguments: Value| result(&call(&registry, "grep", arguments));
    let found = grep(json!({"pattern": "^fn [ab]", "context": 1}));
    assert_eq!(
        found["matches"],
        json!([
            {"path": "a.rs", "line": 1, "text": "fn a() {}"},
            {"path": "src/b.rs", "line": 2, "text": "fn b() {}", "before": ["// above"], "after": ["// below"]},
        ])
    );
    assert_eq!(
        grep(json!({"pattern": "fn", "output": "files", "glob": "*.rs"}))["files"],
        json!(["a.rs", "src/b.rs", "src/deep/c.rs"])
    );
    assert_eq!(
        grep(json!({"pattern": "FN", "ignore_case": true, "output": "counts", "path": "src"}))["counts"],
        json!([{"path": "src/b.rs", "count": 1}, {"path": "src/d.txt", "count": 1}, {"path": "src/deep/c.rs", "count": 2}])
    );
    let few = grep(json!({"pattern": "fn", "limit": 2}));
    assert_eq!((few["matches"].as_array().map(Vec::len), &few["truncated"]), (Some(2), &json!(true)));
    assert_eq!(grep(json!({"pattern": "a() {", "fixed": true}))["total"], 1);
    assert_eq!(grep(json!({"pattern": "c.*\\n.*d", "multiline": true}))["matches"][0]["line"], 1);
    assert_eq!(grep(json!({"pattern": "fn", "path": "src/d.txt"}))["total"], 1);
    assert_eq!(error(&call(&registry, "grep", json!({"pattern": "("}))).0, "INVALID_PARAMS");
    assert_eq!(
        error(&call(&registry, "grep", json!({"pattern": "x", "path": "missing"}))).0,
        "INVALID_PARAMS"
    );
    let unreadable = result(&call(&registry, "grep", json!({"pattern": "x", "path": "/proc/self/mem"})));
    assert_eq!((&unreadable["total"], &unreadable["unreadable"]), (&json!(0), &json!(1)));
}
