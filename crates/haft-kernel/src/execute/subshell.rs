//! How subshells end.

use haft_lang::ast::List;

use crate::flow::{Flow, SIGNAL_BASE, Unwind};
use crate::session::{ErrexitContext, Session};
use crate::traps::Trap;

impl Session {
    /// Runs a list as the program of this subshell. `exit` and errors end only the subshell; cancellation unwinds further.
    pub(crate) fn run_subshell(&mut self, list: &List) -> Flow {
        let result = self.run_list(list);
        self.end_subshell(result)
    }

    /// The status that a subshell ends with, after its `EXIT` trap.
    #[inline(never)]
    pub(crate) fn end_subshell(&mut self, result: Flow) -> Flow {
        // In a run, the script itself ends too, and reports it.
        if result.is_err() && !self.processes.is_supervised() {
            self.report_memory_hit();
        }
        let ended = match self.serve_last_signals(result) {
            Ok(status) => status,
            Err(Unwind::Cancelled) => {
                let killed = self.limits.cancel().killed_by();
                self.run_last_trap();
                return killed.map(|signal| SIGNAL_BASE + signal).ok_or(Unwind::Cancelled);
            }
            Err(unwind @ (Unwind::Break(_) | Unwind::Continue(_))) => {
                let _ = unwind;
                self.parameters.status()
            }
            Err(unwind) => unwind.status(),
        };
        match self.run_exit_trap(ended) {
            Err(Unwind::Signal(signal)) => Ok(SIGNAL_BASE + signal),
            ended => Ok(ended? & 0xff),
        }
    }

    /// Runs the `EXIT` trap of a session that a signal or the end of its run has cancelled. The trap is stopped only when
    /// the grace period is over.
    #[inline(never)]
    pub(crate) fn run_last_trap(&mut self) {
        let may =
            self.limits.cancel().killed_by().map_or(self.processes.is_supervised(), |signal| signal != 9);
        if may && !self.limits.stop().is_cancelled() && self.has_exit_trap() {
            self.limits.cancel_only_by_stop();
            self.processes.run().iter().for_each(|run| run.stopping.await_others());
            let _ = self.run_exit_trap(self.parameters.status());
        }
    }

    pub(crate) fn has_exit_trap(&self) -> bool {
        self.traps.get(Trap::Exit).is_some_and(|text| !text.is_empty())
    }

    /// Runs the `EXIT` trap, if there is one, and returns the status to end with.
    #[inline(never)]
    pub(crate) fn run_exit_trap(&mut self, status: i32) -> Flow {
        if !self.has_exit_trap() {
            return Ok(status);
        }
        self.parameters.set_status(status);
        let text = self.traps.get(Trap::Exit).cloned().unwrap_or_default();
        self.traps.reset(Trap::Exit);
        self.calls.set_errexit(ErrexitContext::Active);
        self.calls.set_line(1);
        let command = self.command_text();
        let shown = self.calls.set_trapped_command(Some(command));
        let result = self.run_trap_text(|session| match session.identity.depth() {
            0 => session.run_exit_text(&text),
            _ => session.run_text(&text, Trap::Exit.label()),
        });
        self.calls.set_trapped_command(shown);
        match result {
            Err(Unwind::Exit(status)) => Ok(status),
            Err(unwind @ (Unwind::Cancelled | Unwind::Signal(_))) => Err(unwind),
            _ => Ok(status),
        }
    }
}
