//! Runs `TOOL --schema`.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_process::capture::{CaptureLimits, OutputView};
use haft_process::{
    CancelToken, Command, Environment, Exit, Host, JobOutcome, OutputCallback, StreamKind, Task,
};

use crate::environment::{for_tool, with_tool_path};
use crate::text;
use crate::tool::ToolDescriptor;

/// Maximum size of a schema.
pub(crate) const MAX_SCHEMA_BYTES: usize = 1 << 20;
/// Time between `SIGTERM` and `SIGKILL` for processes that a tool leaves behind.
pub(crate) const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// How to probe tools.
#[derive(Clone, Debug)]
pub(crate) struct SchemaProbe {
    pub(crate) host: Host,
    pub(crate) inherited: Arc<Environment>,
    pub(crate) timeout: Duration,
    pub(crate) cancel: CancelToken,
}

/// Why a probe failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbeFailure {
    pub(crate) reason: String,
    /// True if the same content would fail again.
    pub(crate) permanent: bool,
}

impl ProbeFailure {
    pub(crate) fn transient(reason: impl Into<String>) -> ProbeFailure {
        ProbeFailure { reason: reason.into(), permanent: false }
    }

    pub(crate) fn permanent(reason: impl Into<String>) -> ProbeFailure {
        ProbeFailure { reason: reason.into(), permanent: true }
    }
}

impl SchemaProbe {
    /// Runs the executable with `--schema` and parses the output.
    pub(crate) fn run(
        &self,
        path: &Path,
        name: &str,
        sealed: Option<Arc<OwnedFd>>,
    ) -> Result<ToolDescriptor, ProbeFailure> {
        let mut command = tool_command(path, sealed);
        let environment = for_tool(&self.inherited, &Environment::new(), &self.inherited, name, &[]);
        command.argument("--schema").environment(with_tool_path(environment, path));
        if let Some(directory) = path.parent() {
            command.working_directory(directory);
        }
        let (cancel, counted) = (self.cancel.child(), AtomicUsize::new(0));
        let flood = cancel.clone();
        let live = OutputCallback::new(move |kind, bytes| {
            let seen = counted.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
            if kind == StreamKind::Stdout && seen > MAX_SCHEMA_BYTES {
                flood.cancel();
            }
        });
        let task = Task::new(command)
            .capture_limits(CaptureLimits { head: MAX_SCHEMA_BYTES + 1, tail: 0, spill: 0 })
            .timeout(self.timeout)
            .grace(LEFTOVER_GRACE)
            .cancel(&cancel)
            .on_output(live);
        let mut outcome = task.run(&self.host).map_err(|error| ProbeFailure::transient(error.to_string()))?;
        end_leftovers(&mut outcome);
        self.parse(&outcome, name)
    }

    fn parse(&self, outcome: &JobOutcome, name: &str) -> Result<ToolDescriptor, ProbeFailure> {
        let stdout = outcome.captured.stdout.as_ref();
        if stdout.is_some_and(|stdout| stdout.total_bytes() > MAX_SCHEMA_BYTES as u64) {
            return Err(ProbeFailure::permanent("the schema is larger than 1 MiB"));
        }
        if outcome.cancelled {
            return Err(ProbeFailure::transient("discovery was cancelled"));
        }
        if outcome.timed_out {
            return Err(ProbeFailure::transient(format!(
                "`--schema` did not answer within {} s",
                self.timeout.as_secs_f64()
            )));
        }
        let stderr = text::last_line(&stderr_tail(outcome)).map_or(String::new(), |line| format!(": {line}"));
        match outcome.exit {
            Exit::Code(0) => {}
            Exit::Code(code) => {
                return Err(ProbeFailure::transient(format!("`--schema` exited with {code}{stderr}")));
            }
            Exit::Signal(signal) => {
                let signal = text::signal(signal);
                return Err(ProbeFailure::transient(format!("`--schema` was killed by {signal}{stderr}")));
            }
        }
        let bytes = stdout.and_then(|stdout| stdout.slice(&OutputView::HeadAndTail, MAX_SCHEMA_BYTES).ok());
        let bytes = bytes.map(|slice| slice.to_bytes()).unwrap_or_default();
        let descriptor = ToolDescriptor::parse(&bytes).map_err(ProbeFailure::permanent)?;
        if descriptor.name != name {
            let reason = format!("its schema says '{}', but its file name says '{name}'", descriptor.name);
            return Err(ProbeFailure::permanent(reason));
        }
        Ok(descriptor)
    }
}

/// The command for a tool: its sealed copy if there is one, otherwise the file.
pub(crate) fn tool_command(path: &Path, sealed: Option<Arc<OwnedFd>>) -> Command {
    let mut command = Command::new(path);
    if let Some(sealed) = sealed {
        command.program_file(sealed);
    }
    command
}

fn stderr_tail(outcome: &JobOutcome) -> String {
    let stderr = outcome.captured.stderr.as_ref();
    let slice = stderr.and_then(|stderr| stderr.slice(&OutputView::TailBytes(2000), 2000).ok());
    text::decode(&slice.map(|slice| slice.to_bytes()).unwrap_or_default())
}

/// Terminates processes that a tool has left running. A call is over when the tool has answered.
pub(crate) fn end_leftovers(outcome: &mut JobOutcome) {
    if let Some(leftovers) = outcome.adopted.take() {
        leftovers.controller().set_grace(LEFTOVER_GRACE);
        let _ = leftovers.end();
    }
}
