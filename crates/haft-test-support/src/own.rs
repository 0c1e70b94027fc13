//! Resources of the test process, and tests that run in their own process.
#![expect(clippy::disallowed_types, reason = "tests of the supervisor must not depend on it")]
#![expect(clippy::disallowed_methods, reason = "the environment marks a test that runs in its own process")]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::{process, sys};

/// Numbers of descriptors, threads and children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessResources {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Children, including zombies.
    pub children: usize,
}

/// Counts the resources of this process.
pub fn resources() -> ProcessResources {
    let pid = std::process::id() as i32;
    let threads = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    ProcessResources {
        descriptors: process::descriptors(pid),
        threads,
        children: process::children(pid).len(),
    }
}

/// Runs the body of the test `name` in its own process, isolated from the threads, descriptors and settings of other tests.
#[track_caller]
pub fn alone(name: &str, body: impl FnOnce()) {
    if let Some((_, output)) = elsewhere(name, "", |_| body()) {
        check(&output);
    }
}

/// Like [`alone`], for a body that leaves many orphans. They are inherited and reaped here, because init may be slow, and many
/// zombies slow down every scan of `/proc`. Other tests of the same program must not start processes meanwhile, unless they
/// use `quarantine` too.
#[track_caller]
pub fn quarantine(name: &str, body: impl FnOnce()) {
    let Some(child) = run_again(name, "", |_| body()) else { return };
    sys::inherit_orphans();
    let result = std::thread::spawn(|| child.wait_with_output().expect("only this waits for the child"));
    while !result.is_finished() {
        sys::reap_orphans();
        std::thread::sleep(Duration::from_millis(2));
    }
    check(&result.join().expect("waiting works"));
}

/// Like [`alone`], but passes a text to the body, which need not return. Returns the pid and output of the process. Returns
/// `None` in that process itself, if the body returns.
pub fn elsewhere(name: &str, text: &str, body: impl FnOnce(&str)) -> Option<(i32, Output)> {
    let child = run_again(name, text, body)?;
    Some((child.id() as i32, child.wait_with_output().expect("only this waits for the child")))
}

/// Starts the test program again with only this test, or runs the body if this is that process.
fn run_again(name: &str, text: &str, body: impl FnOnce(&str)) -> Option<Child> {
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
