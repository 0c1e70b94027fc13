//! The cost of an MCP call, compared with an echo over the same transport and with starting a program directly. With another
//! server, the name of its tool and the arguments (JSON) that run `/bin/true`, both servers are measured in turns:
//! `cargo bench -p haft --bench mcp -- --against TOOL ARGUMENTS PROGRAM…`.
#![expect(clippy::disallowed_types, reason = "the measure is started by the standard library")]
#![expect(clippy::needless_pass_by_value, reason = "values are handed over as they are written")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const ROUNDS: usize = 2000;
const MANY: usize = 10_000;

fn main() {
    let mut ours = Server::start(&[env!("CARGO_BIN_EXE_haft").to_owned(), "mcp".to_owned()]);
    let echo = median(ROUNDS, || drop(ours.ask("ping", json!({}))));
    println!("echo of the transport (ping)      {echo:>10.1?}");
    let nothing = median(ROUNDS, || drop(ours.run("true")));
    println!(
        "run 'true'                        {nothing:>10.1?}   {:.1?} over the echo",
        nothing.saturating_sub(echo)
    );
    let builtin = median(ROUNDS, || drop(ours.run("echo hello")));
    println!(
        "run 'echo hello'                  {builtin:>10.1?}   {:.0} calls/s",
        1.0 / builtin.as_secs_f64()
    );
    let program = median(500, || drop(ours.run("/bin/true")));
    let bare = median(500, || drop(Command::new("/bin/true").status()));
    println!("run '/bin/true'                   {program:>10.1?}   a bare spawn takes {bare:.1?}");
    let start = Instant::now();
    let before = ours.memory();
    for _ in 0..MANY {
        ours.run("echo hello");
    }
    let rate = MANY as f64 / start.elapsed().as_secs_f64();
    println!(
        "{MANY} calls                       {rate:>8.0}/s   memory {before} KiB before, {} KiB after",
        ours.memory()
    );
    against(&mut ours);
}

/// Measures another server by turns with ours.
fn against(ours: &mut Server) {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--against").skip(1).collect();
    let [tool, arguments, command @ ..] = words.as_slice() else { return };
    let arguments: Value = serde_json::from_str(arguments).expect("the arguments are JSON");
    let call = json!({ "name": tool, "arguments": arguments });
    let mut theirs = Server::start(command);
    println!("the other server answers          {}", theirs.ask("tools/call", call.clone()));
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        our_times.push(time(|| drop(ours.run("/bin/true"))));
        their_times.push(time(|| drop(theirs.ask("tools/call", call.clone()))));
    }
    println!("'/bin/true' here {:.1?}, there {:.1?}", middle(our_times), middle(their_times));
}

struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start(command: &[String]) -> Server {
        let mut process = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server can be started");
        let input = process.stdin.take().expect("it has an input");
        let output = BufReader::new(process.stdout.take().expect("it has an output"));
        let mut server = Server { process, input, output, last: 0 };
        let own = json!({ "name": "bench", "version": "1" });
        server.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own }),
        );
        let _ = server.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        server
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters });
        self.input.write_all(format!("{request}\n").as_bytes()).expect("it listens");
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).is_ok_and(|read| read > 0), "it has ended");
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            if answer["id"] == self.last {
                return answer;
            }
        }
    }

    fn run(&mut self, script: &str) -> Value {
        self.ask("tools/call", json!({ "name": "run", "arguments": { "script": script } }))
    }

    /// Resident, in KiB.
    fn memory(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn time(action: impl FnOnce()) -> Duration {
    let start = Instant::now();
    action();
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn median(rounds: usize, mut action: impl FnMut()) -> Duration {
    middle((0..rounds).map(|_| time(&mut action)).collect())
}
