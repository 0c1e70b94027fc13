//! Results on standard output.

use std::io::Write as _;

use haft_process::reason;
use serde::Serialize;

use crate::failure::print_message;
use crate::json::Versioned;

/// Prints a JSON object with its schema version, on one line. Returns the status, or a failing one if it cannot be written.
pub(crate) fn print_json(result: &impl Serialize, status: i32) -> i32 {
    print_text(&json_line(result), status)
}

/// A JSON object with its schema version, as one line.
pub(crate) fn json_line(result: &impl Serialize) -> String {
    serde_json::to_string(&Versioned::new(result)).unwrap_or_default() + "\n"
}

/// Prints text. Returns the status, or a failing one if it cannot be written.
pub(crate) fn print_text(text: &str, status: i32) -> i32 {
    print_bytes(text.as_bytes(), status)
}

/// Prints bytes. Returns the status, or a failing one if they cannot be written. A closed pipe is not a failure.
pub(crate) fn print_bytes(bytes: &[u8], status: i32) -> i32 {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            print_message(format_args!("cannot write the result: {}", reason(&error)));
            status.max(1)
        }
        _ => status,
    }
}
