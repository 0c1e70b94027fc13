//! Finding the processes of one test again, whatever has become of them.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{process, signal};

/// A word that no other process has among its arguments. Forks keep it; so it finds those who have changed their
/// parent, session, group and environment. What is left when it is dropped is killed, so that no test disturbs another.
#[derive(Debug)]
pub struct Marker(String);

impl Marker {
    /// A new word.
    #[expect(clippy::new_without_default, reason = "a marker is made for one test, not by default")]
    pub fn new() -> Marker {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Marker(format!("marker-{}-{count}-{:x}", std::process::id(), now.as_nanos()))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The living processes that are called with exactly this word as an argument of a child's mode, which leaves out
    /// a `haft` that was told to start them.
    pub fn pids(&self) -> Vec<i32> {
        let is_ours = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|&byte| byte == 0);
            words.next().is_some_and(|program| program.ends_with(b"haft-test-child"))
                && words.any(|word| word == self.0.as_bytes())
                && process::state(*pid).is_some_and(|state| state != 'Z' && state != 'X')
        };
        // Whoever starts another and ends may be missed once, but not again and again.
        let look = || process::all().into_iter().rev().filter(|pid| is_ours(pid)).collect::<Vec<_>>();
        let found = (0..5).map(|_| look()).find(|found| !found.is_empty());
        found.unwrap_or_default()
    }

    /// How many of them there are.
    pub fn count(&self) -> usize {
        self.pids().len()
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        for _ in 0..100 {
            let left = self.pids();
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(|pid| signal(pid, libc::SIGKILL));
        }
    }
}
