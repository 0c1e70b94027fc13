//! Running a script, and what can be seen of it.

use std::path::Path;
use std::time::Duration;

use haft_process::capture::{CaptureLimits, Output, OutputView};
use haft_process::{Command, Environment, Host, Input, Task};

use crate::case::{Case, Way};
use crate::snapshot::{self, Tree};

/// The shell whose behaviour is right.
pub(crate) const ORACLE: &str = "/bin/bash";

/// No entry needs a second; one that takes so long hangs.
const DEADLINE: Duration = Duration::from_secs(10);

/// What has done its work and is about to end is not left behind.
const ENDING: Duration = Duration::from_millis(400);

/// Entries write less than this to either stream.
const OUTPUT: usize = 16 << 20;

/// All that a script's user could notice.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The exit status, or why there is none.
    pub(crate) status: String,
    pub(crate) tree: Tree,
}

/// Runs the script of an entry in an empty directory that is the same for each shell, since scripts show where they are.
pub(crate) fn run(shell: &Path, case: &Case, way: Way, place: &Path) -> Outcome {
    let room = place.join(case.name.replace('/', "."));
    let home = room.join("home");
    snapshot::remove(&room);
    std::fs::create_dir_all(&home).expect("an empty directory");
    std::fs::write(room.join("script"), &case.script).expect("the script's file");
    let result = Task::new(command(shell, case, way, &room))
        .input(input(case, way))
        .capture_limits(CaptureLimits { head: OUTPUT, tail: OUTPUT, spill: 0 })
        .timeout(DEADLINE)
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
    /// What there is to see after the shell has ended; whatever it left running is ended here.
    fn seen(outcome: haft_process::JobOutcome, home: &Path) -> Outcome {
        let mut status =
            if outcome.timed_out { "timed out".to_owned() } else { outcome.exit.code().to_string() };
        if outcome.adopted.as_ref().is_some_and(|left| !left.wait_for(ENDING)) {
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

fn input(case: &Case, way: Way) -> Input {
    match (way, &case.stdin) {
        (Way::Input, _) => Input::Bytes(case.script.as_bytes().into()),
        (_, Some(text)) => Input::Bytes(text.as_bytes().into()),
        (_, None) => Input::Null,
    }
}

fn command(shell: &Path, case: &Case, way: Way, room: &Path) -> Command {
    let home = room.join("home");
    let mut command = Command::new(shell);
    command.arguments(&case.options);
    match way {
        Way::File => command.argument(room.join("script")),
        Way::Argument => command.argument("-c").argument(&case.script),
        Way::NamedArgument => command.argument("-c").argument(&case.script).argument(room.join("script")),
        Way::Input => command.argument("-s").argument("--"),
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
    let slice = output.and_then(|output| output.slice(&OutputView::HeadAndTail, 2 * OUTPUT).ok());
    slice.map(|slice| slice.to_bytes()).unwrap_or_default()
}
