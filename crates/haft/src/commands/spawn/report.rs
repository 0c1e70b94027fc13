//! The result as one JSON object.

use std::io::Write as _;

use serde::Serialize;

use haft_process::reason;

use crate::failure::{Failure, tell};

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

/// Prints a value as JSON, on one line, and answers with the status: one that cannot be printed is no success.
pub(crate) fn print(value: &impl Serialize, status: i32) -> i32 {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(&text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            tell(format_args!("cannot write the result: {}", reason(&error)));
            status.max(1)
        }
        _ => status,
    }
}
