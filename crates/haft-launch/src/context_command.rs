//! Commands that produce texts, run in parallel under supervision.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_process::capture::OutputView;
use haft_process::{CancelToken, Command, Environment, Host, JobOutcome, Signals, Task};

/// Maximum output used from a command.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// Maximum number of commands that run in parallel.
const MAX_PARALLEL_COMMANDS: usize = 16;
/// Time between `SIGTERM` and `SIGKILL`.
const TERMINATION_GRACE: Duration = Duration::from_millis(500);

/// A command whose output becomes part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCommand {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Time limit.
    pub timeout: Duration,
    /// Working directory.
    pub directory: PathBuf,
}

/// Result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// The complete output.
    Output(Vec<u8>),
    /// The head and tail of an output that is too long, and its total size.
    Truncated(Vec<u8>, u64),
    /// The command failed, with the reason.
    Failed(String),
}

/// Runs all commands, several in parallel. Returns when they and all processes they started have ended.
pub fn run_commands(
    commands: &[ContextCommand],
    environment: &Environment,
    host: &Host,
    cancel: &CancelToken,
) -> Vec<CommandResult> {
    let results = Mutex::new(vec![CommandResult::Failed("it did not run".to_owned()); commands.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((index, wanted)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            commands.get(index).map(|wanted| (index, wanted))
        } {
            let result = run_one(wanted, environment, host, cancel);
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = result;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..commands.len().min(MAX_PARALLEL_COMMANDS) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_one(
    wanted: &ContextCommand,
    environment: &Environment,
    host: &Host,
    cancel: &CancelToken,
) -> CommandResult {
    let Some((program, arguments)) = wanted.argv.split_first() else {
        return CommandResult::Failed("the command is empty".to_owned());
    };
    let mut command = Command::new(program);
    command.arguments(arguments).environment(environment.clone()).working_directory(&wanted.directory);
    command.parent_death_signal(Signals::KILL);
    let task = Task::new(command).timeout(wanted.timeout).grace(TERMINATION_GRACE).cancel(cancel);
    match task.run(host) {
        Ok(outcome) => result_of(outcome, wanted.timeout),
        Err(error) => CommandResult::Failed(error.to_string()),
    }
}

fn result_of(mut outcome: JobOutcome, timeout: Duration) -> CommandResult {
    if let Some(left) = outcome.adopted.take() {
        left.controller().set_grace(TERMINATION_GRACE);
        left.end();
    }
    if outcome.timed_out {
        return CommandResult::Failed(format!("it took longer than {} s", timeout.as_secs()));
    }
    if outcome.cancelled {
        return CommandResult::Failed("it was cancelled".to_owned());
    }
    if !outcome.exit.success() {
        return CommandResult::Failed(failure(&outcome));
    }
    let Some(output) = &outcome.captured.stdout else { return CommandResult::Output(Vec::new()) };
    match output.slice(&OutputView::HeadAndTail, MAX_OUTPUT_BYTES) {
        Ok(slice) if slice.is_whole() => CommandResult::Output(slice.to_bytes()),
        Ok(slice) => CommandResult::Truncated(slice.to_bytes(), slice.total_bytes),
        Err(error) => CommandResult::Failed(error.to_string()),
    }
}

/// The exit status and the last line of standard error.
fn failure(outcome: &JobOutcome) -> String {
    let text =
        outcome.captured.stderr.as_ref().and_then(|stderr| stderr.slice(&OutputView::TailLines(1), 200).ok());
    let text = text.map(|slice| slice.to_text().text).unwrap_or_default();
    let status = format!("it exited with status {}", outcome.code());
    match text.trim() {
        "" => status,
        last_line => format!("{status}: {last_line}"),
    }
}
