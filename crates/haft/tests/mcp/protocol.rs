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
    assert_eq!(
        names,
        ["run", "job", "output", "changes", "file_edit", "file_read", "file_write", "glob", "grep"]
    );
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["description"].as_str().is_some_and(|words| words.len() > 20), "{tool}");
        assert!(!tool["inputSchema"].to_string().contains("null"), "{tool}");
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["script"]));
}

#[test]
fn the_tool_list_is_short_by_default_and_complete_on_request() {
    let mut client = Client::with_text_results();
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(tools.to_string().len() <= 8000, "{} bytes", tools.to_string().len());
    assert!(!tools.to_string().contains("outputSchema"), "{tools}");
    let refused = client.call("check", json!({ "script": "true" }));
    assert!(refused.is_error() && refused.text().contains("`haft mcp --tools check`"), "{}", refused.text());
    let refused = client.call("bash", json!({ "command": "true" }));
    assert!(refused.is_error() && refused.text().contains("`haft mcp --tools bash`"), "{}", refused.text());

    let mut client = Client::with_all_tools();
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    for name in ["check", "plan", "bash", "process_start"] {
        assert!(tools.contains(&format!("\"name\":\"{name}\"")), "{name}: {tools}");
    }
    assert!(client.call("bash", json!({ "command": "echo one" })).text().starts_with("one\n[exit 0"));

    let mut client = Client::silent(&["--tools", "check"]);
    client.introduce("2025-06-18", json!({}));
    assert!(!client.call("check", json!({ "script": "true" })).is_error());
    assert!(client.call("plan", json!({ "script": "true" })).is_error());
}

#[test]
fn results_are_text_and_hold_the_outcome_on_request() {
    let mut client = Client::with_text_results();
    let reply = client.run("echo out");
    assert!(reply.text().starts_with("out\n[exit 0"), "{}", reply.text());
    assert!(reply.data().is_null() && reply.0["result"].get("_meta").is_none(), "{}", reply.0);
    let full = client.call("run", json!({ "script": "echo out", "detail": "full" }));
    assert_eq!((&full.data()["schema_version"], &full.data()["status"]["code"]), (&json!(1), &json!(0)));
    assert_eq!(full.data()["stdout"]["text"], "out\n");

    let output = "x".repeat(79) + "\n";
    let reply = client.run(&format!("for i in {{1..50}}; do printf %s '{output}'; done"));
    let allowed = 50 * output.len() * 115 / 100 + 80;
    assert!(reply.0["result"].to_string().len() <= allowed, "{}", reply.0);
}

#[test]
fn clients_that_keep_meta_from_the_model_receive_the_outcome_there() {
    let mut client = Client::silent(&["--detail", "text"]);
    let own = json!({ "name": "claude-code", "version": "2.0" });
    client
        .ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let reply = client.run("echo out; exit 3");
    let outcome = &reply.0["result"]["_meta"]["haft/outcome"];
    assert_eq!(outcome["status"]["code"], 3, "{}", reply.0);
    assert!(outcome["stdout"]["text"].is_null() && reply.data().is_null(), "{}", reply.0);
}

#[test]
fn file_and_search_tools_answer_in_text() {
    let mut client = Client::with_text_results();
    let mut call = |tool: &str, arguments: serde_json::Value| client.call(tool, arguments).text().to_owned();
    assert_eq!(
        call("file_write", json!({ "path": "a.txt", "content": "one\ntwo\nthree\n" })),
        "created a.txt, 14 bytes\n"
    );
    assert_eq!(call("file_read", json!({ "path": "a.txt" })), "one\ntwo\nthree\n");
    assert_eq!(
        call("file_read", json!({ "path": "a.txt", "limit": "2" })),
        "one\ntwo\n[lines 1-2; continue: file_read(path=\"a.txt\", offset=3)]\n"
    );
    assert_eq!(
        call("file_edit", json!({ "path": "a.txt", "old": "two", "new": "2" })),
        "edited a.txt at line 2\n"
    );
    assert_eq!(call("grep", json!({ "pattern": "^[2t]", "path": "a.txt" })), "a.txt:2:2\na.txt:3:three\n");
    assert_eq!(
        call("grep", json!({ "pattern": "2", "context": 1, "path": "a.txt" })),
        "a.txt-1-one\na.txt:2:2\na.txt-3-three\n"
    );
    assert_eq!(call("grep", json!({ "pattern": "^2$", "output": "files" })), "a.txt\n");
    assert_eq!(call("grep", json!({ "pattern": "nowhere" })), "[no matches]\n");
    assert_eq!(call("glob", json!({ "pattern": "*.txt" })), "a.txt\n");
    assert_eq!(call("glob", json!({ "pattern": "*.rs" })), "[no files match]\n");
}

#[test]
fn errors_of_calls_are_described() {
    let mut client = Client::new();
    let cases = [
        ("run", json!({ "scrpt": "true" }), "unknown parameter 'scrpt' (did you mean 'script'?)"),
        ("run", json!({}), "parameter 'script' is missing; expected string"),
        (
            "run",
            json!({ "script": "true", "timeout": "soon" }),
            "parameter 'timeout': expected number, got \"soon\"",
        ),
        (
            "run",
            json!({ "script": "true", "timeout": -1 }),
            "invalid 'timeout': -1 (expected a number of seconds)",
        ),
        ("run", json!({ "script": "true", "cwd": "/nowhere" }), "cannot change to 'cwd' '/nowhere'"),
        ("run", json!({ "script": "true", "until": { "pattern": "(" } }), "invalid 'until.pattern': "),
        ("run", json!({ "script": "if true" }), "error"),
        ("job", json!({ "action": "read" }), "parameter 'id' is missing"),
        ("job", json!({ "action": "read", "id": "j99" }), "unknown job 'j99'"),
        ("output", json!({ "id": "nothing" }), "unknown output 'nothing'"),
    ];
    for (tool, arguments, words) in cases {
        let reply = client.call(tool, arguments.clone());
        assert!(reply.is_error() && reply.text().contains(words), "{arguments}: {}", reply.text());
    }
    let unknown = client.ask("tools/call", json!({ "name": "walk", "arguments": {} }));
    assert!(unknown["error"]["message"].as_str().is_some_and(|words| words.contains("'walk'")), "{unknown}");
}

#[test]
fn invalid_messages_do_not_end_the_server() {
    let mut client = Client::new();
    client.write("this is no JSON\n\n{\"jsonrpc\": \"2.0\"}\n[]\n\u{0}\n{\"id\": {}}\n");
    assert_eq!(client.run("echo fine").data()["stdout"]["text"], "fine\n");
    let codes: Vec<i64> =
        client.notifications.iter().filter_map(|told| told["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [-32700, -32600, -32600, -32700, -32600]);
}

#[test]
fn invalid_requests_are_answered_with_the_code_for_their_fault() {
    let mut client = Client::new();
    let cases = [
        ("tools/call", json!({ "name": "run", "arguments": [] }), -32602),
        ("tools/call", json!({ "arguments": {} }), -32602),
        ("tools/call", json!({ "name": "walk" }), -32602),
        ("resources/read", json!({}), -32602),
        ("tools/dance", json!({}), -32601),
    ];
    for (method, parameters, code) in cases {
        let answer = client.ask(method, parameters);
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let unknown = client.ask("resources/read", json!({ "uri": "haft://output/none" }));
    assert_eq!(unknown["error"]["data"]["uri"], "haft://output/none", "{unknown}");
}

#[test]
fn nearly_right_arguments_are_accepted() {
    let mut client = Client::new();
    let arguments = json!({
        "command": "seq 9; echo $A", "timeout": "5", "merge": "true", "env": { "A": 1 }, "view": "{\"tail\": \"2\"}",
    });
    let reply = client.call("run", arguments);
    assert!(reply.text().starts_with("9\n1\n[exit 0"), "{}", reply.text());
}

#[test]
fn scripts_are_checked_and_planned_without_running() {
    let mut client = Client::with_all_tools();
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
    let more = format!("{text}[[task]]\nname = \"test\"\nprompt = \"Test it\"\n");
    std::fs::write(client.scratch.file("haft/config.toml"), more).unwrap();
    client.notification("notifications/prompts/list_changed");
    let listed = client.ask("prompts/list", json!({}));
    assert!(listed["result"]["prompts"].to_string().contains("\"test\""), "{listed}");
    let prompt = json!({ "name": "review", "arguments": { "instructions": "the parser" } });
    let made = client.ask("prompts/get", prompt);
    let message = &made["result"]["messages"][0]["content"]["text"];
    assert!(message.as_str().is_some_and(|text| text.contains("Review the parser")), "{made}");
}
