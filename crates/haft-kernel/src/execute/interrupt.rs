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
        let own_trap = self.traps.get(trap);
        let is_ignored = own_trap.is_some_and(|text| text.is_empty());
        if !own || is_ignored || self.traps.is_fixed(trap) {
            return None;
        }
        if self.identity.leads_process() && own_trap.is_some() {
            return None;
        }
        // The shell around this one, or an `EXIT` trap, may catch the signal anyway.
        let caught = !self.kernel.signals.is_caught(Signals::INT);
        // A command substitution ends at once, as in bash.
        if caught && own_trap.is_none() && self.processes.is_captured() {
            return None;
        }
        if caught {
            self.kernel.dispose(Signals::INT, Disposition::Catch);
        }
        Some(HeldInterrupt { caught })
    }

    /// Ends the holding back. If the signal has arrived and the program has died of it, the trap of this subshell runs, or the
    /// shell ends too. The shell around a subshell takes the signal from the inbox afterwards.
    pub(super) fn release_interrupt(
        &mut self,
        held: Option<HeldInterrupt>,
        died_of_it: bool,
    ) -> Result<(), Unwind> {
        let Some(held) = held else { return Ok(()) };
        if held.caught {
            self.kernel.dispose(Signals::INT, Disposition::Default);
        }
        let trap = Trap::Signal(Signals::INT);
        let inbox = self.kernel.signals.clone();
        if !inbox.has(Signals::INT) {
            return Ok(());
        }
        let has_own_trap = self.traps.get(trap).is_some();
        let leaves_signal = match died_of_it && !has_own_trap {
            true => !self.identity.leads_process(),
            false => !held.caught && self.traps.is_listed(trap),
        };
        if !leaves_signal {
            inbox.take_signal(Signals::INT);
        }
        match died_of_it {
            true if has_own_trap => self.run_trap(trap),
            true => Err(Unwind::Signal(Signals::INT)),
            false => Ok(()),
        }
    }
}
