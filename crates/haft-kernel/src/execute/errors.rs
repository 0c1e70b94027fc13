//! Failure of commands: `set -e` and the `ERR` trap.

use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::session::{ErrexitContext, Session};
use crate::traps::Trap;

impl Session {
    /// Handles the status of a command that has ended: failure triggers the `ERR` trap and `set -e`, unless the command is a
    /// condition.
    #[inline]
    pub(crate) fn check_failure(&mut self, status: i32) -> Flow {
        self.check_failure_after(status, true)
    }

    /// The same. `trapped` says whether there was an `ERR` trap before the command: one that it set itself does not run for
    /// its own failure.
    #[inline]
    pub(crate) fn check_failure_after(&mut self, status: i32, trapped: bool) -> Flow {
        if status == 0 || self.ignores_failure() {
            return Ok(status);
        }
        self.failed(status, trapped)
    }

    #[inline(never)]
    fn failed(&mut self, status: i32, trapped: bool) -> Flow {
        self.parameters.set_status(status);
        if trapped {
            self.run_error_trap(status)?;
        }
        if !self.exits_on_error() {
            return Ok(status);
        }
        // Traps of signals that arrived meanwhile run before the shell ends.
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        self.trap_state.set_fails_in_place(true);
        Err(Unwind::Exit(status))
    }

    /// Whether there is an `ERR` trap.
    #[inline]
    pub(crate) fn has_error_trap(&self) -> bool {
        !self.traps.is_empty() && self.traps.get(Trap::Error).is_some()
    }

    /// How an error unwinds that ends the current line, and with it a script given with `-c`.
    pub(crate) fn end_line(&self, status: i32) -> Unwind {
        match self.identity.is_command_string() && !self.identity.is_subshell() && !self.is_interactive() {
            true => Unwind::Exit(status),
            false => Unwind::Abort(status),
        }
    }

    /// Whether `set -e` is on and failure is not ignored here.
    #[must_use]
    pub fn exits_on_error(&self) -> bool {
        self.options.has(SetOption::ErrorExit) && self.calls.errexit() == ErrexitContext::Active
    }

    /// Runs something as a condition: failure neither ends the shell nor triggers the `ERR` trap.
    #[inline]
    pub(crate) fn as_condition<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.in_errexit_context(ErrexitContext::Condition, run)
    }

    /// Runs something after a `!`.
    pub(crate) fn negated(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        // With `set -e`, a command after `!` is a condition like any other.
        let context = match self.calls.errexit() {
            ErrexitContext::Active | ErrexitContext::InNegated if !self.options.has(SetOption::ErrorExit) => {
                ErrexitContext::Negated
            }
            _ => ErrexitContext::Condition,
        };
        Ok(i32::from(self.in_errexit_context(context, run)? == 0))
    }

    /// Runs the commands within a command. A `!` before the outer command does not apply to them.
    #[inline]
    pub(crate) fn within_command<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
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

    /// The result of an error that ends a script in POSIX mode.
    pub(crate) fn unless_posix(&self, status: i32) -> Flow {
        match self.conforms() && !self.calls.is_under_command() {
            true => Err(Unwind::Exit(status)),
            false => Ok(status),
        }
    }

    /// Whether errors end this shell as POSIX requires.
    pub(crate) fn conforms(&self) -> bool {
        self.options.has(SetOption::Posix) && !self.is_interactive()
    }

    /// Whether failure of the command that has ended is ignored.
    pub(crate) fn ignores_failure(&self) -> bool {
        self.calls.errexit().ignores_failure()
    }

    /// Runs the `ERR` trap, if there is one.
    pub(crate) fn run_error_trap(&mut self, status: i32) -> Result<(), Unwind> {
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
