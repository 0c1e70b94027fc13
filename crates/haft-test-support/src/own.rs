//! What this process holds: to be the same before and after.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]
#![expect(clippy::disallowed_methods, reason = "a test tells itself by its environment that it is alone")]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::{process, sys};

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
    if let Some((_, output)) = elsewhere(name, "", |_| body()) {
        check(&output);
    }
}

/// The same for a body that leaves many dead processes behind: they are inherited and reaped here. The system's first
/// process may take its time, and with many dead it is slow to look at all. No other test of the same program may
/// start processes of its own meanwhile, unless it is in quarantine too.
#[track_caller]
pub fn quarantine(name: &str, body: impl FnOnce()) {
    let Some(child) = again(name, "", |_| body()) else { return };
    sys::inherit_orphans();
    let result = std::thread::spawn(|| child.wait_with_output().expect("nobody else waits for it"));
    while !result.is_finished() {
        sys::reap_orphans();
        std::thread::sleep(Duration::from_millis(2));
    }
    check(&result.join().expect("waiting works"));
}

/// The same for a body that is given some text, and need not come back: the number of the process and what became of
/// it. `None` is the answer in that process itself, if the body does come back.
pub fn elsewhere(name: &str, text: &str, body: impl FnOnce(&str)) -> Option<(i32, Output)> {
    let child = again(name, text, body)?;
    Some((child.id() as i32, child.wait_with_output().expect("nobody else waits for it")))
}

/// Starts these tests again with the one of this name only, or runs the body if they were.
fn again(name: &str, text: &str, body: impl FnOnce(&str)) -> Option<Child> {
    const ALONE: &str = "HAFT_TEST_ALONE";
    if let Ok(text) = std::env::var(ALONE) {
        body(&text);
        return None;
    }
    let program = std::env::current_exe().expect("the tests have a path");
    let mut command = Command::new(program);
    command.args([name, "--exact", "--nocapture"]).env(ALONE, text);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command.spawn().expect("the tests can be started again"))
}

#[track_caller]
fn check(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    if let Some(reason) = text.lines().find(|line| line.starts_with("skipped: ")) {
        println!("{reason}");
    }
}
