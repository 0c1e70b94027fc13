//! Expectations are what bash 5.2 finds in the same tree.

use std::path::Path;

use haft_fs::{FileSystem, Memory, OpenOptions};

use super::*;

fn tree() -> Memory {
    let files = Memory::new(1 << 20);
    for path in ["/t", "/t/a", "/t/a/b", "/t/a/b/c", "/t/d", "/t/.h", "/t/.h/i", "/t/é"] {
        files.create_dir(Path::new(path), 0o755).expect("a directory");
    }
    for name in ["a/x", "a/b/y", "d/z", ".hid", "A1", "b2", "a/b/c/w", "sp ace", ".h/i/q"] {
        let path = Path::new("/t").join(name);
        files.open(&path, &OpenOptions::new().write(true).create(true)).expect("a file");
    }
    files.create_symlink(Path::new("a"), Path::new("/t/lnk")).expect("a link");
    files.create_symlink(Path::new("nowhere"), Path::new("/t/dang")).expect("a link");
    files
}

fn found_with(pattern: &str, change: impl Fn(&mut GlobOptions)) -> String {
    let mut options = GlobOptions {
        globstar: true,
        pattern: PatternOptions { extended: true, ..PatternOptions::default() },
        ..GlobOptions::default()
    };
    change(&mut options);
    let paths = glob(&tree(), b"/t", pattern.as_bytes(), &options, &mut || false).expect("not cancelled");
    let paths: Vec<String> = paths.into_iter().map(|path| String::from_utf8_lossy(&path).into()).collect();
    paths.join("|")
}

fn found(pattern: &str) -> String {
    found_with(pattern, |_| {})
}

#[test]
fn patterns_in_one_directory() {
    for (pattern, expected) in [
        ("*/", "a/|d/|lnk/|é/"),
        (".*", ".h|.hid"),
        ("[a-z]*", "a|b2|d|dang|lnk|sp ace"),
        ("!(a*)", "A1|b2|d|dang|lnk|sp ace|é"),
        (".!(a)", ".h|.hid"),
        ("?", "a|d|é"),
        ("dan*", "dang"),
        ("\\a*", "a"),
        ("nope*", ""),
    ] {
        assert_eq!(found(pattern), expected, "{pattern}");
    }
}

#[test]
fn patterns_across_directories() {
    for (pattern, expected) in [
        ("*/x", "a/x|lnk/x"),
        ("*/*/", "a/b/|lnk/b/"),
        ("*/.", "a/.|d/.|lnk/.|é/."),
        ("//t//a*", "//t//a"),
        ("/t/*/", "/t/a/|/t/d/|/t/lnk/|/t/é/"),
        (".//a*", ".//a"),
        ("a/b/../*", "a/b/../b|a/b/../x"),
        ("@(a|d)/*", "a/b|a/x|d/z"),
        ("a\\/*", "a/b|a/x"),
        ("*[/]x", ""),
        ("*/nope", ""),
    ] {
        assert_eq!(found(pattern), expected, "{pattern}");
    }
}

#[test]
fn globstar_descends_into_directories() {
    for (pattern, expected) in [
        ("**", "A1|a|a/b|a/b/c|a/b/c/w|a/b/y|a/x|b2|d|d/z|dang|lnk|sp ace|é"),
        ("**/", "a/|a/b/|a/b/c/|d/|lnk/|é/"),
        ("a/**", "a/|a/b|a/b/c|a/b/c/w|a/b/y|a/x"),
        ("a/**/", "a/|a/b/|a/b/c/"),
        ("**/x", "a/x"),
        ("**/b/**", "a/b|a/b/c|a/b/c/w|a/b/y"),
        ("**/**/x", "a/x"),
        ("lnk/**", "lnk/|lnk/b|lnk/b/c|lnk/b/c/w|lnk/b/y|lnk/x"),
        ("**/.*", ".h|.hid"),
        ("*/b/**/w", "a/b/c/w|lnk/b/c/w"),
        ("a**/b", "a/b"),
    ] {
        assert_eq!(found(pattern), expected, "{pattern}");
    }
    assert_eq!(found_with("**/x", |options| options.globstar = false), "a/x|lnk/x");
}

#[test]
fn options_change_what_matches() {
    assert_eq!(found_with("*h*", |options| options.dotglob = true), ".h|.hid");
    assert_eq!(found_with(".*", |options| options.match_dot_entries = true), ".|..|.h|.hid");
    assert_eq!(found_with("a*", |options| options.pattern.ignore_case = true), "A1|a");
}

#[test]
fn expansion_can_be_cancelled() {
    let options = GlobOptions { globstar: true, ..GlobOptions::default() };
    assert_eq!(glob(&tree(), b"/t", b"**", &options, &mut || true), Err(GlobCancelled));
}

#[test]
fn globignore_removes_paths() {
    let ignore = GlobIgnore::new(b"*.o:a*", PatternOptions::default());
    assert!(ignore.matches(b"x.o") && ignore.matches(b"ab") && ignore.matches(b"d/.."));
    assert!(!ignore.matches(b"x.c"));
}
