//! Finding the processes of a test, whatever they have changed.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{process, signal};

/// A unique argument that forked processes keep. It identifies the processes of a test even after they changed their parent,
/// session, group and environment. Dropping it kills the processes that are left, so that they do not disturb other tests.
#[derive(Debug)]
pub struct Marker(String);

impl Marker {
    /// Makes a unique marker.
    #[expect(clippy::new_without_default, reason = "a marker belongs to one test")]
    pub fn new() -> Marker {
        static MARKER_COUNT: AtomicU32 = AtomicU32::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let count = MARKER_COUNT.fetch_add(1, Ordering::Relaxed);
        Marker(format!("marker-{}-{count}-{:x}", std::process::id(), now.as_nanos()))
    }

    /// Returns the marker as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the running child programs that have the marker as an argument. A `haft` that started them is not included.
    pub fn pids(&self) -> Vec<i32> {
        let is_ours = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|&byte| byte == 0);
            words.next().is_some_and(|program| program.ends_with(b"haft-test-child"))
                && words.any(|word| word == self.0.as_bytes())
                && process::state(*pid).is_some_and(|state| state != 'Z' && state != 'X')
        };
        // A scan may miss a process that forks and exits, but not several scans in a row.
        let scan = || process::all().into_iter().rev().filter(|pid| is_ours(pid)).collect::<Vec<_>>();
        let found = (0..5).map(|_| scan()).find(|found| !found.is_empty());
        found.unwrap_or_default()
    }

    /// Returns the number of these processes.
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
