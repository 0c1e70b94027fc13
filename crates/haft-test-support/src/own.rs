//! What this process holds: to be the same before and after.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]
#![expect(clippy::disallowed_methods, reason = "a test tells itself by its environment that it is alone")]

use std::fs;
use std::process::Command;

use crate::process;

/// Descriptors, threads, and children dead or alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Children that live, and those that are dead and not reaped.
    pub children: usize,
}

/// Counts them now.
pub fn holdings() -> Holdings {
    let pid = std::process::id() as i32;
    let threads = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    Holdings { descriptors: process::descriptors(pid), threads, children: process::children(pid).len() }
}

/// Runs the body of a test, given by its name, in a process of its own, so that other tests' threads, descriptors and
/// settings are not in the way, whoever runs the tests and however many at once.
#[track_caller]
pub fn alone(name: &str, body: impl FnOnce()) {
    const ALONE: &str = "HAFT_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("the tests have a path");
    let output = Command::new(program).args([name, "--exact", "--nocapture"]).env(ALONE, "1").output();
    let output = output.expect("the tests can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    if let Some(reason) = text.lines().find(|line| line.starts_with("skipped: ")) {
        println!("{reason}");
    }
}
