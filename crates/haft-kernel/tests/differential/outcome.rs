//! Running a script and recording its result.

use std::path::Path;
use std::time::Duration;

use haft_process::capture::{CaptureLimits, Output, OutputView};
use haft_process::{Command, Environment, Host, Input, Task};

use crate::case::{Case, ScriptDelivery};
use crate::snapshot::{self, Tree};

/// The reference shell.
pub(crate) const ORACLE: &str = "/bin/bash";

/// An entry that takes this long hangs.
const ENTRY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long processes may take to exit after the shell.
const EXIT_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// The maximum output of an entry to either stream.
const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// The result of a script.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The exit status, or the reason why there is none.
    pub(crate) status: String,
    pub(crate) tree: Tree,
}

/// Runs the script of an entry in an empty directory with the same path for each shell, because scripts can print it.
pub(crate) fn run(shell: &Path, case: &Case, way: ScriptDelivery, place: &Path) -> Outcome {
    let room = place.join(case.name.replace('/', "."));
    let home = room.join("home");
    snapshot::remove(&room);
    std::fs::create_dir_all(&home).expect("an empty directory");
    std::fs::write(room.join("script"), &case.script).expect("the script's file");
    let result = Task::new(command(shell, case, way, &room))
        .input(input(case, way))
        .capture_limits(CaptureLimits { head: MAX_OUTPUT_BYTES, tail: MAX_OUTPUT_BYTES, spill: 0 })
        .timeout(ENTRY_TIMEOUT)
        .grace(Duration::from_millis(200))
        .run(&Host::plain());
    let outcome = match result {
        Ok(outcome) => Outcome::seen(outcome, &home),
        Err(error) => Outcome { status: format!("not started: {error}"), ..Outcome::default() },
    };
    snapshot::remove(&room);
    outcome
}

impl Outcome {
    /// Records the result after the shell has exited, and ends the processes it left running.
    fn seen(outcome: haft_process::JobOutcome, home: &Path) -> Outcome {
        let mut status =
            if outcome.timed_out { "timed out".to_owned() } else { outcome.exit.code().to_string() };
        if outcome.adopted.as_ref().is_some_and(|left| !left.wait_for(EXIT_GRACE_PERIOD)) {
            status.push_str(", leaving processes behind");
        }
        drop(outcome.adopted);
        Outcome {
            stdout: bytes(outcome.captured.stdout.as_ref()),
            stderr: bytes(outcome.captured.stderr.as_ref()),
            status,
            tree: snapshot::of(home),
        }
    }
}

fn input(case: &Case, way: ScriptDelivery) -> Input {
    match (way, &case.stdin) {
        (ScriptDelivery::Input, _) => Input::Bytes(case.script.as_bytes().into()),
        (_, Some(text)) => Input::Bytes(text.as_bytes().into()),
        (_, None) => Input::Null,
    }
}

fn command(shell: &Path, case: &Case, way: ScriptDelivery, room: &Path) -> Command {
    let home = room.join("home");
    let mut command = Command::new(shell);
    command.arguments(&case.options);
    match way {
        ScriptDelivery::File => command.argument(room.join("script")),
        ScriptDelivery::Argument => command.argument("-c").argument(&case.script),
        ScriptDelivery::NamedArgument => {
            command.argument("-c").argument(&case.script).argument(room.join("script"))
        }
        ScriptDelivery::Input => command.argument("-s").argument("--"),
    };
    command.arguments(&case.arguments).environment(environment(&home)).working_directory(home);
    command
}

fn environment(home: &Path) -> Environment {
    let home = home.to_str().expect("a directory whose name is text");
    let pairs =
        [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", home), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")];
    Environment::from_pairs(pairs).expect("names and values without NUL bytes")
}

fn bytes(output: Option<&Output>) -> Vec<u8> {
    let slice = output.and_then(|output| output.slice(&OutputView::HeadAndTail, 2 * MAX_OUTPUT_BYTES).ok());
    slice.map(|slice| slice.to_bytes()).unwrap_or_default()
}
