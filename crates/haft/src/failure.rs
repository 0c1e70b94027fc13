//! Failures of a command, and messages for the user on standard error.
//!
//! Every message has one form: `haft: MESSAGE`, and where there is advice a line `hint: ADVICE`.

use std::fmt::Display;

use crate::log;

/// The exit status for wrong usage.
pub(crate) const USAGE_STATUS: i32 = 2;
/// The exit status for a file that exists and cannot be run.
pub(crate) const CANNOT_RUN_STATUS: i32 = 126;
/// The exit status for a file or program that does not exist.
pub(crate) const NOT_FOUND_STATUS: i32 = 127;

/// Why a command failed, with advice if there is any, and its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) status: i32,
}

impl Failure {
    /// A failure with an exit status and no hint.
    pub(crate) fn new(message: impl Display, status: i32) -> Failure {
        Failure { message: message.to_string(), hint: None, status }
    }

    /// Wrong usage: the user has to change the command line, or a file that it names.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::new(message, USAGE_STATUS)
    }

    /// The same failure with a hint.
    pub(crate) fn with_hint(self, hint: impl Display) -> Failure {
        Failure { hint: Some(hint.to_string()), ..self }
    }

    /// Prints message and hint to standard error. Returns the exit status.
    pub(crate) fn print(&self) -> i32 {
        print_message(&self.message);
        if let Some(hint) = &self.hint {
            print_hint(hint);
        }
        self.status
    }
}

impl From<haft_process::Error> for Failure {
    fn from(error: haft_process::Error) -> Failure {
        Failure {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            status: error.exit_code(),
        }
    }
}

impl From<haft_config::Error> for Failure {
    fn from(error: haft_config::Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint().map(str::to_owned), status: USAGE_STATUS }
    }
}

impl From<haft_tools::CallError> for Failure {
    fn from(error: haft_tools::CallError) -> Failure {
        let status = error.exit_status();
        Failure::new(error.message, status)
    }
}

impl From<haft_config::trust::Error> for Failure {
    fn from(error: haft_config::trust::Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint().map(str::to_owned), status: 1 }
    }
}

/// Prints text to standard error as it is.
pub(crate) fn print_stderr(text: &str) {
    log::write(text.to_owned());
}

/// Prints a message to standard error.
pub(crate) fn print_message(message: impl Display) {
    log::write(format!("haft: {message}\n"));
}

/// Prints advice to standard error, after the message that it belongs to.
pub(crate) fn print_hint(hint: impl Display) {
    log::write(format!("hint: {hint}\n"));
}
