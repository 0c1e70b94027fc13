//! A part of a run that can be ended separately.

use std::sync::Arc;

use haft_process::InProcessWork as _;

use super::Supervision;
use crate::session::Session;

/// A background command with all the processes it starts. Outside of a run, processes are not tracked and it is empty.
#[derive(Debug)]
pub struct RunPart(Option<Arc<Supervision>>);

impl RunPart {
    /// Sends a signal to everything in it. Returns false outside of a run.
    #[must_use]
    pub fn signal(&self, signal: i32) -> bool {
        let Some(part) = &self.0 else { return false };
        part.stopping.signal(signal);
        part.scope.signal(signal);
        true
    }

    /// Ends everything in it: `SIGTERM`, the grace period, `SIGKILL`. Nothing is left afterwards.
    pub fn end(&self) {
        let Some(part) = &self.0 else { return };
        part.stopping.request_end();
        part.stopping.allow_cleanup();
        part.scope.end(part.grace);
        part.stopping.stop();
    }
}

impl Session {
    /// Makes this subshell a part of the run that can be ended separately.
    pub(crate) fn become_run_part(&mut self) -> RunPart {
        let part = self.processes.run().map(|run| Arc::new(run.part()));
        if let Some(part) = &part {
            self.processes.set_run(part.clone());
            self.limits.set_stop(part.stopping.stop.clone());
        }
        RunPart(part)
    }

    /// The scope that programs of the session belong to, if it is in a run.
    #[must_use]
    pub fn scope(&self) -> Option<&haft_process::Scope> {
        self.processes.run().map(|run| &run.scope)
    }
}
