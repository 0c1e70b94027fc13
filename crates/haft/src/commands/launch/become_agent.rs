//! Replaces this process with the agent, or runs the agent in an overlay.

use std::os::fd::OwnedFd;

use haft_process::{Command, reason};
use haft_records::RunEnd;
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use rustix::io::write;

use super::arguments::LaunchOptions;
use super::prepare::PreparedLaunch;
use super::summary;
use crate::commands::{changes, program};
use crate::enforcement::ActivePolicy;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records::{self, RunRecord};

/// Writes the agent's files and replaces this process; returns only on failure.
pub(super) fn run(
    mut prepared: PreparedLaunch,
    options: &LaunchOptions,
    record: &RunRecord,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    if process.policy.as_ref().is_some_and(ActivePolicy::has_proxy) {
        return Err(Failure::usage("the policy's list of hosts needs haft beside the agent")
            .with_hint("add '--supervised'"));
    }
    let command = ready_command(&mut prepared, options, process)?;
    record.begin(None);
    Err(command.replace(&process.permission()).into())
}

/// Runs the agent on the same terminal, in an overlay; then shows its changes, and asks what to do with them.
pub(super) fn run_in_overlay(
    mut prepared: PreparedLaunch,
    options: &LaunchOptions,
    record: &RunRecord,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let mut command = ready_command(&mut prepared, options, process)?;
    if let Some(directory) = process.working_directory.clone() {
        command.working_directory(directory);
    }
    let mut overlay = options.overlay.create(process, None)?;
    record.begin(None);
    let status = changes::run_inside(&mut overlay, command, &process.permission())?;
    let changed = overlay.changes().ok().map(|changes| records::changed_files(overlay.id(), &changes));
    record.end(|| RunEnd { code: status, changed, ..RunEnd::default() });
    changes::overlay::conclude(overlay, process)?;
    Ok(status)
}

/// Writes the agent's files, shows the plan, and returns the agent's command with its descriptors.
fn ready_command(
    prepared: &mut PreparedLaunch,
    options: &LaunchOptions,
    process: &ProcessContext,
) -> Result<Command, Failure> {
    let mut command = command(prepared, process)?;
    command.ignore_signals(prepared.ignored);
    if let Some(prompt) = &prepared.plan.stdin {
        command.descriptor(0, as_file(prompt)?);
    }
    write_files(prepared)?;
    if !options.close_descriptors {
        program::pass_inherited_descriptors(&mut command);
    }
    summary::show(prepared, options.json);
    Ok(command)
}

/// The agent's command.
pub(super) fn command(prepared: &PreparedLaunch, process: &ProcessContext) -> Result<Command, Failure> {
    let mut words = prepared.plan.argv.iter();
    let program = words.next().ok_or_else(|| Failure::usage("the agent's command is empty"))?;
    let mut command = Command::new(program);
    command.arguments(words).environment(prepared.plan.environment.clone());
    // A standard descriptor that is closed here is closed in the agent too.
    for standard in 0..3 {
        if !process.open[standard] {
            command.close(standard as i32);
        }
    }
    Ok(command)
}

/// Writes the agent's files.
pub(super) fn write_files(prepared: &mut PreparedLaunch) -> Result<(), Failure> {
    for (path, bytes) in &prepared.plan.files {
        prepared.files.write(path, bytes)?;
    }
    Ok(())
}

/// Bytes as an unnamed open file, which leaves nothing behind.
pub(crate) fn as_file(bytes: &[u8]) -> Result<OwnedFd, Failure> {
    let cannot = |error: rustix::io::Errno| {
        Failure::usage(format!("cannot pass the prompt: {}", reason(&error.into())))
    };
    let file = memfd_create("prompt", MemfdFlags::CLOEXEC).map_err(cannot)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match write(&file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(cannot(error)),
        }
    }
    seek(&file, SeekFrom::Start(0)).map_err(cannot)?;
    Ok(file)
}
