//! Processes that do not die although they were killed: nobody waits for them, and they are killed again until they are gone.

use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};

use crate::guardian;
use crate::reaper;
use crate::scope::Scope;
use crate::sweep::signal_process;
use crate::sys;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Kills a child of this process until it has died, in the background, and reaps it.
pub(crate) fn pursue_child(pid: i32, pidfd: OwnedFd, scope: Option<Scope>) {
    start(move || {
        let _ = pidfd_send_signal(&pidfd, Signal::KILL);
        let ended = !matches!(sys::wait_pidfd(pidfd.as_fd(), false), Ok(None));
        if ended {
            reaper::release(pid);
            scope.iter().for_each(|scope| scope.forget(pid));
        }
        ended
    });
}

/// Kills the members of a scope until none is left, in the background. The watcher is told of them, in case this process ends
/// first.
pub(crate) fn pursue_scope(scope: &Scope) {
    let left = scope.entries();
    scope.note_survivors(&left);
    guardian::spare(left.iter().map(|entry| entry.pid));
    let scope = scope.clone();
    start(move || {
        let left = scope.entries();
        left.iter().for_each(|entry| signal_process(*entry, Signal::KILL));
        left.is_empty()
    });
}

/// Takes a step again and again on a thread of its own until it says that it is done.
fn start(mut step: impl FnMut() -> bool + Send + 'static) {
    let pursue = move || {
        let mut pause = FIRST_PAUSE;
        while !step() {
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    };
    let builder = thread::Builder::new().name("pursuit".to_owned()).stack_size(128 * 1024);
    // Without a thread the watcher does it alone.
    drop(builder.spawn(pursue));
}
