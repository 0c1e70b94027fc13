//! Process groups of children, for a shell with job control.

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::Error;
use crate::sys::{self, RawChange};

/// Returns the process group of this process, or `None` if the group is outside of its PID namespace.
#[must_use]
pub fn own_group() -> Option<i32> {
    Some(sys::own_group()).filter(|group| *group != 0)
}

/// A process of a group was stopped or continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// Stopped by this signal.
    Stopped(i32),
    /// Continued.
    Continued,
}

/// Returns the next change of a child in this process group, or `None` if there is no further change.
#[must_use]
pub fn group_change(group: i32) -> Option<GroupChange> {
    match sys::wait_group_change(group).ok()?? {
        RawChange::Stopped(signal) => Some(GroupChange::Stopped(signal)),
        RawChange::Continued => Some(GroupChange::Continued),
    }
}

/// Sends a signal to all processes of a group. Has no effect if the group is empty.
///
/// # Errors
/// Fails if the group or signal number is invalid or the system call fails.
pub fn signal_group(group: i32, signal: i32) -> Result<(), Error> {
    let invalid = || Error::system("send the signal", rustix::io::Errno::INVAL);
    let target = Pid::from_raw(group).filter(|_| group > 1).ok_or_else(invalid)?;
    let signal = Signal::from_named_raw(signal).ok_or_else(invalid)?;
    match kill_process_group(target, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(Error::system("send the signal", error)),
    }
}
