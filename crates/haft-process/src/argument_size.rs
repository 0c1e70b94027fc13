//! Limits of the kernel on arguments and environment, checked before `execve`.
//!
//! A single string is limited to 32 pages (128 KiB with 4 KiB pages). All strings with their pointers together are limited to
//! a quarter of the stack limit, at least 128 KiB and at most 6 MiB.

use std::ffi::{CStr, CString};

use crate::error::{Error, ErrorKind};

const POINTER_BYTES: u64 = size_of::<usize>() as u64;
const MAX_TOTAL_BYTES: u64 = 6 * 1024 * 1024;
const MIN_TOTAL_BYTES: u64 = 128 * 1024;
const LARGE_DATA_HINT: &str = "pass large data through standard input or a file";

/// Returns the maximum size of one argument or `name=value`, including its terminating NUL.
pub fn max_argument_bytes() -> u64 {
    rustix::param::page_size() as u64 * 32
}

/// Returns the maximum total size of arguments, environment and their pointers. `None` is the current stack limit.
fn max_total_bytes(stack_limit: Option<u64>) -> u64 {
    let stack = stack_limit
        .or_else(|| rustix::process::getrlimit(rustix::process::Resource::Stack).current)
        .unwrap_or(u64::MAX);
    (stack / 4).clamp(MIN_TOTAL_BYTES, MAX_TOTAL_BYTES)
}

/// Fails if `execve` would fail with `E2BIG`, with an error that names the argument.
pub(crate) fn check(
    path: &CStr,
    argv: &[CString],
    environment: &[&CStr],
    stack_limit: Option<u64>,
) -> Result<(), Error> {
    let maximum = max_argument_bytes();
    let mut total = length(path) + (argv.len().max(1) + environment.len()) as u64 * POINTER_BYTES;
    for (index, argument) in argv.iter().enumerate() {
        let size = length(argument);
        if size > maximum {
            return Err(too_long(&format!("argument {index} ({})", beginning(argument)), size, maximum));
        }
        total += size;
    }
    for entry in environment {
        let size = length(entry);
        if size > maximum {
            let name = entry.to_bytes().split(|&byte| byte == b'=').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            return Err(too_long(&format!("environment variable '{name}'"), size, maximum));
        }
        total += size;
    }
    let limit = max_total_bytes(stack_limit);
    if total <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::ArgumentsTooLong,
        format!(
            "{} arguments and {} environment variables take {total} bytes; the system's limit is {limit}",
            argv.len(),
            environment.len()
        ),
    )
    .with_hint(LARGE_DATA_HINT))
}

fn length(string: &CStr) -> u64 {
    string.count_bytes() as u64 + 1
}

fn too_long(what: &str, size: u64, limit: u64) -> Error {
    Error::new(
        ErrorKind::ArgumentTooLong,
        format!("{what} is {} bytes long; the system's limit is {}", size - 1, limit - 1),
    )
    .with_hint(LARGE_DATA_HINT)
}

/// Returns the first characters of an argument, quoted.
fn beginning(argument: &CStr) -> String {
    let bytes = argument.to_bytes();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]);
    format!("'{}…'", head.escape_debug())
}
