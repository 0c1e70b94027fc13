//! Core tools that read and change files.

use std::os::unix::fs::PermissionsExt;

use haft_tools::Registry;
use serde_json::{Value, json};

use crate::fixture::{ToolFixture, call, error, result};

fn ready() -> (ToolFixture, Registry) {
    let fixture = ToolFixture::new();
    let registry = fixture.registry();
    (fixture, registry)
}

fn put(fixture: &ToolFixture, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(fixture.scratch.file("work").join(name), content).expect("a file");
}

fn get(fixture: &ToolFixture, name: &str) -> Vec<u8> {
    std::fs::read(fixture.scratch.file("work").join(name)).expect("a file")
}

#[test]
fn file_read_returns_any_range_of_lines() {
    let (fixture, registry) = ready();
    put(&fixture, "f", "one\ntwo\nthree\nfour");
    let read = |arguments: Value| result(&call(&registry, "file_read", arguments));
    let all = read(json!({"path": "f"}));
    assert_eq!(all["content"], "one\ntwo\nthree\nfour");
    assert_eq!((&all["total_lines"], &all["truncated"]), (&json!(4), &json!(false)));
    let part = read(json!({"path": "f", "offset": 2, "limit": 2, "line_numbers": true}));
    assert_eq!(part["content"], "     2\ttwo\n     3\tthree\n");
    assert_eq!((&part["truncated"], &part["next_offset"]), (&json!(true), &json!(4)));
    assert_eq!(read(json!({"path": "f", "offset": 9}))["content"], "");
    put(&fixture, "latin", b"gr\xfcn\n");
    assert_eq!(read(json!({"path": "latin"}))["lossy"], true);
    put(&fixture, "empty", "");
    assert_eq!(read(json!({"path": "empty"}))["total_lines"], 0);
    put(&fixture, "long", "x".repeat(1 << 20));
    let long = read(json!({"path": "long"}));
    assert_eq!(long["cut_line"], 1);
    // A line that does not fit is left for the next request.
    put(&fixture, "two", format!("{}\n{}\n", "a".repeat(200 << 10), "b".repeat(100 << 10)));
    let first = read(json!({"path": "two"}));
    assert_eq!((&first["lines"], &first["next_offset"]), (&json!(1), &json!(2)));
    let second = read(json!({"path": "two", "offset": 2}));
    assert_eq!(second["content"].as_str().map(str::len), Some((100 << 10) + 1));
    assert_eq!((&second["truncated"], &second["total_lines"]), (&json!(false), &json!(2)));
    assert_eq!((long["content"].as_str().map(str::len), &long["truncated"]), (Some(256 << 10), &json!(true)));
}

#[test]
fn file_read_refuses_binary_files_with_their_type() {
    let (fixture, registry) = ready();
    put(&fixture, "image", b"\x89PNG\r\n\x1a\n\0\0");
    let refused = |path: &str| error(&call(&registry, "file_read", json!({"path": path}))).1;
    assert!(refused("image").ends_with("is not text: PNG image"));
    assert!(refused(".").contains("is a directory"));
    assert!(refused("missing").ends_with("no such file or directory"));
    assert!(refused("/dev/zero").ends_with("is not a regular file"));
}

#[test]
fn file_write_creates_directories_and_keeps_mode_and_links() {
    let (fixture, registry) = ready();
    let write = |path: &str, content: &str| {
        result(&call(&registry, "file_write", json!({"path": path, "content": content})))
    };
    assert_eq!(write("a/b/f", "one")["created"], true);
    let path = fixture.scratch.file("work/a/b/f");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o750)).expect("a mode");
    std::os::unix::fs::symlink("a/b/f", fixture.scratch.file("work/link")).expect("a link");
    assert_eq!(write("link", "two\0three")["created"], false);
    assert_eq!(get(&fixture, "a/b/f"), b"two\0three");
    assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o750);
    assert!(fixture.scratch.file("work/link").is_symlink());
    assert_eq!(std::fs::read_dir(path.parent().expect("a parent")).expect("a directory").count(), 1);
    let refused = |path: &str| error(&call(&registry, "file_write", json!({"path": path, "content": ""})));
    assert_eq!(refused("a/b").0, "INVALID_PARAMS");
    assert_eq!(refused("a/b/f/below").0, "INVALID_PARAMS");
    std::os::unix::fs::symlink("later", fixture.scratch.file("work/a/ahead")).expect("a link");
    assert_eq!(write("a/ahead", "three")["created"], true);
    assert_eq!(get(&fixture, "a/later"), b"three");
    assert!(fixture.scratch.file("work/a/ahead").is_symlink());
}

/// The caller can correct invalid parameters, but not failures of the system.
#[test]
fn invalid_parameters_and_system_failures_have_different_codes() {
    let (fixture, registry) = ready();
    put(&fixture, "image", b"\x89PNG\r\n\x1a\n\0\0");
    let code = |tool: &str, arguments: Value| error(&call(&registry, tool, arguments)).0;
    for (tool, arguments) in [
        ("file_read", json!({"path": "missing"})),
        ("file_read", json!({"path": "."})),
        ("file_read", json!({"path": "image"})),
        ("file_read", json!({"path": "image/below"})),
        ("file_edit", json!({"path": "missing", "old": "a", "new": "b"})),
        ("file_edit", json!({"path": "image", "old": "not there", "new": "b"})),
        ("grep", json!({"pattern": "x", "path": "missing"})),
        ("grep", json!({"pattern": "("})),
        ("process_read", json!({"id": "p1"})),
        ("output", json!({"id": "o1"})),
    ] {
        assert_eq!(code(tool, arguments.clone()), "INVALID_PARAMS", "{tool} {arguments}");
    }
    assert_eq!(code("file_read", json!({"path": "/proc/self/mem"})), "TOOL_CRASHED");
}

#[test]
fn file_edit_requires_a_unique_match_unless_all_are_replaced() {
    let (fixture, registry) = ready();
    put(&fixture, "f", "let a = 1;\nlet b = 1;\n");
    let edit = |arguments: Value| call(&registry, "file_edit", arguments);
    let twice = error(&edit(json!({"path": "f", "old": "= 1", "new": "= 2"}))).1;
    assert!(twice.contains("at lines 1, 2"), "{twice}");
    let one = result(&edit(json!({"path": "f", "old": "b = 1", "new": "b = 2"})));
    assert_eq!((&one["replacements"], &one["lines"]), (&json!(1), &json!([2])));
    let missing = error(&edit(json!({"path": "f", "old": "let  a = 1;", "new": "x"}))).1;
    assert!(missing.contains("the most similar text is at line 1:\nlet a = 1;"), "{missing}");
    assert_eq!(
        result(&edit(json!({"path": "f", "old": "let ", "new": "", "replace_all": true})))["replacements"],
        2
    );
    assert_eq!(get(&fixture, "f"), b"a = 1;\nb = 2;\n");
    assert_eq!(error(&edit(json!({"path": "f", "old": "a", "new": "a"}))).0, "INVALID_PARAMS");
}

#[test]
fn file_edit_keeps_crlf_nul_and_invalid_bytes() {
    let (fixture, registry) = ready();
    put(&fixture, "f", b"one\r\ntwo\r\n\0\xff\r\nthree\r\n");
    let edit = |old: &str, new: &str| {
        result(&call(&registry, "file_edit", json!({"path": "f", "old": old, "new": new})))
    };
    edit("one\ntwo\n", "1\n2\n");
    assert_eq!(get(&fixture, "f"), b"1\r\n2\r\n\0\xff\r\nthree\r\n");
    edit("three\r\n", "3\r\n");
    edit("\0", "\0\0");
    assert_eq!(get(&fixture, "f"), b"1\r\n2\r\n\0\0\xff\r\n3\r\n");
}
