//! Jobs that continue after their call.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use haft_test_support::{Marker, child, eventually};
use serde_json::json;

use crate::client::Client;

const SOON: std::time::Duration = std::time::Duration::from_secs(20);

#[test]
fn a_server_is_left_running_read_and_stopped() {
    let mut client = Client::new();
    let marker = Marker::new();
    let script = format!("echo listening; exec {} sleep {}", child(), marker.as_str());
    let reply = client.call("run", json!({ "script": script, "until": { "pattern": "listening" } }));
    assert!(reply.text().starts_with("listening\n[still running after "), "{}", reply.text());
    let job = reply.job();
    let listed = client.call("job", json!({ "action": "list" }));
    assert!(listed.text().starts_with(&format!("{job}  running  ")), "{}", listed.text());
    let read = client.call("job", json!({ "action": "read", "id": job }));
    assert!(read.text().starts_with("[still running"), "{}", read.text());
    assert!(eventually(SOON, || marker.count() == 1));
    let killed = client.call("job", json!({ "action": "kill", "job": job }));
    assert!(killed.facts().starts_with("[cancelled"), "{}", killed.facts());
    assert_eq!(marker.count(), 0);
    assert!(client.call("job", json!({ "action": "list" })).text().starts_with("no jobs"));
}

#[test]
fn a_dev_server_is_waited_for_by_its_port_used_read_and_stopped() {
    let mut client = Client::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = format!("exec python3 -u -m http.server --bind 127.0.0.1 {port}");
    let reply = client.call("run", json!({ "script": script, "until": { "port": port } }));
    assert_eq!(reply.data()["met"], format!("port localhost:{port} is open"));
    let job = reply.job();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /log HTTP/1.0\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.0 200 OK"), "{page}");
    let until = json!({ "pattern": "GET /log" });
    let read = client.call("job", json!({ "action": "wait", "id": job, "until": until }));
    assert!(read.text().contains("\"GET /log HTTP/1.0\" 200"), "{}", read.text());
    client.call("job", json!({ "action": "kill", "id": job }));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_port_that_another_process_had_open_is_told_apart() {
    let mut client = Client::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reply = client.call("run", json!({ "script": "sleep 60", "until": { "port": port } }));
    let met = reply.data()["met"].as_str().unwrap_or_default();
    assert!(met.contains("was open before, and no process of this job listens"), "{met}");
    client.call("job", json!({ "action": "kill", "id": reply.job() }));
}

#[test]
fn a_builtin_that_waits_for_input_is_not_named_by_the_process_of_the_server() {
    let mut client = Client::new();
    let reply = client.call("run", json!({ "script": "read x; echo got $x", "interactive": true }));
    let (job, server) = (reply.job(), client.pid().to_string());
    let write = format!("waiting for input: job(action=\"write\", id=\"{job}\", text=\"…\\n\")");
    assert!(reply.facts().contains(&write), "{}", reply.facts());
    assert!(!reply.0.to_string().contains(&server), "{}", reply.0);
    let ended = client.call("job", json!({ "action": "write", "id": job, "text": "it\n" }));
    assert!(ended.text().starts_with("got it\n[exit 0"), "{}", ended.text());
}

#[test]
fn an_interactive_program_can_be_driven_through_a_terminal() {
    let mut client = Client::new();
    let reply = client.call("run", json!({ "script": "python3 -q", "pty": true }));
    assert!(reply.text().contains(">>>") && reply.facts().contains("waiting for input"), "{}", reply.text());
    let job = reply.job();
    let mut write = |text: &str| client.call("job", json!({ "action": "write", "id": job, "text": text }));
    assert!(write("6 * 7\n").text().contains("\n42\n"));
    assert!(write("import time; time.sleep(60)\n").facts().contains("still running"));
    assert!(write("\u{3}").text().contains("KeyboardInterrupt"));
    let ended = write("exit(5)\n");
    assert!(ended.facts().starts_with("[exit 5"), "{}", ended.text());
}

#[test]
fn a_job_that_ends_while_it_is_reported_can_be_asked_for() {
    let mut client = Client::new();
    for number in 0..200 {
        let arguments = json!({ "script": format!("echo {number}"), "timeout": 0, "on_timeout": "background", "detail": "full" });
        let mut reply = client.call("run", arguments);
        let mut output = reply.data()["stdout"]["text"].as_str().unwrap().to_owned();
        while reply.data()["state"] == "running" {
            let wait = json!({ "action": "wait", "id": reply.job(), "detail": "full" });
            reply = client.call("job", wait);
            output.push_str(reply.data()["stdout"]["text"].as_str().unwrap());
        }
        assert_eq!(output, format!("{number}\n"));
    }
}

#[test]
fn a_character_that_is_written_in_two_parts_is_read_whole() {
    let mut client = Client::new();
    let script = "read x; printf '\\303'; read x; printf '\\244.\\n'; read x";
    let reply = client.call("run", json!({ "script": script, "interactive": true }));
    let job = reply.job();
    let mut text = String::new();
    for _ in 0..2 {
        let write = json!({ "action": "write", "id": job, "text": "\n", "detail": "full" });
        text.push_str(client.call("job", write).data()["stdout"]["text"].as_str().unwrap());
    }
    assert_eq!(text, "ä.\n");
}

#[test]
fn a_background_process_becomes_a_job() {
    let mut client = Client::new();
    let marker = Marker::new();
    let reply = client.run(&format!("{} sleep {} & echo started", child(), marker.as_str()));
    assert!(reply.text().starts_with("started\n[exit 0"), "{}", reply.text());
    assert!(
        reply.facts().contains("1 process still running in the background: job(action=\"kill\", id=\"j"),
        "{}",
        reply.facts()
    );
    assert!(eventually(SOON, || marker.count() == 1));
    let job = reply.job();
    client.call("job", json!({ "action": "kill", "id": job }));
    assert_eq!(marker.count(), 0);
}

#[test]
fn a_question_can_be_answered_through_a_terminal() {
    let mut client = Client::new();
    let script = "while read -p '> ' x; do echo \"got $x\"; done; echo over";
    let reply = client.call("run", json!({ "script": script, "pty": true }));
    assert!(reply.text().starts_with("> \n[still running") && reply.facts().contains("waiting for input"));
    let job = reply.job();
    let written = client.call("job", json!({ "action": "write", "id": job, "text": "one\n" }));
    assert!(written.text().contains("got one\n"), "{}", written.text());
    assert!(written.facts().contains("waiting for input"), "{}", written.facts());
    let ended = client.call("job", json!({ "action": "close_stdin", "id": job }));
    assert!(ended.text().contains("over\n[exit 0"), "{}", ended.text());
}

#[test]
fn a_password_prompt_is_noticed() {
    let mut client = Client::new();
    let script = "read -s -p 'Password: ' x; echo; echo \"${#x} letters\"";
    let reply = client.call("run", json!({ "script": script, "pty": true }));
    assert!(reply.text().starts_with("Password:"), "{}", reply.text());
    assert_eq!(reply.data()["needs_input"], true, "{}", reply.0);
    let listed = client.call("job", json!({ "action": "list" }));
    assert!(listed.text().contains("waiting for input"), "{}", listed.text());
    let ended = client.call("job", json!({ "action": "write", "id": reply.job(), "text": "secret\n" }));
    assert!(ended.text().contains("6 letters\n[exit 0"), "{}", ended.text());
}

#[test]
fn open_input_can_be_written_without_a_terminal() {
    let mut client = Client::new();
    let reply = client.call("run", json!({ "script": "cat; echo end", "interactive": true }));
    let job = reply.job();
    let until = json!({ "pattern": "hello" });
    let reply =
        client.call("job", json!({ "action": "write", "id": job, "text": "hello\n", "until": until }));
    assert!(reply.text().starts_with("hello\n[still running"), "{}", reply.text());
    let ended = client.call("job", json!({ "action": "close_stdin", "id": job }));
    assert!(ended.text().starts_with("end\n[exit 0"), "{}", ended.text());
}

#[test]
fn a_script_can_continue_after_the_timeout() {
    let mut client = Client::new();
    let left = json!({ "script": "echo a; sleep 1.5; echo b", "timeout": 0.5, "on_timeout": "background" });
    let reply = client.call("run", left);
    assert!(reply.text().starts_with("a\n[still running") && reply.facts().contains(" (timeout)"));
    let ended = client.call("job", json!({ "action": "wait", "id": reply.job() }));
    assert!(ended.text().starts_with("b\n[exit 0"), "{}", ended.text());
}

#[test]
fn a_signal_reaches_the_programs() {
    let mut client = Client::new();
    let reply =
        client.call("run", json!({ "script": "sleep 60", "timeout": 0.3, "on_timeout": "background" }));
    let arguments = json!({ "action": "signal", "id": reply.job(), "signal": "SIGTERM", "until": {} });
    let ended = client.call("job", arguments);
    assert!(ended.facts().starts_with("[exit 143") || ended.facts().contains("SIGTERM"), "{}", ended.facts());
}

#[test]
fn the_result_of_a_job_can_be_read_later() {
    let mut client = Client::new();
    let reply =
        client.call("run", json!({ "script": "sleep 0.5; echo done; exit 4", "until": { "quiet": 0.1 } }));
    let job = reply.job();
    let ended =
        |client: &mut Client| client.call("job", json!({ "action": "list" })).text().contains("ended");
    assert!(eventually(SOON, || ended(&mut client)));
    let read = client.call("job", json!({ "action": "read", "id": job }));
    assert!(read.text().starts_with("done\n[exit 4"), "{}", read.text());
}
