//! The result of a program that did not start.

use haft_process::Redactor;
use serde::Serialize;

use crate::failure::Failure;

/// A result for a program that did not start.
#[derive(Debug, Serialize)]
pub(crate) struct StartFailure {
    status: haft_process::StatusReport,
    error: FailureDetails,
}

#[derive(Debug, Serialize)]
struct FailureDetails {
    message: String,
    hint: Option<String>,
}

impl StartFailure {
    /// The result for a failure, keys masked.
    pub(crate) fn new(failure: &Failure, redactor: &Redactor) -> StartFailure {
        let masked = |text: &String| redactor.text(text).into_owned();
        StartFailure {
            status: haft_process::StatusReport {
                code: failure.status,
                signal: None,
                timed_out: false,
                cancelled: false,
                limit: None,
            },
            error: FailureDetails {
                message: masked(&failure.message),
                hint: failure.hint.as_ref().map(masked),
            },
        }
    }
}
