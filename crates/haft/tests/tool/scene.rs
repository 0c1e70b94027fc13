//! A home with a tool in it.

use std::os::unix::fs::PermissionsExt;

use haft_test_support::{Haft, Scratch};

pub(crate) const ADD: &str = r#"#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name": "add", "description": "Adds numbers", "access": "none", "parameters": {"type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}, "list": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"], "additionalProperties": false, "examples": [{"a": 1}]}}'
  exit
fi
read -r line
case $line in *oops*) echo "went wrong" >&2; exit 3;; esac
echo working >&2
printf '{"given": %s}\n' "$line"
"#;

/// A home with a tool, and a long schema timeout for busy machines.
pub(crate) fn scene() -> Scratch {
    let scratch = Scratch::new();
    write(&scratch, "home/.config/haft/tools/add-tool", ADD);
    write(&scratch, "home/.config/haft/config.toml", "[tools]\nschema_timeout = 20\n");
    std::fs::create_dir_all(scratch.file("work")).expect("a directory");
    scratch
}

pub(crate) fn write(scratch: &Scratch, place: &str, text: &str) {
    let path = scratch.file(place);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
}

pub(crate) fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.file("home"))
        .env("XDG_CONFIG_HOME", "")
        .env("XDG_STATE_HOME", "")
        .env("XDG_CACHE_HOME", "")
        .env("HAFT_LIBEXEC", scratch.file("libexec"))
        .temporary(scratch.path())
        .directory(scratch.file("work"))
}

pub(crate) fn tool(scratch: &Scratch, words: &[&str]) -> Haft {
    haft(scratch).arg("tool").args(words)
}
