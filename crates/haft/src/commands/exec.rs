//! `haft exec`: become the program.

use haft_process::{Signals, StartPermission};

use crate::arguments::ExecArguments;
use crate::commands::program;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Replaces this process; returns only if that failed.
pub(crate) fn run(exec: ExecArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let mut command = program::command(exec.start, process)?;
    // What was ignored when haft was started stays so.
    command.ignore_signals(Signals::ignored_now());
    Err(command.replace(&StartPermission::all()).into())
}
