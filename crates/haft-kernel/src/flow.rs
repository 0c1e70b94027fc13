//! How control leaves a command.

/// What running anything yields: its exit status, or a reason to leave what encloses it.
pub type Flow = Result<i32, Unwind>;

/// A reason to leave the enclosing commands. Whoever can serve it stops it; everybody else passes it on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwind {
    /// `break n`: leave this many loops.
    Break(u32),
    /// `continue n`: leave this many loops less one, and go on with the next round of the last.
    Continue(u32),
    /// `return`: leave the function or the sourced file with this status.
    Return(i32),
    /// `exit`, or an error after which a shell cannot go on: leave the shell or subshell with this status.
    Exit(i32),
    /// An error that ends the command being run and no more: a script goes on with its next top-level command.
    Abort(i32),
    /// The shell or subshell ends as if this signal had killed it.
    Signal(i32),
    /// The session was cancelled or its deadline has passed.
    Cancelled,
}

impl Unwind {
    /// The status that a shell which ends for this reason has.
    #[must_use]
    pub fn status(self) -> i32 {
        match self {
            Self::Break(_) | Self::Continue(_) => 0,
            Self::Return(status) | Self::Exit(status) | Self::Abort(status) => status,
            Self::Signal(signal) => 128 + signal,
            Self::Cancelled => 130,
        }
    }
}
