//! Servers of others as tools: here haft itself is the other.

use haft_test_support::{Haft, Scratch};

use crate::client::HAFT;

/// A place with a configuration that names a server that works and one that does not.
fn configured() -> Scratch {
    let scratch = Scratch::new();
    let text = format!(
        "[[mcp]]\nname = \"other\"\ncommand = [\"{HAFT}\", \"mcp\"]\nenv = {{ GREETING = \"hello\" }}\ntools = [\"run\", \"check\"]\n\
         [[mcp]]\nname = \"broken\"\ncommand = [\"/nowhere/server\"]\n"
    );
    std::fs::create_dir(scratch.file("haft")).unwrap();
    std::fs::write(scratch.file("haft/config.toml"), text).unwrap();
    scratch
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(HAFT).env("XDG_CONFIG_HOME", scratch.path()).env("TMPDIR", scratch.path())
}

#[test]
fn their_tools_are_commands_in_scripts() {
    let scratch = configured();
    let script = "tool other.run script='echo $GREETING $((40 + 2))' | grep -o 'hello [0-9]*' | head -n1";
    haft(&scratch).args(["-c", script]).run().status(0).stdout("hello 42\n");
    let script = "other.check script='if true' | grep -c '\"ok\":false'";
    haft(&scratch).args(["-c", script]).run().status(0).stdout("1\n");
    let left = scratch.listing();
    assert!(left.iter().all(|name| !name.contains("/run-")), "{left:?}");
}

#[test]
fn what_goes_wrong_is_said() {
    let scratch = configured();
    let called = |script: &str| haft(&scratch).args(["-c", script]).run();
    called("tool other.run scrpt=x").status(2).stderr_has("scrpt");
    called("tool other.plan script=x").status(127);
    called("tool broken.anything").status(126).stderr_has("the MCP server 'broken' cannot be started");
}

#[test]
fn they_are_listed_beside_the_others() {
    let scratch = configured();
    let listed = haft(&scratch).args(["tool", "list"]).run().status(0);
    let text = listed.output_text();
    assert!(
        text.contains("other.run ") && text.contains("other.check ") && text.contains("file_read"),
        "{text}"
    );
    assert!(!text.contains("other.plan"), "{text}");
    assert!(
        listed.error_text().contains("the MCP server 'broken' cannot be started"),
        "{}",
        listed.error_text()
    );
}
