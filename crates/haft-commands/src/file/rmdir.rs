//! `rmdir`: removes empty directories.

use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::without_trailing_slashes;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "rmdir",
    summary: "Remove empty directories.",
    style: ArgumentStyle::GnuMixed(&["DIRECTORY..."]),
    parameters: &[
        CommandParameter::new(
            "ignore-fail-on-non-empty",
            ParameterKind::Flag,
            "Do not report directories that are not empty.",
        ),
        CommandParameter::new(
            "parents",
            ParameterKind::Flag,
            "Remove the parent directories in the name too.",
        )
        .letter('p'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each directory.").letter('v'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a directory was not removed")],
    examples: &[Example {
        summary: "Remove a directory and its parent",
        script: "mkdir -p a/b; rmdir -pv a/b",
        output: "rmdir: removing directory, 'a/b'\nrmdir: removing directory, 'a'\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if arguments.operands.is_empty() {
            return run.usage("missing operand");
        }
        for name in &arguments.operands {
            run.context.check()?;
            if remove(run, arguments, name, RemovedDirectory::Operand)? && arguments.flag("parents") {
                remove_parents(run, arguments, name)?;
            }
        }
        Ok(())
    })
}

/// The kind of directory that is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RemovedDirectory {
    Operand,
    Parent,
}

/// Removes the parents of a name, up to the first that cannot be removed.
fn remove_parents(run: &mut TextRun<'_, '_>, arguments: &CommandArguments, name: &[u8]) -> Result<(), Stop> {
    let mut rest = without_trailing_slashes(name);
    while let Some(slash) = rest.iter().rposition(|&byte| byte == b'/') {
        let parent = without_trailing_slashes(&rest[..slash]);
        if parent.is_empty() || !remove(run, arguments, parent, RemovedDirectory::Parent)? {
            break;
        }
        rest = parent;
    }
    Ok(())
}

/// Removes a directory. Returns whether it is gone.
fn remove(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    name: &[u8],
    part: RemovedDirectory,
) -> Result<bool, Stop> {
    let shown = run.shown(name);
    if arguments.flag("verbose") {
        run.tell(format_args!("removing directory, {shown}"))?;
    }
    let Err(error) = run.files().remove_dir(&run.path(name)) else { return Ok(true) };
    let is_full = matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists);
    if is_full && arguments.flag("ignore-fail-on-non-empty") {
        return Ok(false);
    }
    let is_link = error.kind() == io::ErrorKind::NotADirectory
        && name.ends_with(b"/")
        && run.lstat(without_trailing_slashes(name)).is_ok_and(|found| found.is_symlink())
        && run.stat(name).is_ok_and(|found| found.is_dir());
    match (is_link, part) {
        (true, _) => run.problem(format_args!("failed to remove {shown}: Symbolic link not followed")),
        (false, RemovedDirectory::Operand) => run.name_failed("failed to remove", name, &error),
        (false, RemovedDirectory::Parent) => run.name_failed("failed to remove directory", name, &error),
    }
    Ok(false)
}
