//! Runs a program with a deadline, kills its whole process tree, and prints what happened.
//!
//! `cargo run -p haft-process --example supervise`

use std::time::Duration;

use haft_process::{Command, Error, Host, JobOutcome, Task};

fn main() -> Result<(), Error> {
    let outcome = run()?;
    print!("{}", outcome.report(1024));
    Ok(())
}

/// Runs a shell and a background process that ignores `SIGTERM`, both of which would sleep for a minute.
pub(crate) fn run() -> Result<JobOutcome, Error> {
    // A subreaper inherits orphans, so the outcome can tell for certain whether processes are left.
    let host = Host::builder().subreaper().build();
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "echo started; (trap '' TERM; sleep 60) & sleep 60"]);
    Task::new(command).timeout(Duration::from_millis(300)).grace(Duration::from_millis(300)).run(&host)
}
