//! The tool of a name, asked alone.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use haft_config::printable;
use haft_process::CancelToken;

use super::RegistryState;
use crate::call::CallOptions;
use crate::discover::{self, Inspection, ToolCandidate};
use crate::envelope::{CallError, ErrorCode};
use crate::snapshot::RejectedTool;
use crate::tool::Tool;

/// A tool, and what has its name, stands before it and is none.
#[derive(Clone, Debug)]
pub(crate) struct FoundTool {
    pub(crate) tool: Tool,
    passed_over: Option<RejectedTool>,
}

impl FoundTool {
    /// What the caller should know about it.
    pub(crate) fn note(&self) -> Option<String> {
        let rejected = self.passed_over.as_ref()?;
        let (name, reason) = (&rejected.name, &rejected.reason);
        let path = printable(rejected.path.as_ref()?);
        let used = self.tool.layer();
        Some(format!("'{path}' is passed over ({reason}), and '{name}' of the {used} layer is called"))
    }
}

impl RegistryState {
    pub(crate) fn find(&self, name: &str, options: &CallOptions) -> Result<FoundTool, CallError> {
        let mut refused: Option<RejectedTool> = None;
        for candidate in discover::scan_for(name, &self.directories) {
            let probe = self.inspector.probe(&candidate);
            // Whoever asks may end without letting go of the registry.
            self.inspector.save();
            match probe {
                Inspection::Accepted(tool) => return Ok(FoundTool { tool, passed_over: refused }),
                _ => refused = refused.or_else(|| RejectedTool::new(&candidate, &probe)),
            }
        }
        if let Some(native) = self.natives.iter().find(|tool| tool.name() == name) {
            return Ok(FoundTool { tool: native.clone(), passed_over: refused });
        }
        let cancel = options.cancel.as_ref().unwrap_or(&self.cancel);
        let limited = cancel.child();
        match within(options.timeout, &limited, || self.providers.find(name, &limited)) {
            Ok(Some(tool)) => Ok(FoundTool { tool, passed_over: refused }),
            _ if cancel.is_cancelled() => Err(CallError::new(ErrorCode::Cancelled, "the call was cancelled")),
            _ if limited.is_cancelled() => Err(late(name, options.timeout.unwrap_or_default())),
            Err(error) if refused.is_none() => Err(CallError::new(ErrorCode::SpawnFailed, error)),
            _ => Err(self.missing(name, refused)),
        }
    }

    fn missing(&self, name: &str, refused: Option<RejectedTool>) -> CallError {
        match refused {
            None => {
                if let Some(path) = discover::not_executable(name, &self.directories) {
                    let path = printable(&path);
                    let error = format!(
                        "there is no tool '{name}': '{path}' is not executable; run `chmod +x '{path}'`"
                    );
                    return CallError::new(ErrorCode::ToolNotFound, error);
                }
                let names = self.names();
                let near = haft_config::all_nearest(name, names.iter().map(String::as_str));
                let hint = match near.as_slice() {
                    [] => String::new(),
                    near => format!("; did you mean '{}'?", near.join("' or '")),
                };
                CallError::new(ErrorCode::ToolNotFound, format!("there is no tool '{name}'{hint}"))
            }
            Some(rejected) if rejected.untrusted => CallError::new(
                ErrorCode::NotTrusted,
                format!(
                    "tool '{name}' of this project is not trusted{}; to trust it run `haft trust`",
                    rejected.path.map_or(String::new(), |path| format!(": '{}'", printable(path)))
                ),
            ),
            Some(rejected) => CallError::new(
                ErrorCode::Disabled,
                format!(
                    "tool '{name}' was rejected: {}{}",
                    rejected.reason,
                    rejected.path.map_or(String::new(), |path| format!(" ('{}')", printable(path)))
                ),
            ),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        let found =
            discover::scan(&self.directories).into_iter().map(|candidate: ToolCandidate| candidate.name);
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

fn late(name: &str, limit: Duration) -> CallError {
    let error =
        format!("the servers that may have '{name}' did not say within {limit:?} which tools they have");
    CallError::new(ErrorCode::ToolTimeout, error)
}
