//! The operands of `cp`, `mv` and `ln`: sources, and a destination that may be a directory.

use std::io;

use haft_kernel::Bytes;

use crate::arguments::CommandArguments;
use crate::descriptor::{CommandParameter, ParameterKind};
use crate::text::streams::{Stop, TextRun};

/// `-t DIRECTORY`.
pub(crate) const TARGET_DIRECTORY: CommandParameter =
    CommandParameter::new("target-directory", ParameterKind::Text, "The directory for all files.")
        .letter('t')
        .with_value_name("DIRECTORY");

/// `-T`.
pub(crate) const NO_TARGET_DIRECTORY: CommandParameter = CommandParameter::new(
    "no-target-directory",
    ParameterKind::Flag,
    "The last operand is a file, even if it is a directory.",
)
.letter('T');

/// The destination of the files.
pub(crate) enum Destination<'a> {
    /// Into this directory.
    Directory(&'a [Bytes], Bytes),
    /// One file to this name.
    File(&'a Bytes, &'a Bytes),
}

/// Decides which operand is the destination.
pub(crate) fn destination<'a>(
    run: &mut TextRun<'_, '_>,
    arguments: &'a CommandArguments,
    is_directory: impl Fn(&TextRun<'_, '_>, &[u8]) -> io::Result<bool>,
) -> Result<Destination<'a>, Stop> {
    let operands = arguments.operands.as_slice();
    let no_directory = arguments.flag("no-target-directory");
    let target = arguments.text("target-directory");
    if arguments.in_order().filter(|(name, _)| *name == "target-directory").count() > 1 {
        return run.fail("multiple target directories specified");
    }
    if operands.is_empty() || operands.len() == 1 && target.is_none() {
        return missing(run, operands);
    }
    if let Some(target) = target {
        if no_directory {
            return run.fail("cannot combine --target-directory (-t) and --no-target-directory (-T)");
        }
        return match is_directory(run, target) {
            Ok(true) => Ok(Destination::Directory(operands, target.clone())),
            Ok(false) => refuse_target(run, "target directory", target, &rustix::io::Errno::NOTDIR.into()),
            Err(error) => refuse_target(run, "target directory", target, &error),
        };
    }
    let (last, sources) = operands.split_last().unwrap_or((&operands[0], &[]));
    if no_directory {
        return match operands {
            [source, last] => Ok(Destination::File(source, last)),
            [_, _, extra, ..] => refuse_extra(run, extra),
            _ => missing(run, operands),
        };
    }
    match (is_directory(run, last), sources) {
        (Ok(true), _) => Ok(Destination::Directory(sources, last.clone())),
        (_, [source]) => Ok(Destination::File(source, last)),
        (Ok(false), _) => refuse_target(run, "target", last, &rustix::io::Errno::NOTDIR.into()),
        (Err(error), _) => refuse_target(run, "target", last, &error),
    }
}

fn missing<T>(run: &mut TextRun<'_, '_>, operands: &[Bytes]) -> Result<T, Stop> {
    match operands {
        [only] => {
            let shown = run.shown(only);
            run.usage(format_args!("missing destination file operand after {shown}"))
        }
        _ => run.usage("missing file operand"),
    }
}

/// Prints an error about a surplus operand, and ends the command.
pub(crate) fn refuse_extra<T>(run: &mut TextRun<'_, '_>, operand: &[u8]) -> Result<T, Stop> {
    let shown = run.shown(operand);
    run.usage(format_args!("extra operand {shown}"))
}

fn refuse_target<T>(
    run: &mut TextRun<'_, '_>,
    problem: &str,
    target: &[u8],
    error: &io::Error,
) -> Result<T, Stop> {
    run.name_failed(problem, target, error);
    Err(Stop::Exit(1))
}
