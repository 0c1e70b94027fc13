//! The server over HTTP.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use haft_test_support::{Haft, Marker, Scratch, child, eventually, signal};
use serde_json::{Value, json};

use crate::client::HAFT;

const SOON: std::time::Duration = std::time::Duration::from_secs(30);

pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    _scratch: Scratch,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::configured(Scratch::new())
    }

    /// Starts a server with its configuration in a directory.
    fn configured(scratch: Scratch) -> Server {
        let file = scratch.file("token");
        let mut process = Command::new(HAFT)
            .args(["mcp", "--http", "127.0.0.1:0", "--detail", "full", "--token-file"])
            .arg(&file)
            .env("TMPDIR", scratch.path())
            .env("XDG_CONFIG_HOME", scratch.path())
            .env("XDG_CACHE_HOME", scratch.file("cache"))
            .env("XDG_STATE_HOME", scratch.file("state"))
            .current_dir(scratch.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("haft can be started");
        let mut line = String::new();
        let _ = BufReader::new(process.stderr.take().unwrap()).read_line(&mut line);
        let address = line.trim().trim_end_matches("/mcp").rsplit('/').next().unwrap_or_default().to_owned();
        let token = std::fs::read_to_string(file).expect("there is a token").trim().to_owned();
        Server { process, address, token, _scratch: scratch }
    }

    /// The headers of a client after the handshake.
    fn open(&self) -> String {
        let own = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
        let (_, answer) = self.post(&self.authorized(), &hello);
        let is_session = |line: &&str| line.to_ascii_lowercase().starts_with("mcp-session-id:");
        let session = answer.lines().find(is_session).expect("there is a session");
        let headers = format!("{}{}\r\n", self.authorized(), session.trim());
        self.post(&headers, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        headers
    }

    /// Sends a message. Returns the status and body of the answer.
    fn post(&self, headers: &str, message: &Value) -> (u16, String) {
        self.send("POST", headers, &message.to_string())
    }

    fn send(&self, method: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = self.request(method, headers, body);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    /// Sends a message in a new session, and does not read the answer.
    pub(crate) fn begin(&self, message: &Value) -> TcpStream {
        self.request("POST", &self.open(), &message.to_string())
    }

    /// Sends `SIGTERM` and waits until the server has ended.
    pub(crate) fn end(mut self) {
        signal(self.process.id() as i32, 15);
        assert!(eventually(SOON, || matches!(self.process.try_wait(), Ok(Some(_)))), "the server stays");
    }

    fn request(&self, method: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            self.address,
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        stream
    }

    fn authorized(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn call(script: &str) -> Value {
    call_in("s", script)
}

fn call_in(session: &str, script: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "run", "arguments": { "script": script, "session": session },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
}

#[test]
fn clients_with_the_token_are_served() {
    let server = Server::start();
    let modern = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: run\r\n";
    let headers = server.authorized() + modern;
    let (status, answer) = server.post(&headers, &call("x=4; echo $x$x"));
    assert!(status == 200 && answer.contains("44\\n"), "{answer}");
    let name =
        answer.split("session=\\\"").nth(1).and_then(|rest| rest.split('\\').next()).unwrap_or_default();
    assert!(name.starts_with("s-") && name.len() == 18, "{answer}");
    let (_, answer) = server.post(&headers, &call_in(name, "echo again $x"));
    assert!(answer.contains("again 4\\n") && !answer.contains("new session"), "{answer}");
    let (_, answer) = server.post(&headers, &call("echo \"[${x-unset}]\""));
    assert!(
        answer.contains("[unset]"),
        "a client that does not know the name gets a session of its own: {answer}"
    );
    let (_, answer) = server.post(&headers, &call_in("s-0123456789abcdef", "true"));
    assert!(answer.contains("unknown session"), "{answer}");
}

#[test]
fn large_integers_stay_exact() {
    let scratch = Scratch::new();
    crate::stand_in::configure(&scratch, &crate::stand_in::program("io", &scratch));
    let server = Server::configured(scratch);
    let number = "123456789012345678901234567890";
    let session = server.open();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"io__add","arguments":{{"a":{number},"b":1}}}}}}"#
    );
    let (_, answer) = server.send("POST", &session, &call);
    assert!(answer.contains(&format!(r#""id":{number}"#)), "{answer}");
    assert!(answer.contains(r#"{\"sum\":123456789012345678901234567891}"#), "{answer}");
    assert!(answer.contains(r#""structuredContent":{"sum":123456789012345678901234567891}"#), "{answer}");
}

#[test]
fn clients_without_the_token_are_refused() {
    let server = Server::start();
    assert_eq!(server.post("", &call("true")).0, 401);
    assert_eq!(server.post("Authorization: Bearer wrong\r\n", &call("true")).0, 401);
    let elsewhere = server.authorized() + "Origin: http://evil.example\r\n";
    assert_eq!(server.post(&elsewhere, &call("true")).0, 403);
}

#[test]
fn deleting_a_session_ends_only_its_processes() {
    let server = Server::start();
    let (first, second) = (Marker::new(), Marker::new());
    let sessions = [&first, &second].map(|marker| {
        let session = server.open();
        let script = format!("{} sleep {}", child(), marker.as_str());
        let arguments = json!({ "script": script, "until": { "quiet": 0.1 } });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "run", "arguments": arguments } });
        assert_eq!(server.post(&session, &call).0, 200);
        session
    });
    assert!(eventually(SOON, || first.count() == 1 && second.count() == 1));
    assert_eq!(server.send("DELETE", &sessions[0], "").0, 200);
    assert!(eventually(SOON, || first.count() == 0));
    assert_eq!(second.count(), 1);
    signal(server.process.id() as i32, 15);
    assert!(eventually(SOON, || second.count() == 0));
}

#[test]
fn sessions_and_jobs_belong_to_the_client_that_made_them() {
    let server = Server::start();
    let call = |headers: &str, name: &str, arguments: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        server.post(headers, &call).1
    };
    let (one, two) = (server.open(), server.open());
    call(&one, "run", json!({ "script": "x=mine", "session": "s" }));
    let seen =
        call(&two, "run", json!({ "script": "echo \"[${x-unset}]\"", "session": "s", "end_session": true }));
    assert!(seen.contains("[unset]"), "{seen}");
    let kept = call(&one, "run", json!({ "script": "echo \"[$x]\"", "session": "s" }));
    assert!(kept.contains("[mine]"), "{kept}");

    let started = call(&one, "run", json!({ "script": "sleep 60", "until": { "quiet": 0.1 } }));
    let id = started.split("id=\\\"").nth(1).and_then(|rest| rest.split('\\').next()).unwrap_or_default();
    assert!(id.len() > 16, "{started}");
    assert!(call(&two, "job", json!({ "action": "list" })).contains("no jobs"));
    assert!(call(&two, "job", json!({ "action": "kill", "id": id })).contains("unknown job"));
    assert!(call(&one, "job", json!({ "action": "kill", "id": id })).contains("cancelled"));
}

#[test]
fn invalid_messages_are_answered_with_the_code_for_their_fault() {
    let server = Server::start();
    let session = server.open();
    let (status, answer) = server.send("POST", &session, "{not json");
    assert!(status == 400 && answer.contains("-32700"), "{answer}");
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "run", "arguments": [] } });
    let (_, answer) = server.post(&session, &call);
    assert!(answer.contains("-32602"), "{answer}");
}

#[test]
fn methods_that_the_stateless_revision_removed_are_unknown_there() {
    let server = Server::start();
    let headers =
        server.authorized() + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: logging/setLevel\r\n";
    let message =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "logging/setLevel", "params": { "level": "info" } });
    let (status, answer) = server.post(&headers, &message);
    assert!(status == 404 && answer.contains("-32601") && answer.contains("\"id\":7"), "{answer}");
}

#[test]
fn headers_that_contradict_the_message_are_refused() {
    let server = Server::start();
    let modern = server.authorized() + "MCP-Protocol-Version: 2026-07-28\r\n";
    let right = modern.clone() + "Mcp-Method: tools/call\r\nMcp-Name: run\r\n";
    assert_eq!(server.post(&right, &call("true")).0, 200);
    for wrong in
        ["Mcp-Method: tools/list\r\nMcp-Name: run\r\n", "Mcp-Method: tools/call\r\nMcp-Name: job\r\n"]
    {
        let (status, answer) = server.post(&(modern.clone() + wrong), &call("true"));
        assert!(status == 400 && answer.contains("-32020"), "{answer}");
    }
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    let refused = Haft::new(HAFT).args(["mcp", "--http", "0.0.0.0:0"]).run().status(2);
    refused.stderr_has("0.0.0.0:0 is not a loopback address");
}

#[test]
fn a_token_file_readable_by_others_is_rejected() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let file = scratch.file("token");
    for (mode, reason) in [
        (0o666, "other users may write to it (mode 0666)"),
        (0o640, "other users may read it (mode 0640)"),
        (0o604, "other users may read it (mode 0604)"),
    ] {
        std::fs::write(&file, "0123456789abcdef0123\n").expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("a mode");
        let call = Haft::new(HAFT);
        let call = call.args(["mcp", "--http", "127.0.0.1:0", "--token-file"]).arg(&file);
        let run = call.run().status(2).stderr_has("cannot read the token").stderr_has(reason);
        let _ = run.stderr_has("hint: ");
    }
}
