//! The JSON that haft prints is what `docs/json.schema.json` describes.

use haft_test_support::{Haft, Scratch};
use serde_json::{Value, json};

/// Runs haft with a home of its own.
fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .directory(scratch.path())
        .env("HOME", scratch.path())
        .env("XDG_CONFIG_HOME", "")
        .env("XDG_STATE_HOME", "")
        .env("XDG_CACHE_HOME", "")
}

/// Checks a value against a definition of the schema.
#[track_caller]
fn check(name: &str, value: &Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.schema.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    schema["$ref"] = json!(format!("#/$defs/{name}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{value:#}");
    assert_eq!(value["schema_version"], 1, "{name}: {value}");
    let properties = schema["$defs"][name]["properties"].as_object().expect("properties");
    let unknown = value.as_object().expect("an object").keys().find(|key| !properties.contains_key(*key));
    assert!(unknown.is_none() || name == "launch-show", "{name}: {unknown:?} is not documented");
}

#[test]
fn every_json_output_has_its_documented_schema() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file(".haft/tools")).unwrap();
    std::fs::write(scratch.file(".haft/config.toml"), "[settings]\n").unwrap();
    for (name, arguments) in [
        ("run", &["run", "--json", "--timeout", "20s", "-c", "seq 3 | head -n 1; sleep 0.01 & nonesuch"][..]),
        (
            "run",
            &["run", "--json", "--merge", "--limit-output", "9", "--limit-processes", "99", "-c", "seq 99"],
        ),
        ("spawn", &["spawn", "--json", "--", "ls", "/"]),
        ("output-list", &["output", "--json"]),
        ("check", &["check", "--json", "-c", "cd $x && rm *; if"]),
        ("plan", &["plan", "--json", "-c", "f() { cp a \"$1\"; }; f b > out | sort; eval \"$x\""]),
        ("tool-list", &["tool", "list", "--json"]),
        ("tool-show", &["tool", "show", "file_read", "--json"]),
        ("tool-call", &["tool", "call", "--json", "glob", "pattern=*"]),
        ("tool-call", &["tool", "call", "--json", "no_such_tool"]),
        ("tool-new", &["tool", "new", "example", "--lang", "bash", "--json"]),
        ("tool-check", &["tool", "check", ".haft/tools/example-tool", "--json"]),
        ("trust", &["trust", "--json"]),
        ("trust", &["trust", "--json", "--yes"]),
        ("trust-list", &["trust", "--json", "--list"]),
        ("trust-owner", &["trust", "--json", "--owner", "."]),
        ("trust-revoke", &["trust", "--json", "--revoke"]),
        ("launch-list", &["launch", "list", "--json"]),
        ("launch-show", &["launch", "show", "agent/claude", "--json"]),
        ("launch-doctor", &["launch", "doctor", "--json"]),
        ("launch", &["launch", "--dry-run", "--json", "-a", "claude", "hello"]),
        ("launch-init", &["launch", "init", "--user", "--json"]),
        ("launch-search", &["launch", "search", "claude", "--json"]),
        (
            "launch-change",
            &["launch", "add", "role", "r", "--from", ".haft/tools/example-tool", "--yes", "--json"],
        ),
        ("launch-change", &["launch", "order", "role", "r", "--yes", "--json"]),
        ("launch-change", &["launch", "remove", "role", "r", "--yes", "--json"]),
        ("error", &["spawn", "--json", "--", "no-such-program"]),
        ("error", &["spawn", "--json", "--timeout", "soon", "--", "true"]),
    ] {
        check(name, &haft(&scratch).args(arguments).run().json());
    }
}

#[test]
fn batches_and_stored_outputs_have_their_documented_schema() {
    let scratch = Scratch::new();
    let lines = "{\"tool\": \"glob\", \"arguments\": {\"pattern\": \"*\"}, \"id\": 7}\nnot JSON\n";
    let batch = haft(&scratch).input(lines).args(["tool", "batch"]).run();
    for line in batch.output_text().lines() {
        check("tool-batch", &serde_json::from_str(line).unwrap());
    }
    let run = haft(&scratch).args(["run", "--json", "-c", "seq 20"]).run().json();
    let id = run["stdout"]["id"].as_str().unwrap();
    check("output", &haft(&scratch).args(["output", "--json", "--head", "2", id]).run().json());
}
