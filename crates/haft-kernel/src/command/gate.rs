//! Permission to run commands in this process.

use std::fmt::Debug;
use std::path::Path;

use haft_text::Bytes;

/// The kind of a command that runs in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProcessKind {
    /// A function of the script.
    Function,
    /// A builtin of bash.
    Builtin,
    /// A command of haft, also one that runs instead of a program.
    Command,
    /// A script on the script path.
    Script,
    /// A tool.
    Tool,
}

/// A command that is about to run in this process.
#[derive(Clone, Copy, Debug)]
pub struct GatedCommand<'a> {
    /// Its kind.
    pub kind: InProcessKind,
    /// Its name and arguments.
    pub words: &'a [Bytes],
    /// The working directory of the session.
    pub directory: &'a Path,
}

/// Decides which commands may run in this process, and which hosts they may connect to. A [start
/// policy](haft_process::StartPolicy) decides about programs.
pub trait CommandGate: Debug + Send + Sync {
    /// Checks a command.
    ///
    /// # Errors
    /// The reason if it may not run, which completes the message "NAME: …".
    fn check_command(&self, request: &GatedCommand<'_>) -> Result<(), String>;

    /// Checks a redirection to `/dev/tcp/HOST/PORT` or `/dev/udp/HOST/PORT`.
    ///
    /// # Errors
    /// The reason if the host may not be connected to.
    fn check_connection(&self, host: &str, port: u16) -> Result<(), String>;
}
