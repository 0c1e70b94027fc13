//! A stub of an MCP server with configurable faults.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use haft_test_support::{Haft, Scratch, eventually, process};

use crate::client::HAFT;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/stand_in.py");
const SOON: Duration = Duration::from_secs(30);

/// A home with a configuration.
pub(crate) fn configured(text: &str) -> Scratch {
    let scratch = Scratch::new();
    configure(&scratch, text);
    scratch
}

/// Changes the configuration.
pub(crate) fn configure(scratch: &Scratch, text: &str) {
    std::fs::create_dir_all(scratch.file("haft")).unwrap();
    std::fs::write(scratch.file("haft/config.toml"), text).unwrap();
}

/// A configuration that names the stub as a program, which logs its events to a file of the same name.
pub(crate) fn program(name: &str, scratch: &Scratch) -> String {
    let log = scratch.text(name);
    format!("[[mcp]]\nname = \"{name}\"\ncommand = [\"python3\", \"{SCRIPT}\", \"stdio\", \"{log}\"]\n")
}

/// A call of haft with this configuration.
pub(crate) fn haft(scratch: &Scratch) -> Haft {
    Haft::new(HAFT)
        .env("XDG_CONFIG_HOME", scratch.path())
        .env("XDG_CACHE_HOME", scratch.path())
        .env("TMPDIR", scratch.path())
        .directory(scratch.path())
}

/// The events that a stub has logged.
pub(crate) fn noticed(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.file(name)).unwrap_or_default()
}

/// Waits until a stub has logged an event.
#[track_caller]
pub(crate) fn await_notice(scratch: &Scratch, name: &str, what: &str) {
    let come = eventually(SOON, || noticed(scratch, name).contains(what));
    assert!(come, "noticed: {}", noticed(scratch, name));
}

/// Waits until no stub with this file runs.
#[track_caller]
pub(crate) fn await_end(scratch: &Scratch, name: &str) {
    let log = scratch.text(name);
    let is_left = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == log.as_bytes())
            && process::state(*pid).is_some_and(|state| state != 'Z')
    };
    assert!(eventually(SOON, || !process::all().iter().any(is_left)), "a server is left");
}

/// The stub as an HTTP server.
pub(crate) struct Web {
    process: Child,
    pub(crate) port: u16,
}

impl Web {
    /// Starts the stub, which logs to the file `web`.
    pub(crate) fn start(scratch: &Scratch, options: &[String]) -> Web {
        let mut process = Command::new("python3")
            .args([SCRIPT, "http", &scratch.text("web")])
            .args(options)
            .current_dir(scratch.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut line = String::new();
        let _ = BufReader::new(process.stdout.take().unwrap()).read_line(&mut line);
        Web { process, port: line.trim().parse().expect("a port") }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
