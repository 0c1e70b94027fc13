//! Scripts get only the allowed keys, and no answer or log shows a key.

use haft_test_support::Scratch;
use serde_json::json;

use crate::client::Client;

const CANARY: &str = "ghp-canary-5d1f80";
const ENVIRONMENT: [(&str, &str); 3] =
    [("GITHUB_TOKEN", CANARY), ("PROJECT_MODE", "fast"), ("MAX_TOKENS", "32000")];

fn client(arguments: &[&str]) -> Client {
    let arguments = [&["--tools", "all"], arguments].concat();
    let mut client = Client::start(Scratch::new(), &arguments, &ENVIRONMENT);
    client.introduce("2025-06-18", json!({}));
    client
}

#[test]
fn keys_are_withheld_from_scripts_sessions_and_jobs() {
    let mut client = client(&[]);
    let show = "echo \"<$GITHUB_TOKEN> $PROJECT_MODE $MAX_TOKENS\"; env | grep -c canary";
    let reply = client.run(show);
    assert_eq!(reply.data()["stdout"]["text"], "<> fast 32000\n0\n");
    let reply = client.call("run", json!({ "script": show, "session": "s" }));
    assert_eq!(reply.data()["stdout"]["text"], "<> fast 32000\n0\n");
    let reply = client.run("sleep 0.1 & env | grep -c canary; bash -c 'env | grep -c canary'");
    assert_eq!(reply.data()["stdout"]["text"], "0\n0\n");
    for (tool, arguments) in [
        ("bash", json!({ "command": "env; printenv GITHUB_TOKEN" })),
        ("process_start", json!({ "command": ["/usr/bin/env"] })),
    ] {
        let reply = client.call(tool, arguments);
        assert!(!reply.0.to_string().contains(CANARY), "{tool}: {}", reply.0);
    }
}

#[test]
fn the_agent_learns_which_keys_are_withheld() {
    let mut client = client(&[]);
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("a list").clone();
    let run = tools.iter().find(|tool| tool["name"] == "run").expect("it is there");
    let description = run["description"].as_str().expect("a text");
    assert!(
        description.contains("withheld from scripts: ") && description.contains("GITHUB_TOKEN"),
        "{description}"
    );
    let reply = client.run("curl -H \"Authorization: Bearer ${GITHUB_TOKEN:?}\" http://localhost");
    assert!(reply.text().contains("haft mcp --env-allow NAME"), "{}", reply.text());
    assert_eq!(reply.data()["withheld"], json!(["GITHUB_TOKEN"]));
    let reply = client.run("bash -c 'echo set GITHUB''_TOKEN first >&2; exit 4'");
    assert_eq!(reply.data()["withheld"], json!(["GITHUB_TOKEN"]));
    assert!(!client.run("echo fine").text().contains("withheld"));
}

#[test]
fn keys_are_allowed_by_name() {
    let mut allowed = client(&["--env-allow", "GITHUB_TOKEN"]);
    assert_eq!(allowed.run("echo $GITHUB_TOKEN").data()["stdout"]["text"], format!("{CANARY}\n"));
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("haft")).expect("a directory");
    std::fs::write(scratch.file("haft/config.toml"), "[env]\nallow = [\"GITHUB_TOKEN\"]\n").expect("a file");
    let mut configured = Client::configured_with(scratch, &ENVIRONMENT);
    assert_eq!(configured.run("echo $GITHUB_TOKEN").data()["stdout"]["text"], format!("{CANARY}\n"));
}

#[test]
fn keys_are_masked_in_arguments_facts_errors_and_the_log() {
    let mut client = client(&["--verbose", "--env-allow", "GITHUB_TOKEN"]);
    let script = "/bin/false \"Authorization: Bearer $GITHUB_TOKEN\" | cat; \
                  /bin/true https://me:hunter2-canary@example.org/x 'Authorization: Basic bGl0ZXJhbC1jYW5hcnk='";
    let reply = client.run(script);
    let shown = reply.0.to_string();
    assert!(shown.contains("Authorization: Bearer [GITHUB_TOKEN]"), "{shown}");
    assert!(shown.contains("https://me:***@example.org/x"), "{shown}");
    let given =
        json!({ "script": "/bin/false \"$OTHER_TOKEN\" | cat", "env": { "OTHER_TOKEN": "given-canary-77" } });
    let other = client.call("run", given).0.to_string();
    assert!(other.contains("[OTHER_TOKEN]"), "{other}");
    let plan =
        client.call("plan", json!({ "script": format!("curl https://me:hunter2-canary@x.org {CANARY}") }));
    let wrong = client.call("run", json!({ "script": format!("echo {CANARY} )") }));
    let refused = client.call("run", json!({ "script": "true", "cwd": format!("/{CANARY}") }));
    let listed = client.call("job", json!({ "action": "list" }));
    assert_eq!(client.leave(), Some(0));
    let log = std::fs::read_to_string(client.scratch.file("log")).expect("a log");
    let texts = [plan.0.to_string(), wrong.0.to_string(), refused.0.to_string(), listed.0.to_string()];
    for text in texts.iter().chain([&shown, &other, &log]) {
        for canary in [CANARY, "hunter2-canary", "bGl0ZXJhbC1jYW5hcnk", "given-canary-77"] {
            assert!(!text.contains(canary), "{canary} in {text}");
        }
    }
}

#[test]
fn program_output_is_not_masked() {
    let mut client = client(&["--env-allow", "GITHUB_TOKEN"]);
    let reply = client.run("printenv GITHUB_TOKEN");
    assert_eq!(reply.data()["stdout"]["text"], format!("{CANARY}\n"));
}
