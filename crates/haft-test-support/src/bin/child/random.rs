//! SplitMix process trees that try to escape supervision. The same seed makes the same tree.

use std::time::Duration;

use crate::{stay, sys};

/// Maximum depth of a tree below its root.
const TREE_DEPTH: u64 = 3;

/// A random number generator with a seed (`SplitMix64`).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// Starts a tree. The root ends after `lifetime` milliseconds, or never if that is 0.
pub(crate) fn grow(seed: u64, lifetime: u64) -> i32 {
    let mut random = SplitMix(seed);
    branch(&mut random, TREE_DEPTH);
    if random.one_in(3) {
        sys::ignore(sys::SIGTERM);
    }
    if lifetime == 0 {
        return stay::sleep();
    }
    std::thread::sleep(Duration::from_millis(lifetime));
    0
}

/// Starts one to three processes, each with its own branches.
fn branch(random: &mut SplitMix, depth: u64) {
    for _ in 0..1 + random.below(3) {
        let seed = random.next();
        let twice = random.one_in(3);
        let child = sys::in_fork(|| {
            if twice {
                if seed.is_multiple_of(2) {
                    sys::new_session();
                }
                sys::in_fork(|| run_process(&mut SplitMix(seed), depth));
                return 0;
            }
            run_process(&mut SplitMix(seed), depth)
        });
        if twice {
            sys::reap(child);
        }
    }
}

/// Runs one process of the tree.
fn run_process(random: &mut SplitMix, depth: u64) -> i32 {
    change_properties(random);
    if depth > 1 && random.one_in(2) {
        branch(random, depth - 1);
    }
    match random.below(8) {
        0 => {
            sys::send_to_self(sys::SIGSTOP);
            stay::sleep()
        }
        1 => stay::end_first_thread(),
        2 => fork_on(random.below(4)),
        3 | 4 => without_environment(),
        5 => {
            // Ends before its children, which become orphans.
            branch(random, 1);
            0
        }
        _ => stay::sleep(),
    }
}

/// Changes properties by which a supervisor could find the process.
fn change_properties(random: &mut SplitMix) {
    if random.one_in(3) {
        sys::new_session();
    } else if random.one_in(3) {
        sys::new_group();
    }
    if random.one_in(2) {
        sys::ignore(sys::SIGTERM);
    }
    if random.one_in(4) {
        (0..3).for_each(sys::close_descriptor);
    }
    if random.one_in(4) {
        sys::hide_memory();
    }
    if random.one_in(6) {
        sys::new_user_namespace();
    }
}

/// Executes this program again, without an environment.
fn without_environment() -> i32 {
    let own = std::env::args().next().unwrap_or_default();
    sys::execute(&own, &[&own, "sleep"], &[])
}

/// Forks repeatedly. Each generation starts the next one and ends.
fn fork_on(pause: u64) -> i32 {
    for _ in 0..20_000 {
        if sys::fork_here() != 0 {
            return 0;
        }
        std::thread::sleep(Duration::from_millis(pause));
    }
    0
}
