//! Asking an executable for its schema.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_process::capture::{CaptureLimits, OutputView};
use haft_process::{
    CancelToken, Command, Environment, Exit, Host, JobOutcome, OutputCallback, StreamKind, Task, signal_name,
};

use crate::environment::{for_tool, with_tool_path};
use crate::text;
use crate::tool::ToolDescriptor;

/// An answer may have so many bytes.
pub(crate) const LARGEST: usize = 1 << 20;
/// What is left of a tool after its answer gets so long to end by itself.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// How tools are asked.
#[derive(Clone, Debug)]
pub(crate) struct SchemaProbe {
    pub(crate) host: Host,
    pub(crate) inherited: Arc<Environment>,
    pub(crate) timeout: Duration,
    pub(crate) cancel: CancelToken,
}

/// Why there is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbeFailure {
    pub(crate) reason: String,
    /// Whether the same content will give the same answer again.
    pub(crate) lasting: bool,
}

impl ProbeFailure {
    pub(crate) fn passing(reason: impl Into<String>) -> ProbeFailure {
        ProbeFailure { reason: reason.into(), lasting: false }
    }

    pub(crate) fn lasting(reason: impl Into<String>) -> ProbeFailure {
        ProbeFailure { reason: reason.into(), lasting: true }
    }
}

impl SchemaProbe {
    /// Runs the executable with `--schema` and reads its answer.
    pub(crate) fn schema(
        &self,
        path: &Path,
        name: &str,
        sealed: Option<Arc<OwnedFd>>,
    ) -> Result<ToolDescriptor, ProbeFailure> {
        let mut command = program(path, sealed);
        let environment = for_tool(&self.inherited, &Environment::new(), &self.inherited, name, &[]);
        command.argument("--schema").environment(with_tool_path(environment, path));
        if let Some(directory) = path.parent() {
            command.working_directory(directory);
        }
        let (cancel, counted) = (self.cancel.child(), AtomicUsize::new(0));
        let flood = cancel.clone();
        let live = OutputCallback::new(move |kind, bytes| {
            let seen = counted.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
            if kind == StreamKind::Stdout && seen > LARGEST {
                flood.cancel();
            }
        });
        let task = Task::new(command)
            .capture_limits(CaptureLimits { head: LARGEST + 1, tail: 0, spill: 0 })
            .timeout(self.timeout)
            .grace(GRACE)
            .cancel(&cancel)
            .on_output(live);
        let mut outcome = task.run(&self.host).map_err(|error| ProbeFailure::passing(error.to_string()))?;
        end_rest(&mut outcome);
        self.read(&outcome, name)
    }

    fn read(&self, outcome: &JobOutcome, name: &str) -> Result<ToolDescriptor, ProbeFailure> {
        let stdout = outcome.captured.stdout.as_ref();
        if stdout.is_some_and(|stdout| stdout.total_bytes() > LARGEST as u64) {
            return Err(ProbeFailure::lasting("the schema is larger than 1 MiB"));
        }
        if outcome.cancelled {
            return Err(ProbeFailure::passing("discovery was cancelled"));
        }
        if outcome.timed_out {
            return Err(ProbeFailure::passing(format!("no schema within {} s", self.timeout.as_secs_f64())));
        }
        let said = text::last_line(&shown(outcome)).map_or(String::new(), |line| format!(": {line}"));
        match outcome.exit {
            Exit::Code(0) => {}
            Exit::Code(code) => return Err(ProbeFailure::passing(format!("exit {code}{said}"))),
            Exit::Signal(signal) => {
                let signal = signal_name(signal).map_or(signal.to_string(), |name| format!("SIG{name}"));
                return Err(ProbeFailure::passing(format!("killed by {signal}{said}")));
            }
        }
        let bytes = stdout.and_then(|stdout| stdout.slice(&OutputView::HeadAndTail, LARGEST).ok());
        let bytes = bytes.map(|slice| slice.to_bytes()).unwrap_or_default();
        let descriptor = ToolDescriptor::parse(&bytes).map_err(ProbeFailure::lasting)?;
        if descriptor.name != name {
            let reason = format!("it calls itself '{}', its file makes it '{name}'", descriptor.name);
            return Err(ProbeFailure::lasting(reason));
        }
        Ok(descriptor)
    }
}

/// A tool's program: a sealed copy of it where there is one, else the file itself.
pub(crate) fn program(path: &Path, sealed: Option<Arc<OwnedFd>>) -> Command {
    let mut command = Command::new(path);
    if let Some(sealed) = sealed {
        command.program_file(sealed);
    }
    command
}

fn shown(outcome: &JobOutcome) -> String {
    let stderr = outcome.captured.stderr.as_ref();
    let slice = stderr.and_then(|stderr| stderr.slice(&OutputView::TailBytes(2000), 2000).ok());
    text::decode(&slice.map(|slice| slice.to_bytes()).unwrap_or_default())
}

/// Ends whatever the process has left running: a tool is done when it has answered.
pub(crate) fn end_rest(outcome: &mut JobOutcome) {
    if let Some(rest) = outcome.adopted.take() {
        rest.controller().set_grace(GRACE);
        let _ = rest.end();
    }
}
