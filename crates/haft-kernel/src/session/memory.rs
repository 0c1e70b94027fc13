//! The memory limit of a session: what happens when it is reached.

use crate::flow::Unwind;
use crate::memory::{MemoryBudget, SHELL_MEMORY_STATUS};
use crate::session::Session;

impl Session {
    /// Returns the memory budget of the session and its subshells.
    #[must_use]
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Reserves memory before an allocation of that many bytes. Ends the session if the limit does not allow it.
    ///
    /// # Errors
    /// If the session ends.
    #[inline]
    pub fn reserve_memory(&self, grew: &'static str, bytes: usize) -> Result<(), Unwind> {
        match self.memory.has_room(bytes) {
            true => Ok(()),
            false => Err(self.exceed_memory(grew, bytes)),
        }
    }

    /// Checks the budget when the threads of the session hold more than the limit.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_memory(&self) -> Result<(), Unwind> {
        match self.memory.recheck() {
            true => Ok(()),
            false => Err(self.exceed_memory("the script", 0)),
        }
    }

    /// Ends the run that reached its memory limit, with all its processes, or this shell if there is no run.
    #[cold]
    #[inline(never)]
    pub(crate) fn exceed_memory(&self, grew: &'static str, bytes: usize) -> Unwind {
        let first = self.memory.exceed(grew, bytes, self.processes.is_supervised());
        match self.processes.run() {
            Some(run) => {
                run.end_for_limit(first);
                Unwind::Cancelled
            }
            None if self.is_interactive() => Unwind::Abort(SHELL_MEMORY_STATUS),
            None => Unwind::Exit(SHELL_MEMORY_STATUS),
        }
    }

    /// Reports that the memory limit was reached, unless that was reported already.
    pub(crate) fn report_memory_hit(&mut self) {
        if let Some(hit) = self.memory.take_unreported() {
            self.report(hit);
        }
    }
}
