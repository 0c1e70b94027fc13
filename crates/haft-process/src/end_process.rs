//! Ending a process that is not a child of this one.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Sends SIGTERM to a process, and waits until it has ended. `is_alive` says whether the pid still is that of the process.
/// Returns false if the process cannot be ended, or takes longer than `limit`.
pub fn end_process(pid: i32, is_alive: impl Fn() -> bool, limit: Duration) -> bool {
    let descriptor = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // The descriptor may be that of a later process with the same pid.
    if !is_alive() {
        return true;
    }
    let Some(descriptor) = descriptor else { return false };
    if pidfd_send_signal(&descriptor, Signal::TERM).is_err() {
        return false;
    }
    let mut set = [PollFd::new(&descriptor, PollFlags::IN)];
    let limit = Timespec::try_from(limit).ok();
    poll(&mut set, limit.as_ref()).is_ok() && !set[0].revents().is_empty()
}
