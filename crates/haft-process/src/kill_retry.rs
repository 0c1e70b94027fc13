//! Killing processes again, in the background, that did not die from `SIGKILL` at once.

use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};

use crate::guardian;
use crate::reaper;
use crate::scope::Scope;
use crate::scope_kill::signal_process;
use crate::sys;

const FIRST_RETRY_INTERVAL: Duration = Duration::from_millis(50);
pub(crate) const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Kills a child of this process in the background until it has died, and reaps it.
pub(crate) fn kill_child_until_gone(pid: i32, pidfd: OwnedFd, scope: Option<Scope>) {
    retry(move || {
        let _ = pidfd_send_signal(&pidfd, Signal::KILL);
        let ended = !matches!(sys::wait_pidfd(pidfd.as_fd(), false), Ok(None));
        if ended {
            reaper::release(pid);
            scope.iter().for_each(|scope| scope.forget(pid));
        }
        ended
    });
}

/// Kills the members of a scope in the background until none is left. Reports them to the watcher, which continues if this
/// process ends first.
pub(crate) fn kill_scope_until_gone(scope: &Scope) {
    let left = scope.entries();
    scope.report_survivors(&left);
    guardian::spare(left.iter().map(|entry| entry.pid));
    let scope = scope.clone();
    retry(move || {
        let left = scope.entries();
        left.iter().for_each(|entry| signal_process(*entry, Signal::KILL));
        left.is_empty()
    });
}

/// Calls `attempt` on a new thread until it returns true, with growing intervals.
fn retry(mut attempt: impl FnMut() -> bool + Send + 'static) {
    let body = move || {
        let mut interval = FIRST_RETRY_INTERVAL;
        while !attempt() {
            thread::sleep(interval);
            interval = (interval * 2).min(MAX_RETRY_INTERVAL);
        }
    };
    let builder = thread::Builder::new().name("kill-retry".to_owned()).stack_size(128 * 1024);
    // If no thread can be started, only the watcher kills the processes.
    drop(builder.spawn(body));
}
