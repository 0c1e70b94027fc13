//! A run in the background.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use haft_process::{Error, Host};

use super::Run;
use super::control::Controller;
use super::enter::EnteredRun;
use super::outcome::Outcome;
use crate::session::Session;

/// The stack size of the interpreter's thread. Memory is used only as far as it is touched.
pub(super) const SCRIPT_STACK_BYTES: usize = 8 << 20;

/// A run in the background. Dropping it ends the run with all its processes, and the session.
#[derive(Debug)]
pub struct Running {
    controller: Controller,
    thread: Option<JoinHandle<(Session, Outcome)>>,
}

impl Running {
    pub(super) fn start(mut run: Run, host: &Host, mut session: Session) -> Result<Running, Error> {
        let script = std::mem::take(&mut run.script);
        let entered = EnteredRun::new(run, host, &mut session)?;
        let controller = entered.controller();
        let body = move || {
            let outcome = entered.run(&mut session, &script);
            (session, outcome)
        };
        let thread = thread::Builder::new()
            .name("script".to_owned())
            .stack_size(SCRIPT_STACK_BYTES)
            .spawn(body)
            .map_err(|error| Error::system("start a thread for the run", error))?;
        Ok(Running { controller, thread: Some(thread) })
    }

    /// The controller of the run, for other threads.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.controller.is_finished()
    }

    /// Waits for at most `limit`. Returns whether it has ended.
    #[must_use]
    pub fn wait_for(&self, limit: Duration) -> bool {
        self.controller.wait_finished(limit)
    }

    /// Waits for its end. Returns the session, with everything the script has changed, and the outcome.
    ///
    /// # Panics
    /// If the run panicked, for example in an added command.
    #[must_use]
    pub fn finish(mut self) -> (Session, Outcome) {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("a run is finished once, by value"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.controller.cancel();
            let _ = thread.join();
        }
    }
}
