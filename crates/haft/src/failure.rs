//! Failures, told to a person: what happened, to what, what to do.

use std::fmt::Display;

use crate::log;

/// The status for arguments that make no sense.
pub(crate) const USAGE: i32 = 2;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) status: i32,
}

impl Failure {
    /// What the user has asked for cannot be done as asked.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure { message: message.to_string(), hint: None, status: USAGE }
    }

    /// Says it on standard error and returns the status.
    pub(crate) fn show(&self) -> i32 {
        print_message(&self.message);
        if let Some(hint) = &self.hint {
            log::write(format!("hint: {hint}\n"));
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
        Failure { message: error.to_string(), hint: error.hint().map(str::to_owned), status: USAGE }
    }
}

impl From<haft_tools::CallError> for Failure {
    fn from(fault: haft_tools::CallError) -> Failure {
        let status = fault.exit_status();
        Failure { message: fault.message, hint: None, status }
    }
}

impl From<haft_config::trust::Error> for Failure {
    fn from(error: haft_config::trust::Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint().map(str::to_owned), status: 1 }
    }
}

/// Text for a person, as it is, on standard error.
pub(crate) fn print_stderr(text: &str) {
    log::write(text.to_owned());
}

/// A message on standard error.
pub(crate) fn print_message(message: impl Display) {
    log::write(format!("haft: {message}\n"));
}

/// Shows help, a version or what is wrong with the arguments, as the parser of arguments words it.
pub(crate) fn show_usage(error: &clap::Error) -> i32 {
    let _ = error.print();
    error.exit_code()
}
