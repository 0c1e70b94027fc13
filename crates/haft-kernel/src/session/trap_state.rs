//! The traps that are running, and what `exit` and `return` need to know of them.

use crate::traps::Trap;

/// The state of running traps.
#[derive(Debug, Default)]
pub(crate) struct TrapState {
    /// The traps that are running, the innermost last.
    running: Vec<Trap>,
    /// `$?` before the innermost trap, which `exit` and `return` use by default.
    status_before: Option<i32>,
    /// The status that the last trap ended with.
    last_status: i32,
    /// Whether signals that would end the process are caught, so that the running command ends in order first.
    catches_fatal_signals: bool,
    /// Whether `exit` ends the shell, rather than a failure. The `EXIT` trap then sees the calls it was in.
    exits_in_place: bool,
    /// Whether `set -e` ends the shell. The `EXIT` trap then sees the calls and arguments it was in, but no local variables.
    fails_in_place: bool,
}

impl TrapState {
    /// In a subshell of the `DEBUG` trap, the trap is still running.
    pub(crate) fn for_subshell(&self) -> Self {
        let running = self.running.iter().copied().filter(|trap| *trap == Trap::Debug).take(1).collect();
        Self { running, ..Self::default() }
    }

    /// The innermost trap that is running.
    pub(crate) fn innermost(&self) -> Option<Trap> {
        self.running.last().copied()
    }

    /// Whether a trap is running.
    pub(crate) fn is_running(&self, trap: Trap) -> bool {
        self.running.contains(&trap)
    }

    /// Says that a trap begins to run.
    pub(crate) fn enter(&mut self, trap: Trap) {
        self.running.push(trap);
    }

    /// Says that the innermost trap has ended.
    pub(crate) fn leave(&mut self) {
        self.running.pop();
    }

    /// Says that no trap is running.
    pub(crate) fn clear(&mut self) {
        self.running.clear();
    }

    /// `$?` before the innermost trap.
    pub(crate) fn status_before(&self) -> Option<i32> {
        self.status_before
    }

    /// Sets `$?` before the innermost trap; returns the one of the trap around it.
    pub(crate) fn set_status_before(&mut self, status: Option<i32>) -> Option<i32> {
        std::mem::replace(&mut self.status_before, status)
    }

    /// The status that the last trap ended with.
    pub(crate) fn last_status(&self) -> i32 {
        self.last_status
    }

    /// Sets the status that the last trap ended with.
    pub(crate) fn set_last_status(&mut self, status: i32) {
        self.last_status = status;
    }

    /// Whether signals that would end the process are caught.
    pub(crate) fn catches_fatal_signals(&self) -> bool {
        self.catches_fatal_signals
    }

    /// Says whether signals that would end the process are caught.
    pub(crate) fn set_catches_fatal_signals(&mut self, catches: bool) {
        self.catches_fatal_signals = catches;
    }

    /// Whether `exit` ends the shell, rather than a failure.
    pub(crate) fn exits_in_place(&self) -> bool {
        self.exits_in_place
    }

    /// Whether `set -e` ends the shell.
    pub(crate) fn fails_in_place(&self) -> bool {
        self.fails_in_place
    }

    /// Says whether `set -e` ends the shell.
    pub(crate) fn set_fails_in_place(&mut self, in_place: bool) {
        self.fails_in_place = in_place;
    }

    /// Says whether `exit` ends the shell, rather than a failure.
    pub(crate) fn set_exits_in_place(&mut self, in_place: bool) {
        self.exits_in_place = in_place;
    }
}
