//! The tool `run`.

use std::net::TcpListener;

use haft_test_support::child;
use serde_json::json;

use crate::client::Client;

#[test]
fn output_comes_first_and_one_line_of_facts_last() {
    let mut client = Client::new();
    let reply = client.run("echo out; echo err >&2; exit 3");
    assert!(reply.text().starts_with("out\n[stderr]\nerr\n[exit 3 · "), "{}", reply.text());
    let data = reply.data();
    assert_eq!((&data["status"]["code"], &data["state"]), (&json!(3), &json!("ended")));
    assert_eq!(data["stages"].as_array().map(Vec::len), Some(3));
    assert_eq!(data["cwd"], client.scratch.path().display().to_string());
    assert!(!reply.is_error());
}

#[test]
fn a_stage_that_fails_in_the_middle_is_named() {
    let mut client = Client::new();
    let reply = client.run("cat /nowhere | wc -l");
    assert!(reply.facts().contains("exit 0") && reply.facts().contains("stage 'cat /nowhere' exited 1"));
    let reply = client.run("yes | head -n1");
    assert!(!reply.facts().contains("stage"), "{}", reply.facts());
}

#[test]
fn only_named_sessions_keep_state() {
    let mut client = Client::new();
    let mut run = |script: &str, session: Option<&str>| {
        let mut arguments = json!({ "script": script });
        if let Some(session) = session {
            arguments["session"] = json!(session);
        }
        client.call("run", arguments).data()["stdout"]["text"].clone()
    };
    run("x=1; f() { echo \"f $x\"; }; cd /; shopt -s extglob", Some("one"));
    assert_eq!(run("f; pwd", Some("one")), "f 1\n/\n");
    assert_eq!(run("[[ aab == +(a)b ]] && echo glob", Some("one")), "glob\n");
    assert_eq!(run("echo \"${x-unset}\"", Some("two")), "unset\n");
    assert_eq!(run("echo \"${x-unset}\"", None), "unset\n");
    let ended = json!({ "script": "echo $x", "session": "one", "end_session": true });
    assert_eq!(client.call("run", ended).data()["stdout"]["text"], "1\n");
    let again = json!({ "script": "echo \"${x-unset}\"", "session": "one" });
    assert_eq!(client.call("run", again).data()["stdout"]["text"], "unset\n");
}

#[test]
fn directory_environment_and_input_are_set() {
    let mut client = Client::new();
    let reply = client.call(
        "run",
        json!({
            "script": "pwd; echo $A; cat; echo $NO_COLOR $TERM $PAGER",
            "cwd": "/usr", "env": { "A": "b c" }, "stdin": "given\n",
        }),
    );
    assert_eq!(reply.data()["stdout"]["text"], "/usr\nb c\ngiven\n1 dumb cat\n");
    let reply = client.run("cat; read x; echo \"end $?\"");
    assert_eq!(reply.data()["stdout"]["text"], "end 1\n");
}

#[test]
fn limits_of_a_call_hold_and_are_reported() {
    let mut client = Client::new();
    let mut run = |script: &str, limits: serde_json::Value| {
        client.call("run", json!({ "script": script, "limits": limits }))
    };
    let reply = run("s=x; while :; do s=$s$s; done", json!({ "memory": 64 << 20 }));
    let data = reply.data();
    assert_eq!((&data["status"]["code"], &data["status"]["limit"]), (&json!(137), &json!("memory")));
    assert_eq!(
        (&data["limits"]["memory"]["asked"], &data["limits"]["memory"]["hit"]),
        (&json!(64 << 20), &json!(true))
    );
    let reply = run("\"$BASH\" -c :; seq 100000", json!({ "processes": 500, "cpu": 30, "output": 2000 }));
    let data = reply.data();
    assert_eq!(
        (&data["limits"]["cpu"]["asked"], &data["limits"]["cpu"]["enforced_by"]),
        (&json!(30), &json!("rlimit"))
    );
    assert_eq!(data["limits"]["processes"]["hit"], false, "{data}");
    assert!(data["stdout"]["omitted"]["lost_bytes"].as_u64() > Some(100_000), "{data}");
    let reply = run("echo", json!({ "cpu": -1 }));
    assert!(reply.is_error() && reply.text().contains("limits.cpu"), "{}", reply.text());
}

#[test]
fn limits_of_the_server_hold_for_every_call() {
    let mut client = Client::silent(&["--limit-memory", "64M", "--limit-processes", "400"]);
    client.introduce("2025-06-18", json!({}));
    let script = "s=x; while :; do s=$s$s; done";
    let reply = client.call("run", json!({ "script": script, "limits": { "memory": 1u64 << 40 } }));
    let limits = &reply.data()["limits"];
    assert_eq!((&limits["memory"]["asked"], &limits["processes"]["asked"]), (&json!(64 << 20), &json!(400)));
    assert!(reply.facts().contains("memory limit"), "{}", reply.facts());
}

#[test]
fn merged_output_is_in_true_order() {
    let mut client = Client::new();
    let script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done";
    let reply = client.call("run", json!({ "script": script, "merge": true }));
    assert!(reply.text().starts_with("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n["), "{}", reply.text());
}

#[test]
fn long_output_is_truncated_and_stays_readable() {
    let mut client = Client::new();
    let reply = client.run("seq 100000");
    assert!(reply.text().len() < 17_000 && reply.text().starts_with("1\n2\n"));
    let id = reply.data()["stdout"]["id"].clone();
    let call = format!("bytes omitted; full output: output(id={id}, view={{\"lines\":[");
    assert!(reply.facts().contains(&call), "{}", reply.facts());
    let looked = client.call("output", json!({ "id": id, "view": { "grep": "^5000.$" } }));
    assert!(looked.text().starts_with("50000:50000\n50001:50001\n"), "{}", looked.text());
    let looked = client.call("output", json!({ "id": id, "view": { "lines": [70000, 70001] } }));
    assert!(looked.text().starts_with("70000\n70001\n[588895 bytes, 100000 lines"), "{}", looked.text());
    let reply = client.call("run", json!({ "script": "seq 100000", "view": { "tail": 2 } }));
    assert!(reply.text().starts_with("99999\n100000\n[exit 0"), "{}", reply.text());
}

#[test]
fn both_ends_of_a_flood_are_kept() {
    let mut client = Client::new();
    let reply = client.run(&format!("{} flood $((256 << 20))", child()));
    let stdout = &reply.data()["stdout"];
    assert_eq!(stdout["total_bytes"], 256 << 20);
    assert!(reply.text().len() < 20_000 && stdout["omitted"]["lost_bytes"].as_u64() > Some(0));
    let memory = haft_test_support::process::memory(client.pid(), "VmHWM").unwrap();
    assert!(memory < 200 << 20, "the server takes {memory} bytes");
}

#[test]
fn invalid_utf8_output_is_handled() {
    let mut client = Client::new();
    let reply = client.run("printf '\\x00\\xff\\xfe\\x80%.0s' {1..100}");
    assert!(reply.text().starts_with("[400 bytes of binary data]\n[exit 0"), "{}", reply.text());
    let reply = client.run("printf 'caf\\xe9\\n'");
    assert!(reply.text().starts_with("caf\\xe9\n[exit 0"), "{}", reply.text());
}

#[test]
fn a_call_can_wait_for_a_condition() {
    let mut client = Client::new();
    let mut until = |script: &str, until: serde_json::Value| {
        let reply = client.call("run", json!({ "script": script, "until": until }));
        let met = reply.data()["met"].as_str().unwrap_or_default().to_owned();
        client.call("job", json!({ "action": "kill", "id": reply.job() }));
        met
    };
    assert_eq!(
        until("echo starting; echo 'ready on 80'; sleep 60", json!({ "pattern": "ready on \\d+" })),
        "output matched 'ready on 80'"
    );
    assert_eq!(until("echo x; sleep 60", json!({ "quiet": 0.3 })), "no output for 300ms");
    let met = until("sleep 0.2; touch made; sleep 60", json!({ "file": "made" }));
    assert!(met.ends_with("made' exists"), "{met}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let serve = format!("sleep 0.2; exec python3 -m http.server --bind 127.0.0.1 {port}");
    assert_eq!(until(&serve, json!({ "port": port })), format!("port localhost:{port} is open"));
    let ended = client.call("run", json!({ "script": "echo no", "until": { "pattern": "yes" } }));
    assert_eq!(ended.data()["state"], "ended");
}

#[test]
fn progress_reports_the_last_line() {
    let mut client = Client::new();
    let call = json!({
        "name": "run", "arguments": { "script": "echo compiling; sleep 3" }, "_meta": { "progressToken": "p" },
    });
    client.ask("tools/call", call);
    let told = client.notifications.iter().find(|told| told["method"] == "notifications/progress");
    let told = told.expect("there is progress");
    assert_eq!(told["params"]["progressToken"], "p");
    assert!(told["params"]["message"].as_str().is_some_and(|words| words.ends_with("compiling")), "{told}");
}

#[test]
fn a_tool_that_takes_long_reports_progress() {
    let mut client = Client::with_all_tools();
    for (tool, arguments) in
        [("bash", json!({ "command": "sleep 3" })), ("run", json!({ "script": "sleep 3" }))]
    {
        client.notifications.clear();
        let call = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": tool } });
        client.ask("tools/call", call);
        let told = client.notifications.iter().find(|told| told["params"]["progressToken"] == tool);
        assert!(told.is_some_and(|told| told["params"]["message"] == "running for 2 s"), "{tool}: {told:?}");
    }
}

#[test]
fn the_memory_limit_ends_only_one_script() {
    let mut client = Client::silent(&["--limit-memory", "64M"]);
    client.introduce("2025-06-18", json!({}));
    let setup = client.call("run", json!({ "script": "mkfifo go; x=kept", "session": "other" }));
    assert_eq!(setup.data()["status"]["code"], 0);
    let other = client.begin("run", json!({ "script": "read -r line < go; echo \"$line $((40 + 2))\"" }));
    for script in ["s=aaaaaaaa; while :; do s=$s$s; done", "x=$(cat /dev/zero)", "a=({1..900000000})"] {
        let reply = client.call("run", json!({ "script": script }));
        let data = reply.data();
        assert_eq!(
            (&data["status"]["code"], &data["status"]["limit"]),
            (&json!(137), &json!("memory")),
            "{data}"
        );
        assert!(reply.facts().contains("memory limit reached"), "{}", reply.text());
        assert!(reply.text().contains("needs") && reply.text().contains("64.0 MiB"), "{}", reply.text());
    }
    let kept = client.call("run", json!({ "script": "echo $x; echo on > go", "session": "other" }));
    assert_eq!(kept.data()["stdout"]["text"], "kept\n");
    let answer = client.answer(other);
    assert_eq!(answer["result"]["structuredContent"]["stdout"]["text"], "on 42\n", "{answer}");
}
