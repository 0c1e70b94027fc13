//! Commands that are run to make texts of, side by side under supervision.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_process::capture::OutputView;
use haft_process::{CancelToken, Command, Environment, Host, JobOutcome, Signals, Task};

/// The most that is taken of what a command writes. More would not help an agent.
const MOST: usize = 1 << 20;
/// How many commands run at once.
const AT_ONCE: usize = 16;
/// What processes get to end by themselves once they were asked to.
const GRACE: Duration = Duration::from_millis(500);

/// A command to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCommand {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it runs.
    pub directory: PathBuf,
}

/// What came of a command: what it wrote, or in a few words why there is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// What it wrote.
    Text(Vec<u8>),
    /// Both ends of what it wrote, which was more than is taken, and how much it was.
    Cut(Vec<u8>, u64),
    /// Why there is nothing.
    Nothing(String),
}

/// Runs all of them, several at once, and returns when each has ended with everything it had started.
pub fn run_commands(
    commands: &[ContextCommand],
    environment: &Environment,
    host: &Host,
    cancel: &CancelToken,
) -> Vec<CommandResult> {
    let found = Mutex::new(vec![CommandResult::Nothing("it was not run".to_owned()); commands.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((index, wanted)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            commands.get(index).map(|wanted| (index, wanted))
        } {
            let result = run_one(wanted, environment, host, cancel);
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = result;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..commands.len().min(AT_ONCE) {
            scope.spawn(work);
        }
        work();
    });
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_one(
    wanted: &ContextCommand,
    environment: &Environment,
    host: &Host,
    cancel: &CancelToken,
) -> CommandResult {
    let Some((program, arguments)) = wanted.argv.split_first() else {
        return CommandResult::Nothing("there is no command".to_owned());
    };
    let mut command = Command::new(program);
    command.arguments(arguments).environment(environment.clone()).working_directory(&wanted.directory);
    command.parent_death_signal(Signals::KILL);
    let task = Task::new(command).timeout(wanted.timeout).grace(GRACE).cancel(cancel);
    match task.run(host) {
        Ok(outcome) => judge(outcome, wanted.timeout),
        Err(error) => CommandResult::Nothing(error.to_string()),
    }
}

fn judge(mut outcome: JobOutcome, timeout: Duration) -> CommandResult {
    if let Some(left) = outcome.adopted.take() {
        left.controller().set_grace(GRACE);
        left.end();
    }
    if outcome.timed_out {
        return CommandResult::Nothing(format!("it took longer than {} s", timeout.as_secs()));
    }
    if outcome.cancelled {
        return CommandResult::Nothing("it was cancelled".to_owned());
    }
    if !outcome.exit.success() {
        return CommandResult::Nothing(failure(&outcome));
    }
    let Some(output) = &outcome.captured.stdout else { return CommandResult::Text(Vec::new()) };
    match output.slice(&OutputView::HeadAndTail, MOST) {
        Ok(slice) if slice.is_whole() => CommandResult::Text(slice.to_bytes()),
        Ok(slice) => CommandResult::Cut(slice.to_bytes(), slice.total_bytes),
        Err(error) => CommandResult::Nothing(error.to_string()),
    }
}

/// The status, and the last line it complained with.
fn failure(outcome: &JobOutcome) -> String {
    let text =
        outcome.captured.stderr.as_ref().and_then(|stderr| stderr.slice(&OutputView::TailLines(1), 200).ok());
    let text = text.map(|slice| slice.to_text().text).unwrap_or_default();
    let status = format!("it ended with status {}", outcome.code());
    match text.trim() {
        "" => status,
        complaint => format!("{status}: {complaint}"),
    }
}
