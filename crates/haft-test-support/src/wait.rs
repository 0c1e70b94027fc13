//! Waiting with a deadline.

use std::time::{Duration, Instant};

/// Looks again and again until `condition` holds; says whether it did before the deadline.
#[must_use = "whether it came true is the point"]
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

/// Runs `action` and says how long it took.
pub fn measure<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = action();
    (result, start.elapsed())
}
