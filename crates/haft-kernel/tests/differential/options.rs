//! What the command line asks for.

use std::path::PathBuf;

use haft_process::capture::OutputView;
use haft_process::{Command, Host, Task};

use crate::case::Case;
use crate::outcome::ORACLE;

/// The command line, read.
pub(crate) struct Options {
    /// The shell that is compared with bash.
    pub(crate) shell: PathBuf,
    /// Whether scripts are given in turn as an argument and on standard input, not as files.
    pub(crate) in_turn: bool,
    /// Whether the entries are only listed.
    pub(crate) list: bool,
    /// Whether only entries that are left out by default are meant; there are none.
    ignored: bool,
    /// Whether a filter is the whole name of an entry.
    exact: bool,
    filters: Vec<String>,
}

impl Options {
    /// Options of other test harnesses are taken and ignored.
    pub(crate) fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Options {
        let shell = shell_under_test();
        let in_turn = BINARY.is_some();
        let mut options =
            Options { shell, in_turn, list: false, ignored: false, exact: false, filters: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--shell" => options.shell = arguments.next().map(PathBuf::from).unwrap_or_default(),
                "--list" => options.list = true,
                "--ignored" => options.ignored = true,
                "--exact" => options.exact = true,
                "--format" => drop(arguments.next()),
                _ if argument.starts_with('-') => {}
                _ => options.filters.push(argument),
            }
        }
        options
    }

    /// Whether an entry is to be run.
    pub(crate) fn selects(&self, case: &Case) -> bool {
        let matches = |filter: &String| match self.exact {
            true => case.name == *filter || case.batch == *filter,
            false => case.name.contains(filter) || case.batch.contains(filter),
        };
        !self.ignored && (self.filters.is_empty() || self.filters.iter().any(matches))
    }

    /// Why nothing can be compared here, if so.
    pub(crate) fn unusable(&self) -> Option<String> {
        let version = bash_version();
        if !version.starts_with("5.2.") {
            return Some(format!("bash 5.2 is the oracle, and '{ORACLE}' says its version is '{version}'"));
        }
        None
    }
}

/// The binary, if this is a test of it.
const BINARY: Option<&str> = option_env!("CARGO_BIN_EXE_haft");

/// The shell that cargo builds together with this test.
fn shell_under_test() -> PathBuf {
    if let Some(binary) = BINARY {
        return PathBuf::from(binary);
    }
    let test = std::env::current_exe().unwrap_or_default();
    let profile = test.parent().and_then(|dependencies| dependencies.parent()).map(PathBuf::from);
    profile.unwrap_or_default().join("examples/shell")
}

/// What bash says its version is; nothing if there is no bash.
fn bash_version() -> String {
    let mut command = Command::new(ORACLE);
    command.arguments(["-c", "printf %s \"$BASH_VERSION\""]);
    let Ok(outcome) = Task::new(command).run(&Host::plain()) else { return String::new() };
    let stdout = outcome.captured.stdout.and_then(|output| output.slice(&OutputView::HeadAndTail, 1024).ok());
    stdout.map(|slice| String::from_utf8_lossy(&slice.to_bytes()).into_owned()).unwrap_or_default()
}
