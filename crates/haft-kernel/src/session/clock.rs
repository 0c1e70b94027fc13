//! `SECONDS`.

use std::time::{Duration, Instant};

/// The clock behind `SECONDS`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// When the shell started, or when `SECONDS` was last assigned.
    start: Instant,
    /// The value of `SECONDS` at that time.
    offset: u64,
}

impl Clock {
    /// A clock that shows 0 now.
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), offset: 0 }
    }

    /// The time since the shell started, or since `SECONDS` was last assigned.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The value of `SECONDS`.
    pub(crate) fn seconds(&self) -> u64 {
        self.elapsed().as_secs().wrapping_add(self.offset)
    }

    /// Assigns `SECONDS`.
    pub(crate) fn set_seconds(&mut self, seconds: u64) {
        *self = Self { start: Instant::now(), offset: seconds };
    }
}
