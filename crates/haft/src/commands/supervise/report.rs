//! The result of a program that did not start.

use haft_process::Redactor;
use serde::Serialize;

use crate::failure::Failure;

/// A result for a program that did not start.
#[derive(Debug, Serialize)]
pub(crate) struct Unstarted {
    status: haft_process::StatusReport,
    error: Reason,
}

#[derive(Debug, Serialize)]
struct Reason {
    message: String,
    hint: Option<String>,
}

impl Unstarted {
    /// The result for a failure, keys masked.
    pub(crate) fn new(failure: &Failure, redactor: &Redactor) -> Unstarted {
        let masked = |text: &String| redactor.text(text).into_owned();
        Unstarted {
            status: haft_process::StatusReport {
                code: failure.status,
                signal: None,
                timed_out: false,
                cancelled: false,
                limit: None,
            },
            error: Reason { message: masked(&failure.message), hint: failure.hint.as_ref().map(masked) },
        }
    }
}
