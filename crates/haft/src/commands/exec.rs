//! `haft exec`: replace this process with a program.

use clap::Args;
use haft_process::{Signals, StartPermission};

use crate::commands::options::{ENVIRONMENT, ProgramArguments};
use crate::commands::program;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

const EXAMPLES: &str = "Examples:
  haft exec -- date                                # haft becomes date: same process id
  haft exec --cwd / --env LANG=C -- pwd            # in another directory, with a variable set
  haft exec --clear-env --env PATH=/usr/bin -- env # with nothing but PATH
  haft exec -- cat <(echo hello)                   # inherited file descriptors reach the program";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExecArguments {
    /// Close the file descriptors above 2 that haft inherited [default: the program inherits them]
    #[arg(long = "close-fds", help_heading = ENVIRONMENT)]
    pub(crate) close_descriptors: bool,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// Replaces this process; returns only on failure.
pub(crate) fn run(exec: ExecArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let name = exec.program.program.first().cloned().unwrap_or_default();
    let mut command = program::command(exec.program, process)?;
    // Signals that were ignored when haft started stay ignored.
    command.ignore_signals(Signals::ignored_now());
    if !exec.close_descriptors {
        program::pass_inherited_descriptors(&mut command);
    }
    let error = command.replace(&StartPermission::all());
    Err(program::start_failure(error, &name, "haft -c"))
}
