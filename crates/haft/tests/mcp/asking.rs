//! A policy asks the person at the client, by elicitation, and limits the number of calls.

use haft_test_support::Scratch;
use serde_json::{Value, json};

use crate::client::Client;

const POLICY: &str = "[policy.commands]\nask = [[\"uname\"], [\"seq\"]]\n";
/// A client that can show forms.
const FORMS: &str = r#"{"elicitation": {}}"#;

fn client(capabilities: &str) -> Client {
    client_with(POLICY, capabilities)
}

fn client_with(text: &str, capabilities: &str) -> Client {
    let scratch = Scratch::new();
    let policy = scratch.file("policy.toml");
    std::fs::write(&policy, text).expect("a policy");
    let policy = policy.to_str().expect("text").to_owned();
    let mut client = Client::start(scratch, &["--policy", &policy], &[]);
    client.introduce("2025-06-18", serde_json::from_str(capabilities).expect("JSON"));
    client
}

/// Waits for a question and answers it. Returns what the person sees.
fn answer(client: &mut Client, result: &Value) -> String {
    let question = client.notification("elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    question["params"]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn the_person_sees_the_command_and_the_rule_and_accepts() {
    let mut client = client(FORMS);
    let call = client.begin("run", json!({ "script": "x=-s; uname $x; echo $?" }));
    let seen = answer(&mut client, &json!({ "action": "accept", "content": {} }));
    assert!(seen.contains("uname -s") && seen.contains("[\"uname\"]"), "{seen}");
    assert!(seen.contains("policy.toml:2"), "{seen}");
    let reply = client.answer(call);
    assert_eq!(reply["result"]["structuredContent"]["stdout"]["text"], "Linux\n0\n", "{reply}");
}

#[test]
fn a_command_does_not_run_if_the_person_declines_or_cancels() {
    let mut client = client(FORMS);
    for action in ["decline", "cancel"] {
        // A program, and a command of haft.
        for command in ["uname", "seq 1"] {
            let call = client.begin("run", json!({ "script": format!("{command}; echo $?") }));
            answer(&mut client, &json!({ "action": action }));
            let data = &client.answer(call)["result"]["structuredContent"];
            assert_eq!(data["stdout"]["text"], "126\n", "{data}");
            let reason = data["stderr"]["text"].as_str().expect("a reason");
            assert!(reason.contains("refused by the user") && reason.contains("policy.toml:2"), "{reason}");
        }
    }
}

#[test]
fn an_answer_for_the_whole_session_is_asked_for_once() {
    let mut client = client(FORMS);
    let script = json!({ "script": "uname; uname", "session": "s" });
    let call = client.begin("run", script.clone());
    answer(&mut client, &json!({ "action": "accept", "content": { "always": true } }));
    let reply = client.answer(call);
    assert_eq!(reply["result"]["structuredContent"]["stdout"]["text"], "Linux\nLinux\n", "{reply}");
    assert_eq!(client.call("run", script).data()["stdout"]["text"], "Linux\nLinux\n");
    // Another session asks again.
    let call = client.begin("run", json!({ "script": "uname; echo $?" }));
    answer(&mut client, &json!({ "action": "decline" }));
    assert_eq!(client.answer(call)["result"]["structuredContent"]["stdout"]["text"], "126\n");
}

#[test]
fn a_client_that_cannot_ask_gets_a_refusal_with_the_rule() {
    for capabilities in ["{}", r#"{"elicitation": {"url": {}}}"#] {
        let mut client = client(capabilities);
        let reply = client.run("uname; echo $?");
        assert_eq!(reply.data()["stdout"]["text"], "126\n");
        let reason = reply.data()["stderr"]["text"].as_str().expect("a reason");
        assert!(reason.contains("needs approval") && reason.contains("policy.toml:2"), "{reason}");
    }
}

#[test]
fn a_timeout_withdraws_the_question() {
    let mut client = client(FORMS);
    let call = client.begin("run", json!({ "script": "uname", "timeout": 0.3 }));
    let question = client.notification("elicitation/create");
    let reply = client.answer(call);
    assert!(
        reply["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("timed out")),
        "{reply}"
    );
    let withdrawn = client.notification("notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
}

#[test]
fn budgets_hold_for_scripts_and_calls() {
    let mut client = client_with("[policy.budgets]\noutput = \"1M\"\nwall = \"2s\"\ncalls = 3\n", "{}");
    let reply = client.run("yes");
    assert_eq!(reply.data()["status"]["limit"], "output", "{:#}", reply.0);
    let reply = client.call("run", json!({ "script": "sleep 60", "timeout": 50 }));
    assert!(reply.text().contains("timed out"), "{}", reply.text());
    assert_eq!(client.run("echo alive").data()["stdout"]["text"], "alive\n");
    let reply = client.run("echo more");
    assert!(reply.is_error() && reply.text().contains("limit of 3 calls"), "{}", reply.text());
}
