//! A minimal MCP client: lines of JSON.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]
#![expect(clippy::needless_pass_by_value, reason = "values are handed over as they are written")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use haft_test_support::{Scratch, eventually, separate_directories};
use haft_tools::exact;
use serde_json::{Value, json};

/// The haft executable.
pub(crate) const HAFT: &str = env!("CARGO_BIN_EXE_haft");
/// The longest time to wait for an answer.
const LONGEST: Duration = Duration::from_secs(90);

/// A server and its messages.
pub(crate) struct Client {
    pub(crate) server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    answers: HashMap<u64, Value>,
    pub(crate) notifications: Vec<Value>,
    last: u64,
    /// The directory of the server's files.
    pub(crate) scratch: Scratch,
}

impl Client {
    /// Starts a server and performs the handshake.
    pub(crate) fn new() -> Client {
        let mut client = Client::silent(&[]);
        client.introduce("2025-06-18", json!({}));
        client
    }

    /// Starts a server whose results are text only, as by default.
    pub(crate) fn with_text_results() -> Client {
        let mut client = Client::silent(&["--detail", "text"]);
        client.introduce("2025-06-18", json!({}));
        client
    }

    /// Starts a server that offers all tools.
    pub(crate) fn with_all_tools() -> Client {
        let mut client = Client::silent(&["--tools", "all"]);
        client.introduce("2025-06-18", json!({}));
        client
    }

    /// Starts a server without a handshake.
    pub(crate) fn silent(arguments: &[&str]) -> Client {
        Client::start(Scratch::new(), arguments, &[])
    }

    /// Starts a server with its files and configuration in a directory.
    pub(crate) fn configured(scratch: Scratch) -> Client {
        Client::configured_with(scratch, &[])
    }

    /// Starts a server with additional environment variables.
    pub(crate) fn configured_with(scratch: Scratch, environment: &[(&str, &str)]) -> Client {
        let mut client = Client::start(scratch, &[], environment);
        client.introduce("2025-06-18", json!({}));
        client
    }

    /// Starts a server as another user, with additional environment variables. Needs root.
    pub(crate) fn as_user(user: u32, environment: &[(&str, &str)]) -> Client {
        let scratch = Scratch::new();
        let program = scratch.file("haft");
        std::fs::copy(HAFT, &program).expect("a copy that others can read");
        for path in [scratch.path(), &program] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        std::os::unix::fs::chown(scratch.path(), Some(user), Some(user)).expect("an owner");
        // The shell creates the pipes, so that they belong to the user.
        let mut command = Command::new("bash");
        command.args(["-c", "cat | \"$0\" \"$@\" | cat"]).arg(&program);
        command.uid(user).gid(user).env("HOME", scratch.path()).envs(environment.iter().copied());
        let mut client = Client::with(command, scratch, &[]);
        client.introduce("2025-06-18", json!({}));
        client
    }

    pub(crate) fn start(scratch: Scratch, arguments: &[&str], environment: &[(&str, &str)]) -> Client {
        let mut command = Command::new(HAFT);
        command.envs(environment.iter().copied());
        Client::with(command, scratch, arguments)
    }

    fn with(mut command: Command, scratch: Scratch, arguments: &[&str]) -> Client {
        command.arg("mcp").args(arguments).env("TMPDIR", scratch.path()).current_dir(scratch.path());
        if !arguments.contains(&"--detail") {
            // Most tests look at single facts.
            command.args(["--detail", "full"]);
        }
        command.env("XDG_CONFIG_HOME", scratch.path()).env("XDG_CACHE_HOME", scratch.file("cache"));
        let [_, (state, separate)] = separate_directories();
        if !command.get_envs().any(|(name, _)| name == state) {
            command.env(state, separate);
        }
        let log = std::fs::File::create(scratch.file("log")).expect("a log");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut server = command.spawn().expect("haft can be started");
        let output = server.stdout.take().expect("it has an output");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = exact::parse(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                let _ = sender.send(message);
            }
        });
        let input = server.stdin.take();
        let (answers, notifications) = (HashMap::new(), Vec::new());
        Client { server, input, messages, answers, notifications, last: 0, scratch }
    }

    pub(crate) fn introduce(&mut self, revision: &str, capabilities: Value) -> Value {
        let own = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": own });
        let answer = self.ask("initialize", hello);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    /// Writes raw bytes.
    pub(crate) fn write(&mut self, text: &str) {
        let _ = self.input.as_mut().expect("it is open").write_all(text.as_bytes());
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn request(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        id
    }

    /// Sends a tool call without waiting for the answer.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for an answer.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        let end = Instant::now() + LONGEST;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).expect("there is an answer");
            match message["id"].as_u64() {
                Some(id) if message["method"].is_null() => drop(self.answers.insert(id, message)),
                _ => self.notifications.push(message),
            }
        }
    }

    /// Waits for a notification or a request of the server.
    #[track_caller]
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        let end = Instant::now() + LONGEST;
        loop {
            if let Some(place) = self.notifications.iter().position(|told| told["method"] == method) {
                return self.notifications.remove(place);
            }
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).expect("there is a notification");
            match message["id"].as_u64() {
                Some(id) if message["method"].is_null() => drop(self.answers.insert(id, message)),
                _ => self.notifications.push(message),
            }
        }
    }

    /// Sends a request and waits for the answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.request(method, parameters);
        self.answer(id)
    }

    /// Calls a tool and waits for the result.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        let id = self.begin(tool, arguments);
        Reply(self.answer(id))
    }

    /// Runs a script without options.
    #[track_caller]
    pub(crate) fn run(&mut self, script: &str) -> Reply {
        self.call("run", json!({ "script": script }))
    }

    /// Whether the server wrote nothing that was not read. For a server that has ended.
    pub(crate) fn no_more_messages(&mut self) -> bool {
        self.messages.recv_timeout(LONGEST).is_err()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.server.id() as i32
    }

    /// Disconnects. Returns the exit status of the server.
    #[track_caller]
    pub(crate) fn leave(&mut self) -> Option<i32> {
        self.input = None;
        assert!(eventually(LONGEST, || matches!(self.server.try_wait(), Ok(Some(_)))), "the server stays");
        self.server.wait().expect("it has ended").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Reply(pub(crate) Value);

impl Reply {
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        self.0["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {}", self.0))
    }

    pub(crate) fn data(&self) -> &Value {
        &self.0["result"]["structuredContent"]
    }

    pub(crate) fn is_error(&self) -> bool {
        self.0["result"]["isError"] == true
    }

    /// The last line, which has the facts.
    pub(crate) fn facts(&self) -> &str {
        self.text().trim_end().lines().last().unwrap_or_default()
    }

    /// The running job.
    #[track_caller]
    pub(crate) fn job(&self) -> String {
        self.data()["job"].as_str().unwrap_or_else(|| panic!("no job: {}", self.0)).to_owned()
    }
}
