//! A script, started.

use std::sync::Mutex;

use haft_kernel::Session;
use haft_process::{Command, Host, Input, Streams, Task};

pub(crate) use haft_process::Controller;

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) script: String,
    pub(crate) session: Session,
    pub(crate) input: Input,
    pub(crate) streams: Streams,
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) outcome: haft_process::Outcome,
    pub(crate) session: Mutex<Option<Session>>,
}

#[derive(Debug)]
pub(crate) struct Started(haft_process::Job, Session);

impl Order {
    pub(crate) fn start(self, host: &Host) -> Result<Started, haft_process::Error> {
        let mut command = Command::new("/bin/bash");
        command.arguments(["-c", &self.script]);
        let task = Task::new(command).input(self.input).streams(self.streams);
        Ok(Started(task.start(host)?, self.session))
    }
}

impl Started {
    pub(crate) fn controller(&self) -> Controller {
        self.0.controller()
    }

    pub(crate) fn finish(self) -> Finished {
        Finished { outcome: self.0.wait(), session: Mutex::new(Some(self.1)) }
    }
}

impl Finished {
    /// The session as the script has left it, once.
    pub(crate) fn take_session(&self) -> Option<Session> {
        self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    pub(crate) fn facts(&self, expired: bool) -> Vec<String> {
        vec![format!("exit {} {expired}", self.outcome.code())]
    }

    pub(crate) fn data(&self, _expired: bool) -> serde_json::Value {
        serde_json::to_value(self.outcome.report(0)).unwrap_or_default()
    }
}
