//! Revisions of the protocol, lists, and invalid requests.

use serde_json::{Value, json};

use crate::client::Client;
use crate::stand_in::configured;

/// The metadata of every request of the stateless revision.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[test]
fn every_revision_with_a_handshake_is_supported() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent(&[]);
        let answer = client.introduce(revision, json!({}));
        assert_eq!(answer["result"]["protocolVersion"], revision);
        assert_eq!(answer["result"]["serverInfo"]["name"], "haft");
        assert_eq!(client.run("echo $((6 * 7))").data()["stdout"]["text"], "42\n");
        assert!(client.ask("ping", json!({})).get("result").is_some());
    }
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let mut client = Client::silent(&[]);
    let found = client.ask("server/discover", json!({ "_meta": meta(&json!({})) }));
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let arguments = json!({ "script": "x=1; echo $x", "session": "s" });
    let call = json!({ "name": "run", "arguments": arguments, "_meta": meta(&json!({})) });
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"]["stdout"]["text"], "1\n");
    let arguments = json!({ "script": "echo again $x", "session": "s" });
    let call = json!({ "name": "run", "arguments": arguments, "_meta": meta(&json!({})) });
    assert_eq!(client.ask("tools/call", call)["result"]["structuredContent"]["stdout"]["text"], "again 1\n");
}

#[test]
fn a_long_call_becomes_a_task_where_the_client_knows_tasks() {
    let mut client = Client::silent(&[]);
    let meta = meta(&json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let quick = json!({ "name": "run", "arguments": { "script": "echo quick" }, "_meta": meta });
    assert!(client.ask("tools/call", quick).to_string().contains("quick"));
    let slow = json!({ "name": "run", "arguments": { "script": "sleep 6; echo slow" }, "_meta": meta });
    let answer = client.ask("tools/call", slow);
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    let id = answer["result"]["taskId"].clone();
    let mut task = client.ask("tasks/get", json!({ "taskId": id, "_meta": meta }));
    while task["result"]["status"] == "working" {
        std::thread::sleep(std::time::Duration::from_millis(100));
        task = client.ask("tasks/get", json!({ "taskId": id, "_meta": meta }));
    }
    assert_eq!(task["result"]["result"]["structuredContent"]["stdout"]["text"], "slow\n", "{task}");
}

#[test]
fn tools_have_names_schemas_and_descriptions() {
    let mut client = Client::new();
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.starts_with(&["run", "job", "output", "check", "plan"]), "{names:?}");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["description"].as_str().is_some_and(|words| words.len() > 20), "{tool}");
        assert!(!tool["inputSchema"].to_string().contains("null"), "{tool}");
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["script"]));
}

#[test]
fn errors_of_calls_are_described() {
    let mut client = Client::new();
    let cases = [
        ("run", json!({ "scrpt": "true" }), "unknown field `scrpt`"),
        ("run", json!({}), "missing field `script`"),
        (
            "run",
            json!({ "script": "true", "timeout": -1 }),
            "invalid \"timeout\": -1 (expected a number of seconds)",
        ),
        ("run", json!({ "script": "true", "cwd": "/nowhere" }), "cannot change to \"cwd\" \"/nowhere\""),
        ("run", json!({ "script": "true", "until": { "pattern": "(" } }), "invalid \"until.pattern\": "),
        ("run", json!({ "script": "if true" }), "error"),
        ("job", json!({ "action": "read" }), "missing \"id\""),
        ("job", json!({ "action": "read", "id": "j99" }), "unknown job \"j99\""),
        ("output", json!({ "id": "nothing" }), "unknown output \"nothing\""),
    ];
    for (tool, arguments, words) in cases {
        let reply = client.call(tool, arguments.clone());
        assert!(reply.is_error() && reply.text().contains(words), "{arguments}: {}", reply.text());
    }
    let unknown = client.ask("tools/call", json!({ "name": "walk", "arguments": {} }));
    assert!(
        unknown["error"]["message"].as_str().is_some_and(|words| words.contains("\"walk\"")),
        "{unknown}"
    );
}

#[test]
fn invalid_messages_do_not_end_the_server() {
    let mut client = Client::new();
    client.write("this is no JSON\n\n{\"jsonrpc\": \"2.0\"}\n[]\n\u{0}\n{\"id\": {}}\n");
    assert_eq!(client.run("echo fine").data()["stdout"]["text"], "fine\n");
}

#[test]
fn scripts_are_checked_and_planned_without_running() {
    let mut client = Client::new();
    let checked = client.call("check", json!({ "script": "echo 'never closed" }));
    assert_eq!(checked.data()["ok"], false);
    assert!(checked.text().contains("never closed"), "{}", checked.text());
    let planned = client.call("plan", json!({ "script": "touch made; rm -r made" }));
    assert!(planned.text().contains("touch made") && planned.text().contains("rm -r made"));
    assert!(!client.scratch.file("made").exists());
}

#[test]
fn outputs_are_resources() {
    let mut client = Client::new();
    let id = client.run("printf 'caf\\xe9'; seq 9999").data()["stdout"]["id"].as_str().unwrap().to_owned();
    let listed = client.ask("resources/list", json!({}));
    let uri = format!("haft://output/{id}");
    assert!(listed["result"]["resources"].to_string().contains(&uri), "{listed}");
    let read = client.ask("resources/read", json!({ "uri": uri }));
    let blob = read["result"]["contents"][0]["blob"].as_str().unwrap();
    assert!(blob.starts_with("Y2Fm6TEK"), "{read}");
    let unknown = client.ask("resources/read", json!({ "uri": "haft://output/none" }));
    assert!(unknown["error"]["message"].as_str().is_some_and(|words| words.contains("unknown resource")));
    assert!(client.ask("prompts/list", json!({}))["result"]["prompts"].is_array());
}

#[test]
fn a_resource_that_is_too_large_for_one_message_has_a_mark_where_it_is_cut() {
    let mut client = Client::new();
    let reply = client.call("run", json!({ "script": "yes | head -c 10000000" }));
    let uri = format!("haft://output/{}", reply.data()["stdout"]["id"].as_str().unwrap());
    let read = client.ask("resources/read", json!({ "uri": uri }));
    let contents = &read["result"]["contents"][0];
    let omitted = contents["_meta"]["haft/omitted_bytes"].as_u64().unwrap();
    assert_eq!(contents["_meta"]["haft/total_bytes"], 10_000_000);
    let mark = format!("[… {omitted} bytes in {} lines omitted …]\n", omitted / 2);
    let text = contents["text"].as_str().unwrap();
    assert!(text.contains(&mark), "{mark}");
    assert_eq!((text.len() - mark.len()) as u64 + omitted, 10_000_000);
}

#[test]
fn registry_tools_are_offered_and_called() {
    let mut client = Client::new();
    std::fs::write(client.scratch.file("some.txt"), "one\ntwo\n").unwrap();
    let listed = client.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].to_string().contains("\"file_read\""), "{listed}");
    let reply = client.call("file_read", json!({ "path": "some.txt" }));
    assert!(!reply.is_error() && reply.text().contains("two"), "{}", reply.text());
    let reply = client.call("file_read", json!({ "path": "none.txt" }));
    assert!(reply.is_error() && reply.data()["error_code"].is_string(), "{}", reply.0);
    let mut limited = Client::silent(&["--toolset", "glob,grep"]);
    limited.introduce("2025-06-18", json!({}));
    let listed = limited.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("\"glob\"") && !listed.contains("\"file_read\""), "{listed}");
    assert!(limited.call("file_read", json!({ "path": "some.txt" })).is_error());
}

#[test]
fn tasks_are_prompts() {
    let text =
        "[[task]]\nname = \"review\"\ndescription = \"Looks twice\"\nprompt = \"Review {instructions}\"\n";
    let mut client = Client::configured_with(configured(text), &[("PATH", "/nowhere")]);
    let listed = client.ask("prompts/list", json!({}));
    assert!(listed["result"]["prompts"].to_string().contains("\"review\""), "{listed}");
    let prompt = json!({ "name": "review", "arguments": { "instructions": "the parser" } });
    let made = client.ask("prompts/get", prompt);
    let message = &made["result"]["messages"][0]["content"]["text"];
    assert!(message.as_str().is_some_and(|text| text.contains("Review the parser")), "{made}");
}
