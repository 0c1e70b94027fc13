//! A family in which everybody tries to get away in a way of their own.

use std::time::Duration;

use crate::{stay, sys};

/// Grows a tree of ten descendants, each of which adds a line to `ready` when it is in place, and stays. The marker is
/// only there to be seen in the arguments, which no fork changes. All of them can be told by their environment if `reach` is
/// `marker`. With `descent` there is one that has cleared it, with `all` one more that has no tie left to its family but
/// the one the kernel keeps.
pub(crate) fn grow(_marker: &str, ready: &str, reach: &str) -> i32 {
    plain(ready);
    in_own_session(ready);
    in_own_group_with_nothing_open(ready);
    immune_to(sys::SIGHUP, ready);
    immune_to(sys::SIGTERM, ready);
    twice_forked(ready);
    if reach != "marker" {
        without_environment(ready, false);
    }
    chain(3, ready);
    stopped(ready);
    restless(ready);
    if reach == "all" {
        without_environment(ready, true);
    }
    sys::ignore(sys::SIGTERM);
    stay::sleep()
}

/// Leaves an orphan that has cleared its environment and is in a session of its own, and stays.
pub(crate) fn stray(_marker: &str, ready: &str) -> i32 {
    without_environment(ready, true);
    stay::sleep()
}

fn plain(ready: &str) {
    sys::in_fork(|| stay::pause(ready));
}

fn in_own_session(ready: &str) {
    sys::in_fork(|| {
        sys::new_session();
        stay::pause(ready)
    });
}

fn in_own_group_with_nothing_open(ready: &str) {
    sys::in_fork(|| {
        sys::new_group();
        (0..3).for_each(sys::close_descriptor);
        stay::pause(ready)
    });
}

fn immune_to(signal: i32, ready: &str) {
    sys::in_fork(|| {
        sys::ignore(signal);
        sys::new_group();
        stay::pause(ready)
    });
}

/// A daemon as the books have it: an orphan in a session that it does not lead.
fn twice_forked(ready: &str) {
    let between = sys::in_fork(|| {
        sys::new_session();
        sys::in_fork(|| {
            sys::ignore(sys::SIGTERM);
            stay::pause(ready)
        });
        0
    });
    sys::reap(between);
}

/// Starts this program anew with no environment; as an orphan in a session of its own if `lost`.
fn without_environment(ready: &str, lost: bool) {
    let start = || {
        sys::new_session();
        sys::ignore(sys::SIGTERM);
        let own = std::env::args().collect::<Vec<_>>();
        sys::execute("/proc/self/exe", &[&own[0], "pause", &own[2], ready], &[])
    };
    if lost {
        let between = sys::in_fork(|| {
            sys::in_fork(start);
            0
        });
        sys::reap(between);
    } else {
        sys::in_fork(start);
    }
}

/// A child with a child, and so on; only the last one says that it is there.
fn chain(depth: u32, ready: &str) {
    sys::in_fork(|| {
        sys::new_group();
        if depth == 1 {
            return stay::pause(ready);
        }
        chain(depth - 1, ready);
        stay::sleep()
    });
}

fn stopped(ready: &str) {
    sys::in_fork(|| {
        stay::announce(ready);
        sys::send_to_self(sys::SIGSTOP);
        stay::sleep()
    });
}

/// Each generation starts the next one and ends, so that nobody is where he was seen.
fn restless(ready: &str) {
    sys::in_fork(|| {
        sys::new_session();
        sys::ignore(sys::SIGTERM);
        stay::announce(ready);
        // The first generation's alarm does not reach the others, so generations are counted.
        for _ in 0..40_000 {
            let pid = sys::fork_here();
            if pid != 0 {
                return 0;
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        0
    });
}
