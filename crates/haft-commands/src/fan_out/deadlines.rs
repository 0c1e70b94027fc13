//! The time limits of items.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The deadlines of running items.
#[derive(Debug)]
pub(super) struct Deadlines {
    timeout: Option<Duration>,
    expired: HashSet<u64>,
}

impl Deadlines {
    /// `None` means that items have no time limit.
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, expired: HashSet::new() }
    }

    /// Ends the time of an item. Returns whether it had expired.
    pub(super) fn end(&mut self, index: u64) -> bool {
        self.expired.remove(&index)
    }

    /// The time at which the next of the running items expires, by their start times.
    pub(super) fn next(&self, running: impl FnOnce() -> HashMap<u64, Instant>) -> Option<Instant> {
        let timeout = self.timeout?;
        let running = running();
        let left = running.iter().filter(|(index, _)| !self.expired.contains(index));
        left.filter_map(|(_, started)| started.checked_add(timeout)).min()
    }

    /// The items that have expired since the last call.
    pub(super) fn expire(&mut self, running: impl FnOnce() -> HashMap<u64, Instant>) -> Vec<u64> {
        let Some(timeout) = self.timeout else { return Vec::new() };
        let running = running();
        let is_over = |started: &Instant| started.elapsed() >= timeout;
        let over = running.iter().filter(|(_, started)| is_over(started)).map(|(index, _)| *index);
        let expired: Vec<u64> = over.filter(|index| !self.expired.contains(index)).collect();
        self.expired.extend(&expired);
        expired
    }
}
