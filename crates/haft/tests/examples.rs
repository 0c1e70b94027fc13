//! Runs every `sh` example of the README, of `docs/` and of the help, in a small project with stubs of the programs it names.
//!
//! Each block is one script and must succeed. A `text` block right after it is its exact output, in which `…` matches any
//! text of a line. Blocks marked `sh ignore` build or install haft; `docs/commands.md` and `docs/checks.md` are generated
//! from examples that have tests of their own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use haft_test_support::{FinishedHaft, Haft, Scratch};

/// Files of the project the examples run in; those with a `#!` line are executable.
const PROJECT: [(&str, &str); 12] = [
    ("Makefile", "all:\n\t@echo built\ntest:\n\t@echo passed\n"),
    ("build.sh", "#!/bin/sh\necho \"building $1\"\n"),
    ("deploy.sh", "#!/bin/bash\necho \"deploying to ${1:-staging}\"\n"),
    ("untrusted", "#!/bin/sh\necho harmless\n"),
    ("first.log", "ERROR one\nfine\n"),
    ("second.log", "fine\nERROR two\nERROR three\n"),
    ("task.md", "Say hello.\n"),
    ("role.md", "You are kind.\n"),
    ("notes.md", "Nothing yet.\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("a", "first\n"),
    ("b", "second\n"),
];

/// A stub of an agent that does nothing.
const AGENT: &str = "#!/bin/sh\nexit 0\n";

const USER_CONFIGURATION: &str = r#"
[settings]
default_agent = "claude"
[[role]]
name = "reviewer"
prompt = "Review with care."
[[context]]
name = "docs"
prompt = "The documentation."
[[task]]
name = "review"
prompt = "Review the change."
"#;

/// The configuration of another project.
const TEAM_CONFIGURATION: &str = "[[role]]\nname = \"tester\"\nprompt = \"Test everything.\"\n";

/// The user's tools, with their schemas.
const TOOLS: [(&str, &str); 2] = [
    ("add", r#"{"a": {"type": "number"}, "b": {"type": "number"}}"#),
    ("deploy", r#"{"targets": {"type": "array"}, "options": {"type": "object"}}"#),
];

/// One fenced block of a document.
struct Example {
    line: usize,
    script: String,
    output: Option<String>,
}

/// The project in which the examples of one document run.
struct World {
    scratch: Scratch,
}

impl World {
    fn new() -> World {
        let world = World { scratch: Scratch::new() };
        for (name, text) in PROJECT {
            world.write(&format!("project/{name}"), text);
        }
        world.write("bin/claude", AGENT);
        world.write("bin/codex", AGENT);
        world.write("home/.config/haft/config.toml", USER_CONFIGURATION);
        world.write("home/src/team/.haft/config.toml", TEAM_CONFIGURATION);
        for (name, properties) in TOOLS {
            let schema = format!(
                r#"{{"name": "{name}", "description": "An example", "parameters": {{"type": "object", "properties": {properties}}}}}"#
            );
            let text = format!("#!/bin/sh\n[ \"$1\" = --schema ] && echo '{schema}' || cat\n");
            world.write(&format!("home/.config/haft/tools/{name}-tool"), &text);
        }
        symlink(env!("CARGO_BIN_EXE_haft"), world.scratch.file("bin/haft")).unwrap();
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.scratch.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn run(&self, script: &str) -> FinishedHaft {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.scratch.text("bin"));
        Haft::new(env!("CARGO_BIN_EXE_haft"))
            .args(["-e", "-c", script])
            .directory(self.scratch.file("project"))
            .env("PATH", path)
            .env("HOME", self.scratch.file("home"))
            .env("XDG_CONFIG_HOME", self.scratch.file("home/.config"))
            .env("XDG_STATE_HOME", self.scratch.file("home/.local/state"))
            .env("XDG_CACHE_HOME", self.scratch.file("home/.cache"))
            .run()
    }
}

/// The `sh` blocks of a document, with the `text` block that follows each, if one does.
fn examples(document: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut lines = document.lines().enumerate();
    let mut follows = false;
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            follows &= line.is_empty();
            continue;
        };
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let text = body.iter().map(|line| format!("{line}\n")).collect::<String>();
        match language {
            "sh" => found.push(Example { line: number + 1, script: text, output: None }),
            "text" if follows => found.last_mut().expect("an example before its output").output = Some(text),
            _ => {}
        }
        follows = language == "sh";
    }
    found
}

/// Whether a text matches the expected one, in which `…` matches any text within a line.
fn matches(expected: &str, text: &str) -> bool {
    let (expected, text): (Vec<_>, Vec<_>) = (expected.lines().collect(), text.lines().collect());
    expected.len() == text.len()
        && expected.iter().zip(text).all(|(expected, line)| line_matches(expected, line))
}

fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once('…') {
        None => expected == line,
        Some((before, after)) => {
            line.starts_with(before) && line.len() >= before.len() && line.ends_with(after)
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the examples of a document in order, in one project.
#[track_caller]
fn run_examples(document: &str) {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let world = World::new();
    for example in examples(&text) {
        let place = format!("{document}:{}", example.line);
        let finished = world.run(&example.script);
        assert_eq!(finished.code(), Some(0), "{place}\n{}\n{finished}", example.script);
        if let Some(expected) = example.output {
            let shown = finished.output_text();
            assert!(matches(&expected, &shown), "{place} shows\n{shown}instead of\n{expected}");
        }
    }
}

/// One test per document; [`every_document_has_a_test`] compares the list with the directory.
macro_rules! documents {
    ($($name:ident: $path:literal,)*) => {
        $(#[test] fn $name() { run_examples($path); })*
        const TESTED: &[&str] = &[$($path),*];
    };
}

documents! {
    readme: "README.md",
    running: "docs/running.md",
    changes: "docs/changes.md",
    shell: "docs/shell.md",
    tools: "docs/tools.md",
    launch: "docs/launch.md",
    mcp: "docs/mcp.md",
    limits: "docs/limits.md",
    output: "docs/output.md",
    records: "docs/records.md",
    plan: "docs/plan.md",
    policy: "docs/policy.md",
    security: "docs/security.md",
}

/// Documents without `sh` examples to run, or with generated ones.
const OTHERS: [&str; 15] = [
    "docs/benchmarks.md",
    "docs/checks.md",
    "docs/clients.md",
    "docs/commands.md",
    "docs/compatibility.md",
    "docs/dependencies.md",
    "docs/gotchas.md",
    "docs/images",
    "docs/isolated.md",
    "docs/json.md",
    "docs/json.schema.json",
    "docs/library.md",
    "docs/scale.md",
    "docs/telemetry.md",
    "docs/watch.md",
];

/// The examples in the help of a command and of its subcommands.
fn help_examples(world: &World, command: &str) -> Vec<String> {
    let help = world.run(&format!("haft help {command}")).status(0).output_text();
    let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
    examples.lines().take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn the_examples_of_the_help_run() {
    let world = World::new();
    let commands = "run spawn exec output check plan tool launch mcp man completions";
    let tools =
        ["list", "show", "call", "batch", "refresh", "check", "new"].map(|name| format!("tool {name}"));
    let launches =
        ["prompt", "task", "list", "show", "add", "search", "order", "remove", "edit", "completions", "init"];
    let launches = launches.map(|name| format!("launch {name}"));
    let policies = ["check", "explain", "show"].map(|name| format!("policy {name}"));
    let nested = tools.iter().chain(&launches).chain(&policies).map(String::as_str);
    for command in [""].into_iter().chain(commands.split(' ')).chain(nested).chain(["trust"]) {
        let examples = help_examples(&world, command);
        assert!(!examples.is_empty(), "'haft help {command}' has no examples");
        for example in examples {
            // Without a terminal, trust is listed and not granted.
            let expected = if example.starts_with("haft trust  ") { 1 } else { 0 };
            let _ = world.run(&example).status(expected);
        }
    }
}

#[test]
fn every_document_has_a_test() {
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = format!("docs/{}", entry.unwrap().file_name().display());
        assert!(TESTED.contains(&&*name) || OTHERS.contains(&&*name), "the examples of {name} do not run");
    }
}
