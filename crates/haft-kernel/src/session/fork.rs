//! Subshells.

use haft_process::{CancelToken, Signals};

use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    /// A subshell: a snapshot that changes independently from here on. It has no jobs, and of the traps only those that
    /// ignore a signal.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        self.variables.share();
        self.calls.share();
        self.parameters.share();
        self.jobs.reap_few();
        self.snapshot()
    }

    /// The same without preparing the parts that are copied on write. If they were not shared before, they are copied.
    pub(crate) fn snapshot(&self) -> Self {
        Self {
            kernel: self.kernel.clone(),
            variables: self.variables.clone(),
            options: self.options,
            definitions: self.definitions.for_subshell(),
            parameters: self.parameters.for_subshell(),
            open_files: self.open_files.for_subshell(),
            working_directory: self.working_directory.for_subshell(),
            traps: self.traps.for_subshell(
                self.options.has(SetOption::ErrorTrace),
                self.options.has(SetOption::FunctionTrace),
            ),
            trap_state: self.trap_state.for_subshell(),
            signals: None,
            jobs: self.jobs.for_subshell(),
            calls: self.calls.for_subshell(),
            identity: self.identity.for_subshell(),
            clock: self.clock,
            random: self.random.for_subshell(),
            caches: self.caches.for_subshell(),
            limits: self.limits.for_subshell(self.subshell_cancel_token()),
            processes: self.processes.for_subshell(),
            interactive: self.interactive.clone(),
            memory: self.memory.clone(),
        }
    }

    /// The token that cancels a subshell. In a run, a session with a trap for `SIGTERM` goes on when the signal arrives, but
    /// its subshells end.
    fn subshell_cancel_token(&self) -> CancelToken {
        match &self.signals {
            Some(signals)
                if self.processes.is_supervised()
                    && self.traps.get(Trap::Signal(Signals::TERM)).is_some() =>
            {
                signals.nested(self.limits.cancel())
            }
            _ => self.limits.cancel().clone(),
        }
    }
}
