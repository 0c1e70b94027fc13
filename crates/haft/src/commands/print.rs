//! Results on standard output.

use std::io::Write as _;

use haft_process::reason;
use serde::Serialize;

use crate::failure::print_message;

/// Prints a value as JSON, on one line, and answers with the status: one that cannot be printed is no success.
pub(crate) fn print_json(value: &impl Serialize, status: i32) -> i32 {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    print_bytes(&text, status)
}

/// Prints text as it is, and answers with the status.
pub(crate) fn print_text(text: &str, status: i32) -> i32 {
    print_bytes(text.as_bytes(), status)
}

/// Prints bytes as they are, and answers with the status.
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
