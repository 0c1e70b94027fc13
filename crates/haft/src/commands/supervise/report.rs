//! The result of a program that did not start.

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

impl From<&Failure> for Unstarted {
    fn from(failure: &Failure) -> Unstarted {
        Unstarted {
            status: haft_process::StatusReport {
                code: failure.status,
                signal: None,
                timed_out: false,
                cancelled: false,
                limit: None,
            },
            error: Reason { message: failure.message.clone(), hint: failure.hint.clone() },
        }
    }
}
