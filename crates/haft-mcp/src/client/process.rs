//! A server process, started by us.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_process::{Command, Environment, Input, JobHandle, Streams, Task, process_start};
use haft_tools::is_basic_variable;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::RemoteSetup;

/// The time between `SIGTERM` and `SIGKILL`.
const TERMINATION_GRACE: Duration = Duration::from_secs(1);
/// The amount of standard error to remember.
const STDERR_TAIL_BYTES: usize = 4096;
/// The number of lines of standard error in a message.
const STDERR_LINES: usize = 5;
/// Environment variable that holds the name of the server. It is set for every server that haft starts.
pub const NESTED_SERVER_VARIABLE: &str = "HAFT_MCP";

/// A running server process. Dropping this ends it and its descendants.
#[derive(Debug)]
pub(super) struct ServerProcess {
    handle: JobHandle,
    /// The start time of the process, which tells it from another one with the same id. Unknown without `/proc`.
    started: Option<u64>,
    stderr_tail: StderrTail,
    /// Reads standard error until it is closed.
    stderr_reader: JoinHandle<()>,
}

/// The end of a server's standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    /// The last lines that are not blank, after a colon. Empty if there are none.
    pub(super) fn last_lines(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let mut lines: Vec<&str> =
            text.lines().rev().filter(|line| !line.trim().is_empty()).take(STDERR_LINES).collect();
        lines.reverse();
        match lines.as_slice() {
            [] => String::new(),
            [line] => format!(": {}", line.trim()),
            lines => format!(":\n{}", lines.join("\n")),
        }
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..surplus);
    }
}

/// The pipes from and to the process.
pub(super) type PipeTransport = (pipe::Receiver, pipe::Sender);

impl ServerProcess {
    /// Starts the program, connected by pipes. Its standard error goes to `stderr_tail`.
    pub(super) fn start(
        name: &str,
        command: &[String],
        env: &BTreeMap<String, String>,
        setup: &RemoteSetup,
        stderr_tail: &StderrTail,
    ) -> Result<(ServerProcess, PipeTransport), String> {
        let (program, arguments) = command.split_first().ok_or("has an empty command")?;
        let (their_input, our_output) = pipe_pair()?;
        let (our_input, their_output) = pipe_pair()?;
        let (our_errors, their_errors) = pipe_pair()?;
        let mut command = Command::new(program);
        command.arguments(arguments).environment(environment(name, env, setup)?);
        command.working_directory(&setup.directory);
        command.descriptor(1, their_output).descriptor(2, their_errors);
        let input = Input::File(Arc::new(their_input));
        let task = Task::new(command).streams(Streams::Inherit).input(input).grace(TERMINATION_GRACE);
        let handle = task.start(&setup.host).and_then(haft_process::Job::background);
        let handle = handle.map_err(|error| format!("cannot be started: {error}"))?;
        let words = |error: std::io::Error| haft_process::reason(&error);
        let reader = pipe::Receiver::from_owned_fd(our_input).map_err(words)?;
        let writer = pipe::Sender::from_owned_fd(our_output).map_err(words)?;
        let stderr_tail = stderr_tail.clone();
        stderr_tail.clear();
        let errors = pipe::Receiver::from_owned_fd(our_errors).map_err(words)?;
        let stderr_reader = tokio::spawn(read_stderr(errors, stderr_tail.clone()));
        let started = process_start(handle.controller().pid());
        Ok((ServerProcess { handle, started, stderr_tail, stderr_reader }, (reader, writer)))
    }

    /// Whether the process has exited. Its job ends a moment later, once the output is quiet.
    pub(super) fn is_finished(&self) -> bool {
        let is_gone =
            || self.started.is_some() && process_start(self.handle.controller().pid()) != self.started;
        self.handle.is_finished() || is_gone()
    }

    /// Waits a moment for the process to exit and its standard error to be read. Both may happen shortly after its
    /// output is closed.
    pub(super) async fn wait_for_exit(&mut self) {
        const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
        const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(2);
        let settled = async {
            if !self.stderr_reader.is_finished() {
                let _ = (&mut self.stderr_reader).await;
            }
            while !self.handle.is_finished() {
                tokio::time::sleep(EXIT_POLL_INTERVAL).await;
            }
        };
        let _ = tokio::time::timeout(EXIT_TIMEOUT, settled).await;
    }

    /// The last lines of standard error.
    pub(super) fn last_stderr_lines(&self) -> String {
        self.stderr_tail.last_lines()
    }
}

/// Reads standard error, so that the server never blocks on it, and remembers the end.
async fn read_stderr(mut errors: pipe::Receiver, stderr_tail: StderrTail) {
    let mut chunk = vec![0; STDERR_TAIL_BYTES];
    while let Ok(read) = errors.read(&mut chunk).await {
        if read == 0 {
            return;
        }
        stderr_tail.push(&chunk[..read]);
    }
}

fn pipe_pair() -> Result<(OwnedFd, OwnedFd), String> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| haft_process::reason(&error.into()))
}

fn environment(
    name: &str,
    env: &BTreeMap<String, String>,
    setup: &RemoteSetup,
) -> Result<Environment, String> {
    let mut environment = Environment::new();
    for (name, value) in setup.environment.iter().filter(|(name, _)| is_basic_variable(name)) {
        environment.set(name, value).map_err(|error| error.to_string())?;
    }
    // The server may be haft itself, which must not start itself again through the same configuration.
    environment.set(NESTED_SERVER_VARIABLE, name).map_err(|error| error.to_string())?;
    for (name, value) in env {
        environment.set(name, value).map_err(|error| error.to_string())?;
    }
    Ok(environment)
}
