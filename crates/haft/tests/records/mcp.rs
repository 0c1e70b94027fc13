//! Records of MCP calls: trace context and decisions of a policy.

use std::fs;

use serde_json::{Value, json};

use super::home::Home;

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Runs scripts in a server, one after the other. Returns the replies to them.
pub(super) fn serve(home: &Home, options: &[&str], meta: &Value, scripts: &[&str]) -> Vec<Value> {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let calls = scripts.iter().enumerate().map(|(index, script)| {
        let params = json!({"name": "run", "arguments": {"script": script}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": index + 1, "method": "tools/call", "params": params})
    });
    let messages: String =
        [initialize, initialized].into_iter().chain(calls).map(|message| format!("{message}\n")).collect();
    let replies = home.haft(&["mcp"]).args(options).input(messages).run().status(0).output_text();
    let mut replies: Vec<Value> =
        replies.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    replies.retain(|reply| reply["id"].as_u64().is_some_and(|id| id > 0));
    replies.sort_by_key(|reply| reply["id"].as_u64());
    replies
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn scripts_of_a_client_get_its_trace_context() {
    let home = Home::new();
    let script = "echo \"<$TRACEPARENT|$TRACESTATE>\"; env | grep -c ^TRACE";
    let meta = json!({"traceparent": CALLER, "tracestate": "vendor=1"});
    let replies = serve(&home, &[], &meta, &[script]);
    assert!(text(&replies[0]).contains(&format!("<{CALLER}|vendor=1>\n2\n")), "{replies:?}");
    for meta in [json!({}), json!({"traceparent": "00-0-0-01"}), json!({"traceparent": 7})] {
        let replies = serve(&home, &[], &meta, &["echo \"<$TRACEPARENT|$TRACESTATE>\""]);
        assert!(text(&replies[0]).contains("<|>"), "{replies:?}");
    }
}

#[test]
fn the_decisions_of_a_policy_are_in_the_record_of_the_script() {
    let home = Home::new();
    let policy = home.0.text("policy.toml");
    fs::write(&policy, "[policy.commands]\ndeny = [[\"uname\"]]\n").expect("a file");
    let scripts = ["uname -a; uname -a; true", "echo harmless", "uname -r"];
    serve(&home, &["--policy", &policy, "--best-effort"], &json!({}), &scripts);
    let decisions = |grep: &str| {
        let id = home.runs(&["--grep", grep])[0]["id"].as_str().expect("an id").to_owned();
        let detail = home.run(&["log", "show", &id, "--json"]).status(0).json();
        detail["end"]["policy"].as_array().cloned().unwrap_or_default()
    };
    let (first, second, third) = (decisions("uname -a"), decisions("harmless"), decisions("uname -r"));
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].as_str().is_some_and(|text| text.starts_with("denied: uname -a")), "{first:?}");
    assert!(second.is_empty(), "{second:?}");
    assert_eq!(third.len(), 1, "{third:?}");
}
