//! Tests whether every parser accepts a text, with a time limit.
//!
//! A parser can take forever on a text, so the test runs in another process: this program, started again with
//! [`ACCEPTS_ARGUMENT`].

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::parsers::{brush_words, haft};
use crate::processor_time;

/// The first argument of the process that tests a text; the second one is its path.
pub const ACCEPTS_ARGUMENT: &str = "--accepts";

/// Time after which a parser is considered to hang.
const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum processor time of all parsers together for one script, and for each of its bytes. A few scripts take brush-parser so long that the
/// benchmark would measure nothing else.
const MAX_SCRIPT_TIME: Duration = Duration::from_millis(10);
const MAX_BYTE_TIME: Duration = Duration::from_micros(2);

/// The exit status for a text that takes too long.
const SLOW: u8 = 12;

/// The exit statuses for texts that are left out.
const REFUSALS: [(u8, &str); 3] =
    [(10, "haft-lang refuses it"), (11, "brush-parser refuses it"), (SLOW, "it takes too long")];

/// Tests the text in a file. The exit status says which parser refuses it.
pub fn accepts(path: &str) -> ExitCode {
    let Ok(text) = std::fs::read_to_string(path) else { return ExitCode::FAILURE };
    let parsers = [haft as fn(&str) -> bool, brush_words];
    let started = processor_time();
    let refused = parsers.iter().position(|parse| !parse(&text));
    let limit = MAX_SCRIPT_TIME + MAX_BYTE_TIME * u32::try_from(text.len()).unwrap_or(u32::MAX);
    match refused {
        Some(index) => ExitCode::from(REFUSALS[index].0),
        None if processor_time() - started > limit => ExitCode::from(SLOW),
        None => ExitCode::SUCCESS,
    }
}

/// Tests the text in a file in another process. Returns the reason if a parser does not accept it in time.
pub(crate) fn refusal(path: &Path) -> Option<&'static str> {
    let program = std::env::current_exe().expect("the path of this program is known");
    let mut command = Command::new(program);
    let parsers = command.arg(ACCEPTS_ARGUMENT).arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Some(code) = wait(parsers.expect("this program starts")) else { return Some("a parser hangs") };
    match REFUSALS.iter().find(|(refusal, _)| i32::from(*refusal) == code) {
        Some((_, reason)) => Some(reason),
        None if code == 0 => bash_refusal(path),
        None => Some("a parser crashes"),
    }
}

fn bash_refusal(path: &Path) -> Option<&'static str> {
    let mut command = Command::new("/bin/bash");
    let bash = command.arg("-n").arg(path).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut bash = bash.expect("bash starts");
    let mut messages = bash.stderr.take().expect("standard error is a pipe");
    let code = wait(bash);
    let mut text = String::new();
    let silent = messages.read_to_string(&mut text).is_ok() && text.is_empty();
    (code != Some(0) || !silent).then_some("bash refuses it")
}

/// Waits for the exit status; `None` after a timeout or a signal.
fn wait(mut child: Child) -> Option<i32> {
    let deadline = Instant::now() + ACCEPTANCE_TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return Some(status.code().unwrap_or(-1));
        }
        if Instant::now() > deadline {
            child.kill().expect("the process can be killed");
            child.wait().expect("the process can be waited for");
            return None;
        }
        sleep(Duration::from_millis(1));
    }
}
