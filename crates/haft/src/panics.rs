//! Panics: errors of haft itself.

use std::collections::hash_map::RandomState;
use std::io::Write as _;
use std::panic::{PanicHookInfo, catch_unwind, set_hook, take_hook};

use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Has a panic say what happened in one line, or as usual if `RUST_BACKTRACE` is set. Fails where nothing could work: hash
/// tables panic without random numbers.
pub(crate) fn prepare(process: &ProcessContext) -> Result<(), Failure> {
    let usual = take_hook();
    set_hook(Box::new(|_| ()));
    let random = catch_unwind(RandomState::new);
    match process.variable("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        true => set_hook(usual),
        false => set_hook(Box::new(print_panic)),
    }
    random.map(drop).map_err(|_| Failure {
        message: "the system gives no random numbers: neither 'getrandom' nor '/dev/urandom' works"
            .to_owned(),
        hint: None,
        status: 1,
    })
}

/// Says what a panic is about, and where it happened.
fn print_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("a panic without a message");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    let line = format!("haft: internal error: {message}{}\n", place.unwrap_or_default());
    let _ = std::io::stderr().write_all(line.as_bytes());
}
