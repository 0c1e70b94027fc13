//! `haft tool check` and `new`.

use haft_test_support::Haft;

use crate::scene::{scene, tool, write};

#[test]
fn check_finds_errors_and_new_creates_correct_tools() {
    let scratch = scene();
    let good =
        tool(&scratch, &["check", "../home/.config/haft/tools/add-tool", "--json"]).run().status(0).json();
    assert_eq!(good["ok"], true);
    assert_eq!(tool(&scratch, &["check", "add", "--json"]).run().status(0).json()["ok"], true);
    let _ = tool(&scratch, &["check", "grep"]).run().status(2).stderr_has("tool 'grep' has no file to check");
    let _ = tool(&scratch, &["check", "ad"]).run().status(2).stderr_has("did you mean 'add'?");
    write(&scratch, "bad-tool", "#!/bin/sh\nexit 4\n");
    let bad = tool(&scratch, &["check", "../bad-tool"]).run().status(1).output_text();
    assert!(bad.contains("WRONG   schema       `--schema` exited with 4"), "{bad}");
    for (name, language) in [("py_words", "python"), ("sh_words", "bash")] {
        let _ = tool(&scratch, &["new", name, "--lang", language]).run().status(0).stderr("");
        let _ =
            tool(&scratch, &["call", name, "text=to be or not"]).run().status(0).stdout("{\"words\":4}\n");
        let _ = tool(&scratch, &["new", name, "--lang", language]).run().status(1).stderr_has("file exists");
    }
    let _ = tool(&scratch, &["new", "not/good"]).run().status(2);
}

#[test]
fn new_without_a_home_directory_asks_for_a_directory() {
    let scratch = scene();
    let new = |words: &[&str]| {
        tool(&scratch, &[&["new", "words", "--lang", "bash"], words].concat()).env("HOME", "").run()
    };
    let _ = new(&[])
        .status(2)
        .stderr_has("cannot create tool 'words': HOME is not set, so there is no directory for tools")
        .stderr_has("hint: set HOME, or choose a directory with `--into DIR`");
    assert!(!scratch.file("work/words-tool").exists());
    let _ = new(&["--into", "."]).status(0);
    assert!(scratch.file("work/words-tool").exists());
}

/// The build is offline, with the crates of this workspace.
#[test]
fn a_new_rust_tool_builds_and_passes_the_check() {
    let scratch = scene();
    let _ =
        tool(&scratch, &["new", "rust_words", "--lang", "rust"]).run().status(0).stderr_has("cargo build");
    let package = scratch.file("work/rust-words-tool");
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    std::fs::copy(lock, package.join("Cargo.lock")).expect("a file");
    let cargo = |word: &str| {
        Haft::new(env!("CARGO"))
            .args([word, "--offline", "--quiet", "--target-dir", "target"])
            .directory(&package)
            .run()
            .status(0)
    };
    let _ = (cargo("test"), cargo("build"));
    let built = package.join("target/debug/rust-words-tool");
    let checked = tool(&scratch, &["check"]).arg(&built).run().status(0).output_text();
    assert!(checked.contains("{\"text\":\"to be or not to be\"} returns {\"words\":6}"), "{checked}");
    std::fs::copy(&built, scratch.file("home/.config/haft/tools/rust-words-tool")).expect("a file");
    let _ = tool(&scratch, &["call", "rust_words", "text=a b"]).run().status(0).stdout("{\"words\":2}\n");
}
