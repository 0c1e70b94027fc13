//! Process groups of children: what a shell with job control has to know of them.

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::Error;
use crate::sys::{self, RawChange};

/// The process group of this process; `None` if it lies outside of the PID namespace that this process is in.
#[must_use]
pub fn own_group() -> Option<i32> {
    Some(sys::own_group()).filter(|group| *group != 0)
}

/// What has happened to a process of a group, other than that it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// It was stopped by this signal.
    Stopped(i32),
    /// It goes on.
    Continued,
}

/// What has happened to a child of this process that is in this group since it was asked last; `None` if nothing has. Ask
/// until then.
#[must_use]
pub fn group_change(group: i32) -> Option<GroupChange> {
    match sys::wait_group_change(group).ok()?? {
        RawChange::Stopped(signal) => Some(GroupChange::Stopped(signal)),
        RawChange::Continued => Some(GroupChange::Continued),
    }
}

/// Sends a signal to all processes of a group; one that is gone is no error.
///
/// # Errors
/// If the system refuses, or there is no such signal or group.
pub fn signal_group(group: i32, signal: i32) -> Result<(), Error> {
    let invalid = || Error::system("send the signal", rustix::io::Errno::INVAL);
    let target = Pid::from_raw(group).filter(|_| group > 1).ok_or_else(invalid)?;
    let signal = Signal::from_named_raw(signal).ok_or_else(invalid)?;
    match kill_process_group(target, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(Error::system("send the signal", error)),
    }
}
