//! Ctrl-C while a foreground program runs.
//!
//! The terminal sends `SIGINT` to the shell and to the program. As bash does, the shell waits for the program first. If the
//! program dies of the signal, so does the shell; if it handles the signal, the script goes on.

use haft_process::{Disposition, Signals};

use crate::flow::Unwind;
use crate::session::Session;
use crate::traps::Trap;

/// `SIGINT` is held back until [`Session::release_interrupt`].
pub(super) struct HeldInterrupt {
    /// Whether the signal is caught only for the wait.
    caught: bool,
}

impl Session {
    /// Holds `SIGINT` back. `None` if the signal has a trap or is ignored, or is not for this session.
    pub(super) fn hold_interrupt(&self) -> Option<HeldInterrupt> {
        let trap = Trap::Signal(Signals::INT);
        let own = self.owns_process() && self.is_on_main_thread() && !self.is_interactive();
        // A command substitution ends at once, as in bash.
        if !own || self.processes.is_captured() || self.traps.is_listed(trap) || self.traps.is_fixed(trap) {
            return None;
        }
        // The `EXIT` trap catches the signal anyway.
        let caught = !self.kernel.signals.is_caught(Signals::INT);
        if caught {
            self.kernel.dispose(Signals::INT, Disposition::Catch);
        }
        Some(HeldInterrupt { caught })
    }

    /// Ends the holding back. If the signal has arrived and the program has died of it, the shell ends too.
    pub(super) fn release_interrupt(
        &self,
        held: Option<HeldInterrupt>,
        died_of_it: bool,
    ) -> Result<(), Unwind> {
        let Some(held) = held else { return Ok(()) };
        if held.caught {
            self.kernel.dispose(Signals::INT, Disposition::Default);
        }
        if !self.kernel.signals.take_signal(Signals::INT) || !died_of_it {
            return Ok(());
        }
        if !self.identity.leads_process() {
            // The shell around this subshell ends as well.
            self.kernel.signals.raise(Signals::INT);
        }
        Err(Unwind::Signal(Signals::INT))
    }
}
