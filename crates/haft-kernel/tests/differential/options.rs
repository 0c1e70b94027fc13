//! The command line of the test.

use std::path::PathBuf;

use haft_process::capture::OutputView;
use haft_process::{Command, Host, Task};

use crate::case::Case;
use crate::outcome::ORACLE;

/// The parsed command line.
pub(crate) struct HarnessOptions {
    /// The shell that is compared with bash.
    pub(crate) shell: PathBuf,
    /// Whether scripts are passed as arguments and on standard input in turn, instead of as files.
    pub(crate) in_turn: bool,
    /// Whether the entries are only listed.
    pub(crate) list: bool,
    /// Whether only ignored entries are selected; there are none.
    ignored: bool,
    /// Whether a filter is the whole name of an entry.
    exact: bool,
    filters: Vec<String>,
}

impl HarnessOptions {
    /// Parses the arguments. HarnessOptions of other test harnesses are ignored.
    pub(crate) fn from_arguments(mut arguments: impl Iterator<Item = String>) -> HarnessOptions {
        let shell = shell_under_test();
        let in_turn = BINARY.is_some();
        let mut options =
            HarnessOptions { shell, in_turn, list: false, ignored: false, exact: false, filters: Vec::new() };
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

    /// Tells whether an entry is selected.
    pub(crate) fn selects(&self, case: &Case) -> bool {
        let matches = |filter: &String| match self.exact {
            true => case.name == *filter || case.batch == *filter,
            false => case.name.contains(filter) || case.batch.contains(filter),
        };
        !self.ignored && (self.filters.is_empty() || self.filters.iter().any(matches))
    }

    /// Returns why nothing can be compared here, if that is so.
    pub(crate) fn unusable(&self) -> Option<String> {
        let version = bash_version();
        if !version.starts_with("5.2.") {
            return Some(format!("the comparison needs bash 5.2, but '{ORACLE}' has version '{version}'"));
        }
        None
    }
}

/// The path of the binary, if this is a test of the binary.
const BINARY: Option<&str> = option_env!("CARGO_BIN_EXE_haft");

/// Returns the shell that cargo builds with this test.
fn shell_under_test() -> PathBuf {
    if let Some(binary) = BINARY {
        return PathBuf::from(binary);
    }
    let test = std::env::current_exe().unwrap_or_default();
    let profile = test.parent().and_then(|dependencies| dependencies.parent()).map(PathBuf::from);
    profile.unwrap_or_default().join("examples/shell")
}

/// Returns the version of bash; empty if there is no bash.
fn bash_version() -> String {
    let mut command = Command::new(ORACLE);
    command.arguments(["-c", "printf %s \"$BASH_VERSION\""]);
    let Ok(outcome) = Task::new(command).run(&Host::plain()) else { return String::new() };
    let stdout = outcome.captured.stdout.and_then(|output| output.slice(&OutputView::HeadAndTail, 1024).ok());
    stdout.map(|slice| String::from_utf8_lossy(&slice.to_bytes()).into_owned()).unwrap_or_default()
}
