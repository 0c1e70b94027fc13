//! The result as one JSON object.

use std::io::Write as _;

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
            },
            error: Reason { message: failure.message.clone(), hint: failure.hint.clone() },
        }
    }
}

/// Prints a value as JSON, on one line.
pub(crate) fn print(value: &impl Serialize) {
    let mut stdout = std::io::stdout().lock();
    let _ = serde_json::to_writer(&mut stdout, value);
    let _ = stdout.write_all(b"\n");
    let _ = stdout.flush();
}
