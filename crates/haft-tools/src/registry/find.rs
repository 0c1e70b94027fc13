//! The tool of a name, asked alone.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use haft_config::printable;
use haft_process::CancelToken;

use super::Inner;
use crate::call::CallOptions;
use crate::discover::{self, Candidate, Probe};
use crate::envelope::{Code, Fault};
use crate::snapshot::Rejected;
use crate::tool::Tool;

/// A tool, and what has its name, stands before it and is none.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) tool: Tool,
    passed_over: Option<Rejected>,
}

impl Found {
    /// What the caller should know about it.
    pub(crate) fn note(&self) -> Option<String> {
        let rejected = self.passed_over.as_ref()?;
        let (name, reason) = (&rejected.name, &rejected.reason);
        let path = printable(rejected.path.as_ref()?);
        let used = self.tool.layer();
        Some(format!("'{path}' is passed over ({reason}), and '{name}' of the {used} layer is called"))
    }
}

impl Inner {
    pub(crate) fn find(&self, name: &str, options: &CallOptions) -> Result<Found, Fault> {
        let mut refused: Option<Rejected> = None;
        for candidate in discover::scan_for(name, &self.directories) {
            let probe = self.prober.probe(&candidate);
            // Whoever asks may end without letting go of the registry.
            self.prober.save();
            match probe {
                Probe::Accepted(tool) => return Ok(Found { tool, passed_over: refused }),
                _ => refused = refused.or_else(|| Rejected::new(&candidate, &probe)),
            }
        }
        if let Some(native) = self.natives.iter().find(|tool| tool.name() == name) {
            return Ok(Found { tool: native.clone(), passed_over: refused });
        }
        let cancel = options.cancel.as_ref().unwrap_or(&self.cancel);
        let limited = cancel.child();
        match within(options.timeout, &limited, || self.providers.find(name, &limited)) {
            Ok(Some(tool)) => Ok(Found { tool, passed_over: refused }),
            _ if cancel.is_cancelled() => Err(Fault::new(Code::Cancelled, "the call was cancelled")),
            _ if limited.is_cancelled() => Err(late(name, options.timeout.unwrap_or_default())),
            Err(error) if refused.is_none() => Err(Fault::new(Code::SpawnFailed, error)),
            _ => Err(self.missing(name, refused)),
        }
    }

    fn missing(&self, name: &str, refused: Option<Rejected>) -> Fault {
        match refused {
            None => {
                if let Some(path) = discover::not_executable(name, &self.directories) {
                    let path = printable(&path);
                    let error = format!(
                        "there is no tool '{name}': '{path}' is not executable; run `chmod +x '{path}'`"
                    );
                    return Fault::new(Code::ToolNotFound, error);
                }
                let names = self.names();
                let near = haft_config::all_nearest(name, names.iter().map(String::as_str));
                let hint = match near.as_slice() {
                    [] => String::new(),
                    near => format!("; did you mean '{}'?", near.join("' or '")),
                };
                Fault::new(Code::ToolNotFound, format!("there is no tool '{name}'{hint}"))
            }
            Some(rejected) if rejected.untrusted => Fault::new(
                Code::NotTrusted,
                format!(
                    "tool '{name}' of this project is not trusted{}; to trust it run `haft trust`",
                    rejected.path.map_or(String::new(), |path| format!(": '{}'", printable(path)))
                ),
            ),
            Some(rejected) => Fault::new(
                Code::Disabled,
                format!(
                    "tool '{name}' was rejected: {}{}",
                    rejected.reason,
                    rejected.path.map_or(String::new(), |path| format!(" ('{}')", printable(path)))
                ),
            ),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        let found = discover::scan(&self.directories).into_iter().map(|candidate: Candidate| candidate.name);
        let mut names: Vec<String> =
            self.natives.iter().map(|tool| tool.name().to_owned()).chain(found).collect();
        names.extend(self.providers.names());
        names.sort();
        names.dedup();
        names
    }
}

/// Does something that a token stops when a time is over.
fn within<T>(limit: Option<Duration>, token: &CancelToken, work: impl FnOnce() -> T) -> T {
    let Some(limit) = limit else { return work() };
    let (done, wait) = channel::<()>();
    thread::scope(|threads| {
        threads.spawn(move || {
            if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                token.cancel();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

fn late(name: &str, limit: Duration) -> Fault {
    let error =
        format!("the servers that may have '{name}' did not say within {limit:?} which tools they have");
    Fault::new(Code::ToolTimeout, error)
}
