//! What failure does: `set -e` and the `ERR` trap.

use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::session::{ErrexitContext, Session};
use crate::traps::Trap;

impl Session {
    /// Takes note of the status of a command that has ended: the `ERR` trap and `set -e` act on failure, unless
    /// somebody looks at it.
    #[inline]
    pub(crate) fn concluded(&mut self, status: i32) -> Flow {
        self.concluded_after(status, true)
    }

    /// The same of a command before which there was an `ERR` trap or not: one that it has set itself is not for its own failure.
    #[inline]
    pub(crate) fn concluded_after(&mut self, status: i32, trapped: bool) -> Flow {
        if status == 0 || self.ignores_failure() {
            return Ok(status);
        }
        self.failed(status, trapped)
    }

    #[inline(never)]
    fn failed(&mut self, status: i32, trapped: bool) -> Flow {
        self.parameters.set_status(status);
        if trapped {
            self.tell_failure(status)?;
        }
        if !self.exits_on_error() {
            return Ok(status);
        }
        // The traps of signals that have come meanwhile run before the shell ends.
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        Err(Unwind::Exit(status))
    }

    /// Whether there is an `ERR` trap.
    #[inline]
    pub(crate) fn has_error_trap(&self) -> bool {
        !self.traps.is_empty() && self.traps.get(Trap::Error).is_some()
    }

    /// What an error does that ends the line it is on, and with it a text given with `-c`.
    pub(crate) fn end_line(&self, status: i32) -> Unwind {
        match self.identity.is_command_string() && !self.identity.is_subshell() && !self.is_interactive() {
            true => Unwind::Exit(status),
            false => Unwind::Abort(status),
        }
    }

    /// Whether failure is looked at by nobody and `set -e` is on.
    #[must_use]
    pub fn exits_on_error(&self) -> bool {
        self.options.has(SetOption::ErrorExit) && self.calls.errexit() == ErrexitContext::Active
    }

    /// Runs something whose failure is looked at, so that it neither ends the shell nor springs the `ERR` trap.
    #[inline]
    pub(crate) fn without_errors<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.in_errexit_context(ErrexitContext::Condition, run)
    }

    /// Runs something after a `!`.
    pub(crate) fn negated(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        // With `set -e` a `!` is a condition like any other.
        let context = match self.calls.errexit() {
            ErrexitContext::Active | ErrexitContext::InNegated if !self.options.has(SetOption::ErrorExit) => {
                ErrexitContext::Negated
            }
            _ => ErrexitContext::Condition,
        };
        Ok(i32::from(self.in_errexit_context(context, run)? == 0))
    }

    /// Runs the parts of a command, at which a `!` before the command does not look.
    #[inline]
    pub(crate) fn as_parts<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        match self.calls.errexit() {
            ErrexitContext::Negated => self.in_errexit_context(ErrexitContext::InNegated, run),
            _ => run(self),
        }
    }

    #[inline]
    fn in_errexit_context<T>(&mut self, context: ErrexitContext, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.calls.set_errexit(context);
        let result = run(self);
        self.calls.set_errexit(before);
        result
    }

    /// The status of an error that in POSIX mode ends a script.
    pub(crate) fn unless_posix(&self, status: i32) -> Flow {
        match self.conforms() && !self.calls.is_under_command() {
            true => Err(Unwind::Exit(status)),
            false => Ok(status),
        }
    }

    /// Whether errors end this shell as POSIX says.
    pub(crate) fn conforms(&self) -> bool {
        self.options.has(SetOption::Posix) && !self.is_interactive()
    }

    /// Whether somebody looks at the failure of the command that has ended.
    pub(crate) fn ignores_failure(&self) -> bool {
        self.calls.errexit().ignores_failure()
    }

    /// Runs the `ERR` trap, if there is one.
    pub(crate) fn tell_failure(&mut self, status: i32) -> Result<(), Unwind> {
        self.parameters.set_status(status);
        match self.has_error_trap() {
            true => self.run_trap(Trap::Error),
            false => Ok(()),
        }
    }

    /// Whether a function is running.
    pub(crate) fn in_function(&self) -> bool {
        self.calls.is_in_function()
    }
}
