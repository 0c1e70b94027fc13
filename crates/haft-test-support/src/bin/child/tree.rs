//! A process tree whose members escape supervision in different ways.

use std::time::Duration;

use crate::{stay, sys};

/// Starts about ten descendants. Each of them appends a line to `ready` and sleeps. The marker is only an argument, which forks
/// keep. If `reach` is `marker`, all descendants can be found by their environment. With `descent`, one of them has cleared its
/// environment. With `all`, one more can be found only by a subreaper or a control group.
pub(crate) fn grow(_marker: &str, ready: &str, reach: &str) -> i32 {
    plain(ready);
    in_own_session(ready);
    in_own_group_without_descriptors(ready);
    ignoring(sys::SIGHUP, ready);
    ignoring(sys::SIGTERM, ready);
    double_forked(ready);
    if reach != "marker" {
        without_environment(ready, false);
    }
    chain(3, ready);
    stopped(ready);
    fork_repeatedly(ready);
    if reach == "all" {
        without_environment(ready, true);
    }
    sys::ignore(sys::SIGTERM);
    stay::sleep()
}

/// Starts an orphan in its own session without an environment, and sleeps.
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

fn in_own_group_without_descriptors(ready: &str) {
    sys::in_fork(|| {
        sys::new_group();
        (0..3).for_each(sys::close_descriptor);
        stay::pause(ready)
    });
}

fn ignoring(signal: i32, ready: &str) {
    sys::in_fork(|| {
        sys::ignore(signal);
        sys::new_group();
        stay::pause(ready)
    });
}

/// Starts a daemon with the usual double fork: an orphan in a session that it does not lead.
fn double_forked(ready: &str) {
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

/// Executes this program again without an environment, as an orphan if `orphan` is set.
fn without_environment(ready: &str, orphan: bool) {
    let start = || {
        sys::new_session();
        sys::ignore(sys::SIGTERM);
        let own = std::env::args().collect::<Vec<_>>();
        sys::execute("/proc/self/exe", &[&own[0], "pause", &own[2], ready], &[])
    };
    if orphan {
        let between = sys::in_fork(|| {
            sys::in_fork(start);
            0
        });
        sys::reap(between);
    } else {
        sys::in_fork(start);
    }
}

/// Starts a chain of processes. Only the last one announces that it is ready.
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

/// Forks repeatedly. Each generation starts the next one and ends, so that its pid changes all the time.
fn fork_repeatedly(ready: &str) {
    sys::in_fork(|| {
        sys::new_session();
        sys::ignore(sys::SIGTERM);
        stay::announce(ready);
        // Later generations do not inherit the alarm, so their number is limited.
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
