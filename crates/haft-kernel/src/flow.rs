//! Control flow: how commands return.

use haft_process::CANCELLED;

/// The status of a command that was found and cannot be executed.
pub(crate) const CANNOT_EXECUTE: i32 = 126;

/// The status of a command, job or process that was not found.
pub(crate) const NOT_FOUND: i32 = 127;

/// The status of a command that a signal killed is this plus the number of the signal.
pub(crate) const SIGNAL_BASE: i32 = 128;

/// The result of a command: its exit status, or a reason to leave the commands around it.
pub type Flow = Result<i32, Unwind>;

/// A reason to leave the commands around the current one. A function that handles it stops it; others pass it on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwind {
    /// `break n`: leave this many loops.
    Break(u32),
    /// `continue n`: leave one loop less than this many, and go on with the next iteration of the last.
    Continue(u32),
    /// `return`: leave the function or the sourced file with this status.
    Return(i32),
    /// `exit`, or an error after which a shell cannot go on: leave the shell or subshell with this status.
    Exit(i32),
    /// An error that ends the current command: a script goes on with its next top-level command.
    Abort(i32),
    /// The shell or subshell ends as if this signal had killed it.
    Signal(i32),
    /// The session was cancelled or its deadline has passed.
    Cancelled,
}

impl Unwind {
    /// The exit status of a shell that ends for this reason.
    #[must_use]
    pub fn status(self) -> i32 {
        match self {
            Self::Break(_) | Self::Continue(_) => 0,
            Self::Return(status) | Self::Exit(status) | Self::Abort(status) => status,
            Self::Signal(signal) => SIGNAL_BASE + signal,
            Self::Cancelled => CANCELLED,
        }
    }
}
