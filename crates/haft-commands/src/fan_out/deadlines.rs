//! The time limits of items.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The deadlines of running items.
#[derive(Debug)]
pub(super) struct Deadlines {
    timeout: Option<Duration>,
    running: HashMap<u64, Instant>,
    expired: HashSet<u64>,
}

impl Deadlines {
    /// `None` means that items have no time limit.
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, running: HashMap::new(), expired: HashSet::new() }
    }

    /// Starts the time of an item.
    pub(super) fn start(&mut self, index: u64) {
        if let Some(deadline) = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout)) {
            self.running.insert(index, deadline);
        }
    }

    /// Ends the time of an item. Returns whether it had expired.
    pub(super) fn end(&mut self, index: u64) -> bool {
        self.running.remove(&index);
        self.expired.remove(&index)
    }

    /// The time until the next item expires.
    pub(super) fn next(&self) -> Option<Duration> {
        let next = self.running.values().min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// The items that have expired since the last call.
    pub(super) fn expire(&mut self) -> Vec<u64> {
        if self.running.is_empty() {
            return Vec::new();
        }
        let now = Instant::now();
        let expired: Vec<u64> =
            self.running.iter().filter(|(_, deadline)| **deadline <= now).map(|(index, _)| *index).collect();
        for index in &expired {
            self.running.remove(index);
            self.expired.insert(*index);
        }
        expired
    }
}
