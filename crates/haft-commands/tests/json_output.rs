//! `--json` writes what the schema of the command says.

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use haft_commands::{CommandDescriptor, GNU_GROUPS, output_schema};
use haft_kernel::Kernel;
use serde_json::{Value, json};

/// Makes some files in an isolated session and runs a command there.
fn run(script: &str) -> (i32, Value) {
    let kernel = haft_commands::with_gnu_commands(Kernel::builder().commands(haft_commands::TABLE));
    let setup = "cd /tmp; mkdir d; printf 'one\\ntwo words\\n' > d/a; printf 'one\\nthree\\n' > d/b; ln -s a d/link\n";
    let session = support::session_with(kernel.isolated(1 << 20).build());
    let ran = support::run_in(session, &format!("{setup}{script}"));
    let value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{script}: {error}: {ran:?}"));
    (ran.status, value)
}

fn descriptor(name: &str) -> &'static CommandDescriptor {
    let own = haft_commands::DESCRIPTORS.iter();
    let all = own.chain(GNU_GROUPS.iter().flat_map(|group| group.descriptors.iter()));
    all.copied().find(|descriptor| descriptor.name == name).expect("a command of this name")
}

/// Whether a value has one of the types of a schema.
fn has_type(value: &Value, schema: &Value) -> bool {
    let types = schema["type"].as_array().expect("types");
    types.iter().any(|kind| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        _ => false,
    })
}

#[test]
fn every_command_with_the_option_writes_rows_of_its_schema() {
    let calls = [
        "date --json -d @0",
        "diff --json d/a d/b",
        "du --json -a d",
        "egrep --json -o 'o.?' d/a",
        "env --json",
        "fgrep --json -c o d/a d/b",
        "find --json d -type f",
        "grep --json -r o d",
        "id --json",
        "ls --json d",
        "stat --json d/link",
        "wc --json d/a d/b",
    ];
    for call in calls {
        let (status, rows) = run(call);
        assert!(status < 2, "{call}: {status}");
        let schema = output_schema(descriptor(call.split(' ').next().unwrap_or_default())).expect("a schema");
        let rows = rows.as_array().expect("an array");
        assert!(!rows.is_empty(), "{call}");
        for row in rows {
            let members = row.as_object().expect("an object");
            let properties = schema["items"]["properties"].as_object().expect("properties");
            assert_eq!(members.keys().collect::<Vec<_>>(), properties.keys().collect::<Vec<_>>(), "{call}");
            assert!(members.iter().all(|(name, value)| has_type(value, &properties[name])), "{call}: {row}");
        }
    }
}

#[test]
fn rows_have_what_the_command_found() {
    assert_eq!(
        run("wc --json < d/a").1,
        json!([{"file": null, "lines": 2, "words": 3, "chars": 14, "bytes": 14, "width": 9}])
    );
    let (status, rows) = run("grep --json -n two d/a d/b");
    assert_eq!(status, 0);
    assert_eq!(
        rows,
        json!([{"file": "d/a", "line": 2, "offset": 4, "text": "two words", "selected": true, "count": null}])
    );
    let (status, rows) = run("diff --json d/a d/b");
    assert_eq!(status, 1);
    assert_eq!(
        rows,
        json!([{"old": "d/a", "new": "d/b", "old_start": 2, "old_lines": ["two words"], "new_start": 2, "new_lines": ["three"]}])
    );
    let (_, rows) = run("ls --json d");
    let names: Vec<&Value> = rows.as_array().into_iter().flatten().map(|row| &row["path"]).collect();
    assert_eq!(names, ["d/a", "d/b", "d/link"]);
    assert_eq!((&rows[2]["type"], &rows[2]["target"]), (&json!("symlink"), &json!("a")));
    assert_eq!(run("date --json -u -d @0.5 +%F").1[0]["utc"], "1970-01-01T00:00:00.500000000Z");
}

#[test]
fn nothing_found_is_an_empty_array() {
    assert_eq!(run("grep --json nothing d/a"), (1, json!([])));
    assert_eq!(run("find --json d -name nothing"), (0, json!([])));
}
