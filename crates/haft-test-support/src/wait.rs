//! Waiting with a deadline.

use std::time::{Duration, Instant};

/// Polls `condition` until it is true or the deadline has passed. Returns whether it became true.
#[must_use = "the result says whether the condition became true"]
pub fn eventually(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + deadline;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs `action` and returns its result and duration.
pub fn measure<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = action();
    (result, start.elapsed())
}
