//! What fits into an exec, known before the call.
//!
//! The kernel refuses a single string over 32 pages (128 KiB with the usual page), and all strings with their
//! pointers over a quarter of the stack limit, but never over 6 MiB and never under 128 KiB.

use std::ffi::{CStr, CString};

use crate::error::{Error, ErrorKind};

const POINTER: u64 = size_of::<usize>() as u64;
const CEILING: u64 = 6 * 1024 * 1024;
const FLOOR: u64 = 128 * 1024;
const HINT: &str = "pass large data by standard input or a file";

/// The longest single argument or `name=value`, its terminating NUL included.
pub fn max_argument_bytes() -> u64 {
    rustix::param::page_size() as u64 * 32
}

/// The room for all arguments, the environment and their pointers, under the given stack limit.
pub(crate) fn room(stack_limit: Option<u64>) -> u64 {
    let stack = stack_limit
        .or_else(|| rustix::process::getrlimit(rustix::process::Resource::Stack).current)
        .unwrap_or(u64::MAX);
    (stack / 4).clamp(FLOOR, CEILING)
}

/// Refuses what `execve` would refuse with `E2BIG`, naming the argument.
pub(crate) fn check(
    path: &CStr,
    argv: &[CString],
    environment: &[&CStr],
    stack_limit: Option<u64>,
) -> Result<(), Error> {
    let longest = max_argument_bytes();
    let mut total = length(path) + (argv.len().max(1) + environment.len()) as u64 * POINTER;
    for (index, argument) in argv.iter().enumerate() {
        let size = length(argument);
        if size > longest {
            return Err(too_long(&format!("argument {index} ({})", beginning(argument)), size, longest));
        }
        total += size;
    }
    for entry in environment {
        let size = length(entry);
        if size > longest {
            let name = entry.to_bytes().split(|&byte| byte == b'=').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            return Err(too_long(&format!("environment variable '{name}'"), size, longest));
        }
        total += size;
    }
    let room = room(stack_limit);
    if total <= room {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::ArgumentsTooLong,
        format!(
            "{} arguments and {} environment variables take {total} bytes; the system's limit is {room}",
            argv.len(),
            environment.len()
        ),
    )
    .with_hint(HINT))
}

fn length(string: &CStr) -> u64 {
    string.count_bytes() as u64 + 1
}

fn too_long(what: &str, size: u64, limit: u64) -> Error {
    Error::new(
        ErrorKind::ArgumentTooLong,
        format!("{what} is {} bytes long; the system's limit is {}", size - 1, limit - 1),
    )
    .with_hint(HINT)
}

/// The first few characters, quoted, so that the argument can be recognised.
fn beginning(argument: &CStr) -> String {
    let bytes = argument.to_bytes();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]);
    format!("'{}…'", head.escape_debug())
}
