//! Messages about panics, which are errors of haft itself.

use std::collections::hash_map::RandomState;
use std::io::Write as _;
use std::panic::{PanicHookInfo, catch_unwind, set_hook, take_hook};

use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Makes panics print one line, or a backtrace if `RUST_BACKTRACE` is set.
///
/// # Errors
/// If the system has no random numbers: hash tables would panic without them.
pub(crate) fn install_hook(process: &ProcessContext) -> Result<(), Failure> {
    let usual = take_hook();
    set_hook(Box::new(|_| ()));
    let random = catch_unwind(RandomState::new);
    match process.variable("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        true => set_hook(usual),
        false => set_hook(Box::new(print_panic)),
    }
    random
        .map(drop)
        .map_err(|_| Failure::new("no random numbers: neither 'getrandom' nor '/dev/urandom' works", 1))
}

/// Prints the message and the position of a panic.
fn print_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("panic without a message");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    let line = format!("haft: internal error: {message}{}\n", place.unwrap_or_default());
    let _ = std::io::stderr().write_all(line.as_bytes());
}
