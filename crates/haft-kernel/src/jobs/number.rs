//! Process numbers for work that is not a process: subshells on threads, and jobs that could not start.

use std::sync::atomic::{AtomicI32, Ordering};

/// The limit of Linux for `pid_max`. Every process number is below it.
const PID_LIMIT: i32 = 1 << 22;

/// How many numbers there are before they repeat.
const COUNT: i32 = 1 << 29;

/// A number that no process and no other work of this process has.
pub(crate) fn next_number() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(0);
    2 * PID_LIMIT + (NEXT.fetch_add(1, Ordering::Relaxed) & (COUNT - 1))
}

#[cfg(test)]
mod tests {
    use super::{PID_LIMIT, next_number};

    #[test]
    fn numbers_differ_and_are_above_those_of_processes() {
        let (first, second) = (next_number(), next_number());
        assert!(first > PID_LIMIT && second > first);
    }
}
