//! A client that does not read blocks neither calls nor the end of the server.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use haft_test_support::{Marker, Scratch, child, eventually, separate_directories, signal};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use serde_json::{Value, json};

use crate::client::HAFT;

const SOON: Duration = Duration::from_secs(30);
/// The server ends within one second; a loaded machine gets a little more.
const AT_ONCE: Duration = Duration::from_secs(3);

/// A server whose output is read only on demand.
struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _scratch: Scratch,
}

impl Server {
    fn start(arguments: &[&str], log: impl Into<Stdio>) -> Server {
        let scratch = Scratch::new();
        let mut command = Command::new(HAFT);
        command.arg("mcp").args(arguments).env("TMPDIR", scratch.path()).current_dir(scratch.path());
        command.envs(separate_directories());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = command.spawn().expect("haft can be started");
        let output = BufReader::new(process.stdout.take().expect("it has an output"));
        let input = process.stdin.take();
        let mut server = Server { process, input, output, _scratch: scratch };
        let own = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own });
        server.send("initialize", &hello);
        server.read();
        server
    }

    fn send(&mut self, method: &str, parameters: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        self.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("there is an answer");
        serde_json::from_str(&line).expect("it is JSON")
    }

    /// Fills its output with an unread answer.
    fn fill_output(&mut self) {
        fcntl_setpipe_size(self.output.get_ref(), 4096).expect("a small pipe");
        let script = "printf '%0200000d' 0; echo end >written";
        self.call("run", &json!({ "script": script, "view": { "bytes": 1_000_000 } }));
        let begun = || rustix::io::ioctl_fionread(self.output.get_ref()).is_ok_and(|bytes| bytes > 0);
        assert!(eventually(SOON, begun), "there is no answer");
    }

    fn ends_at_once(mut self, since: Instant) {
        let ended = || matches!(self.process.try_wait(), Ok(Some(_)));
        assert!(eventually(SOON, ended), "the server stays");
        assert!(since.elapsed() < AT_ONCE, "it took {:?}", since.elapsed());
        assert_eq!(self.process.wait().expect("it has ended").code(), Some(0));
    }

    fn pid(&self) -> i32 {
        self.process.id() as i32
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A pipe with a capacity of one page.
fn small_pipe() -> (File, OwnedFd) {
    let (far, near) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    fcntl_setpipe_size(&near, 4096).expect("a small pipe");
    (far.into(), near)
}

#[test]
fn an_unread_answer_does_not_delay_the_end_after_the_end_of_input() {
    let mut server = Server::start(&[], Stdio::null());
    server.fill_output();
    let start = Instant::now();
    server.input = None;
    server.ends_at_once(start);
}

#[test]
fn an_unread_answer_does_not_delay_the_end_after_sigterm() {
    let mut server = Server::start(&[], Stdio::null());
    server.fill_output();
    let start = Instant::now();
    signal(server.pid(), 15);
    server.ends_at_once(start);
}

#[test]
fn running_calls_and_background_processes_end_with_the_input() {
    let mut server = Server::start(&[], Stdio::null());
    let marker = Marker::new();
    let (program, name) = (child(), marker.as_str());
    let background = format!("{program} stubborn {name} & echo");
    server.call("run", &json!({ "script": background, "session": "s" }));
    server.read();
    let script = format!("trap '' TERM; {program} stubborn {name} & {program} stubborn {name}");
    server.call("run", &json!({ "script": script }));
    assert!(eventually(SOON, || marker.count() == 3));
    let start = Instant::now();
    server.input = None;
    server.ends_at_once(start);
    assert!(eventually(AT_ONCE, || marker.count() == 0), "{} are left", marker.count());
}

#[test]
fn a_call_that_is_almost_done_is_answered_after_the_end_of_input() {
    let mut server = Server::start(&[], Stdio::null());
    server.call("job", &json!({ "action": "list" }));
    server.input = None;
    assert_eq!(server.read()["result"]["isError"], false);
}

#[test]
fn an_unread_log_does_not_block_calls() {
    let (mut far, near) = small_pipe();
    let mut server = Server::start(&["--verbose"], near);
    for _ in 0..1500 {
        server.call("job", &json!({ "action": "list" }));
        server.read();
    }
    let marker = Marker::new();
    let script = format!("{} sleep {}", child(), marker.as_str());
    server.call("run", &json!({ "script": script, "timeout": 0.3 }));
    let answer = server.read()["result"]["content"][0]["text"].clone();
    assert!(answer.as_str().is_some_and(|text| text.starts_with("[timed out")), "{answer}");
    let (sender, log) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = far.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    server.input = None;
    let _ = server.process.wait();
    let log = log.recv_timeout(SOON).expect("the log ends with the server");
    assert!(log.contains("messages dropped, because standard error was not read"), "{log}");
}

#[test]
fn an_unread_log_does_not_delay_the_end() {
    let (far, near) = small_pipe();
    let mut server = Server::start(&["--verbose"], near);
    for _ in 0..300 {
        server.call("job", &json!({ "action": "list" }));
        server.read();
    }
    let start = Instant::now();
    signal(server.pid(), 15);
    server.ends_at_once(start);
    drop(far);
}

#[test]
fn an_unread_log_does_not_block_an_http_server() {
    let (far, near) = small_pipe();
    let scratch = Scratch::new();
    let mut process = Command::new(HAFT)
        .args(["mcp", "--http", "127.0.0.1:0", "--token-file"])
        .arg(scratch.file("token"))
        .env("TMPDIR", scratch.path())
        .envs(separate_directories())
        .current_dir(scratch.path())
        .stderr(near)
        .spawn()
        .expect("haft can be started");
    let mut line = String::new();
    let mut far = BufReader::with_capacity(128, far);
    far.read_line(&mut line).expect("it says where it listens");
    let address = line.trim().trim_end_matches("/mcp").rsplit('/').next().expect("an address").to_owned();
    let mut stream = TcpStream::connect(&address).expect("the server listens");
    for _ in 0..200 {
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("the server reads");
        let mut answer = [0; 4096];
        let count = stream.read(&mut answer).expect("the server answers");
        assert!(answer[..count].starts_with(b"HTTP/1.1 401"), "{}", String::from_utf8_lossy(&answer));
    }
    let start = Instant::now();
    signal(process.id() as i32, 15);
    assert!(eventually(SOON, || matches!(process.try_wait(), Ok(Some(_)))), "the server stays");
    assert!(start.elapsed() < AT_ONCE, "it took {:?}", start.elapsed());
}

#[test]
fn an_http_client_that_does_not_read_does_not_delay_the_end() {
    let server = crate::http::Server::start();
    let (program, marker) = (child(), Marker::new());
    let script = format!("printf '%08000000d' 0; {program} stubborn {} & wait", marker.as_str());
    let arguments = json!({ "script": script, "until": { "quiet": 0.5 }, "view": { "bytes": 16_000_000 } });
    let call = json!({ "name": "run", "arguments": arguments });
    let stream = server.begin(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
    assert!(eventually(SOON, || marker.count() == 1));
    let begun = || rustix::io::ioctl_fionread(&stream).is_ok_and(|bytes| bytes > 0);
    assert!(eventually(SOON, begun), "there is no answer");
    let start = Instant::now();
    server.end();
    assert!(start.elapsed() < AT_ONCE, "it took {:?}", start.elapsed());
    assert!(eventually(AT_ONCE, || marker.count() == 0), "{} are left", marker.count());
}
