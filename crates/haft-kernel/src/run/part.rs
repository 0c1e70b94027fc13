//! A part of a run that can be ended without the rest.

use std::sync::Arc;

use haft_process::InProcessWork as _;

use super::supervision::Supervision;
use crate::session::Session;

/// A command that was started beside a session, with all that it starts. Outside of a run nobody keeps track of that, and
/// there is nothing in it.
#[derive(Debug)]
pub struct Part(Option<Arc<Supervision>>);

impl Part {
    /// Sends a signal to everything in it. Yields whether that is kept track of.
    #[must_use]
    pub fn signal(&self, signal: i32) -> bool {
        let Some(part) = &self.0 else { return false };
        part.stopping.signal(signal);
        part.scope.signal(signal);
        true
    }

    /// Ends everything in it: asked, given its grace, killed. Nothing of it is left then.
    pub fn end(&self) {
        let Some(part) = &self.0 else { return };
        part.stopping.request_end();
        part.stopping.allow_cleanup();
        part.scope.end(part.grace);
        part.stopping.stop();
    }
}

impl Session {
    /// Makes this subshell a part of the run that can be ended on its own.
    pub(crate) fn become_part(&mut self) -> Part {
        let part = self.processes.run().map(|run| Arc::new(run.part()));
        if let Some(part) = &part {
            self.processes.set_run(part.clone());
            self.limits.set_stop(part.stopping.stop.clone());
        }
        Part(part)
    }

    /// The scope that programs of the session belong to, if it is in a run.
    #[must_use]
    pub fn scope(&self) -> Option<&haft_process::Scope> {
        self.processes.run().map(|run| &run.scope)
    }
}
