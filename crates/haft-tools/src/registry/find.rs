//! Finds one tool by name.

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

/// A tool, and a candidate of higher precedence that was rejected.
#[derive(Clone, Debug)]
pub(crate) struct FoundTool {
    pub(crate) tool: Tool,
    skipped: Option<RejectedTool>,
}

impl FoundTool {
    /// A note about the rejected candidate for the caller.
    pub(crate) fn note(&self) -> Option<String> {
        let rejected = self.skipped.as_ref()?;
        let (name, reason) = (&rejected.name, &rejected.reason);
        let path = printable(rejected.path.as_ref()?);
        let used = self.tool.layer();
        Some(format!("skipped '{path}' ({reason}); called '{name}' of the {used} layer instead"))
    }
}

impl RegistryState {
    pub(crate) fn find(&self, name: &str, options: &CallOptions) -> Result<FoundTool, CallError> {
        let mut rejected: Option<RejectedTool> = None;
        for candidate in discover::scan_for(name, &self.directories) {
            let inspection = self.inspector.inspect(&candidate);
            // The process may exit without dropping the registry.
            self.inspector.save();
            match inspection {
                Inspection::Accepted(tool) => return Ok(FoundTool { tool, skipped: rejected }),
                _ => rejected = rejected.or_else(|| RejectedTool::new(&candidate, &inspection)),
            }
        }
        if let Some(native) = self.natives.iter().find(|tool| tool.name() == name) {
            return Ok(FoundTool { tool: native.clone(), skipped: rejected });
        }
        let cancel = options.cancel.as_ref().unwrap_or(&self.cancel);
        let limited = cancel.child();
        match with_timeout(options.timeout, &limited, || self.providers.find(name, &limited)) {
            Ok(Some(tool)) => Ok(FoundTool { tool, skipped: rejected }),
            _ if cancel.is_cancelled() => Err(CallError::new(ErrorCode::Cancelled, "the call was cancelled")),
            _ if limited.is_cancelled() => Err(provider_timeout(name, options.timeout.unwrap_or_default())),
            Err(error) if rejected.is_none() => Err(CallError::new(ErrorCode::SpawnFailed, error)),
            _ => Err(self.not_found(name, rejected)),
        }
    }

    fn not_found(&self, name: &str, rejected: Option<RejectedTool>) -> CallError {
        match rejected {
            None => {
                if let Some(path) = discover::not_executable(name, &self.directories) {
                    let path = printable(&path);
                    let error =
                        format!("unknown tool '{name}': '{path}' is not executable; run `chmod +x '{path}'`");
                    return CallError::new(ErrorCode::ToolNotFound, error);
                }
                let names = self.names();
                let near = haft_config::all_nearest(name, names.iter().map(String::as_str));
                let hint = match near.as_slice() {
                    [] => String::new(),
                    near => format!("; did you mean '{}'?", near.join("' or '")),
                };
                let error = format!("unknown tool '{name}'{hint}");
                CallError::new(ErrorCode::ToolNotFound, error).with_nearest(near)
            }
            Some(rejected) if rejected.untrusted => CallError::new(
                ErrorCode::NotTrusted,
                format!(
                    "tool '{name}' of this project is not trusted{}; run `haft trust` to trust it",
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

/// Runs `work` and cancels the token after `limit`.
fn with_timeout<T>(limit: Option<Duration>, token: &CancelToken, work: impl FnOnce() -> T) -> T {
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

fn provider_timeout(name: &str, limit: Duration) -> CallError {
    let error = format!("the MCP servers that may have '{name}' did not list their tools within {limit:?}");
    CallError::new(ErrorCode::ToolTimeout, error)
}
