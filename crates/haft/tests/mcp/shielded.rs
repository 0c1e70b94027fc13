//! Scripts cannot reach the messages or the environment of their server.

use haft_test_support::{Scratch, process};
use serde_json::json;

use crate::client::Client;

/// A user without privileges.
const NOBODY: u32 = 65534;
/// A secret of the client and the server.
const CANARY: &str = "canary-4f9a1c7e";
const ENVIRONMENT: [(&str, &str); 1] = [("HAFT_TEST_API_KEY", CANARY)];

/// A server as root if the test runs as root, and one as an unprivileged user.
fn servers() -> Vec<Client> {
    let own = Client::configured_with(Scratch::new(), &ENVIRONMENT);
    if rustix::process::geteuid().is_root() {
        vec![own, Client::as_user(NOBODY, &ENVIRONMENT)]
    } else {
        vec![own]
    }
}

/// The server and its watcher.
fn processes(client: &mut Client) -> String {
    // The watcher starts with the first program; the server is its parent.
    let own = client.run("bash -c 'echo $PPID'").data()["stdout"]["text"].as_str().map(str::to_owned);
    let own: i32 = own.and_then(|own| own.trim().parse().ok()).expect("a process");
    let mut all = vec![own];
    all.extend(process::children(own));
    assert!(all.len() > 1, "there is a watcher");
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

const FORGED: &str = r#"{"jsonrpc":"2.0","method":"forged"}"#;

#[test]
fn no_program_can_write_a_message_for_the_server_or_to_it() {
    for mut client in servers() {
        let processes = processes(&mut client);
        let script = format!(
            "bash -c 'for pid in {processes}; do for n in {{0..40}}; do \
               for file in /proc/$pid/fd/$n /proc/$pid/task/$pid/fd/$n; do \
                 {{ echo \"$1\" >$file; }} 2>/dev/null && echo \"$file is open\"; \
               done; \
             done; done' _ '{FORGED}'"
        );
        let reply = client.run(&script);
        assert_eq!(reply.data()["stdout"]["text"], "", "{}", reply.text());
        client.run("true");
        assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    }
}

#[test]
fn no_script_in_the_server_can_open_its_pipes_by_any_name() {
    for mut client in servers() {
        let attack = format!(
            "ln -s /proc/$$/fd link; for n in {{3..40}}; do \
               for file in /proc/self/fd/$n /proc/$$/fd/$n /proc/$$/task/$$/fd/$n link/$n; do \
                 [[ -p $file ]] && echo '{FORGED}' >$file; \
               done; \
             done; cd /proc/self/fd && for n in {{3..40}}; do [[ -p $n ]] && echo '{FORGED}' >$n; done"
        );
        let reply = client.run(&attack);
        assert!(reply.text().contains("Permission denied"), "the pipes were found: {}", reply.text());
        let reply = client.run("exec 9>&1; echo fine >/proc/self/fd/9");
        assert_eq!(reply.data()["stdout"]["text"], "fine\n", "the script's own descriptors are its own");
        assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    }
}

#[test]
fn no_file_tool_can_write_into_the_pipes_of_the_server() {
    let mut client = Client::new();
    for number in 3..40 {
        let path = format!("/proc/self/fd/{number}");
        client.call("file_write", json!({ "path": path, "content": format!("{FORGED}\n") }));
    }
    client.run("true");
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
}

#[test]
fn neither_the_environment_nor_the_memory_of_the_server_can_be_read() {
    for mut client in servers() {
        let processes = processes(&mut client);
        let script = format!(
            "for pid in {processes}; do \
               bash -c 'tr \"\\0\" \"\\n\" </proc/'$pid'/environ; exec 3</proc/'$pid'/mem && echo memory'; \
               mapfile -d '' all </proc/$pid/environ && printf '%s\\n' \"${{all[@]}}\"; \
             done 2>/dev/null; true"
        );
        let text = client.run(&script).text().to_owned();
        assert!(!text.contains(CANARY) && !text.contains("memory"), "{text}");
    }
}

#[test]
fn allow_ptrace_lets_root_trace() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let script = "while read -r name value; do [[ $name == CapEff: ]] && echo $(( 0x$value >> 19 & 1 )); done \
                  < <(cat /proc/self/status)";
    let traces = |arguments: &[&str]| {
        let mut client = Client::start(Scratch::new(), arguments, &[]);
        client.introduce("2025-06-18", json!({}));
        client.run(script).data()["stdout"]["text"].clone()
    };
    assert_eq!(traces(&[]), "0\n");
    assert_eq!(traces(&["--allow-ptrace"]), "1\n");
}

#[test]
fn waiting_for_input_is_still_detected() {
    for mut client in servers() {
        let reply = client.call("run", json!({ "script": "read x; echo \"got $x\"", "interactive": true }));
        assert!(reply.facts().contains("waiting for input"), "{}", reply.text());
        let job = reply.job();
        let reply = client.call("job", json!({ "id": job, "action": "write", "text": "abc\n" }));
        assert!(reply.text().contains("got abc"), "{}", reply.text());
    }
}

#[test]
fn the_server_survives_signals_to_its_group_and_from_its_programs() {
    let mut client = Client::new();
    for script in [
        "/bin/kill -TERM 0",
        "bash -c 'kill -TERM 0'",
        "bash -c 'kill -TERM -- -$$'",
        "bash -c 'trap \"kill 0\" EXIT'",
        "setsid -w bash -c 'kill -HUP 0'",
        "stty raw </dev/tty",
        "bash -c 'kill -TERM $PPID'",
        "bash -c 'kill -INT $PPID; kill -HUP $PPID; sleep 0.1'",
    ] {
        client.run(script);
        assert_eq!(client.run("echo alive").data()["stdout"]["text"], "alive\n", "{script}");
    }
}
