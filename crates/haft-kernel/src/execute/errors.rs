//! What failure does: `set -e` and the `ERR` trap.

use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    /// Takes note of the status of a command that has ended: the `ERR` trap and `set -e` act on failure, unless
    /// somebody looks at it.
    #[inline]
    pub(crate) fn concluded(&mut self, status: i32) -> Flow {
        if status == 0 || self.ignore_errors {
            return Ok(status);
        }
        self.failed(status)
    }

    #[inline(never)]
    fn failed(&mut self, status: i32) -> Flow {
        self.tell_failure(status)?;
        if self.options.has(SetOption::ErrorExit) {
            return Err(Unwind::Exit(status));
        }
        Ok(status)
    }

    /// The status of an error that in POSIX mode ends a script.
    pub(crate) fn unless_posix(&self, status: i32) -> Flow {
        match self.conforms() && !self.under_command {
            true => Err(Unwind::Exit(status)),
            false => Ok(status),
        }
    }

    /// Whether errors end this shell as POSIX says.
    pub(crate) fn conforms(&self) -> bool {
        self.options.has(SetOption::Posix) && !self.interactive
    }

    /// Runs the `ERR` trap, if there is one.
    pub(crate) fn tell_failure(&mut self, status: i32) -> Result<(), Unwind> {
        self.status = status;
        match self.traps.get(Trap::Error).is_some() {
            true => self.run_trap(Trap::Error),
            false => Ok(()),
        }
    }

    /// Whether a function is running.
    pub(crate) fn in_function(&self) -> bool {
        self.frames.iter().any(|frame| frame.is_function)
    }
}
