//! `haft exec`: become the program.

use haft_process::{Signals, StartPermission};

use crate::arguments::Exec;
use crate::commands::start;
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Replaces this process; returns only if that failed.
pub(crate) fn run(exec: Exec, surroundings: &Surroundings) -> Result<i32, Failure> {
    let mut command = start::command(exec.start, surroundings)?;
    // What was ignored when haft was started stays so.
    command.ignore_signals(Signals::ignored_now());
    Err(command.replace(&StartPermission::all()).into())
}
