//! `mkdir`: makes directories.

use std::io;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::mode::ModeChanges;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "mkdir",
    summary: "Make directories.",
    style: ArgumentStyle::GnuMixed(&["DIRECTORY..."]),
    parameters: &[
        CommandParameter::new("mode", ParameterKind::Text, "Set the permissions, as `chmod` does.")
            .letter('m')
            .with_value_name("MODE"),
        CommandParameter::new(
            "parents",
            ParameterKind::Flag,
            "Make missing parent directories, and accept existing ones.",
        )
        .letter('p'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each new directory.")
            .letter('v'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a directory was not made")],
    examples: &[Example {
        summary: "Make a directory and its parents",
        script: "mkdir -pv a/b",
        output: "mkdir: created directory 'a'\nmkdir: created directory 'a/b'\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::makes_files(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// Permissions that the user needs in parent directories.
const OWNER_WRITE_SEARCH: u32 = 0o300;

struct Making {
    mode: u32,
    parent_mode: u32,
    parents: bool,
    verbose: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if arguments.operands.is_empty() {
            return run.usage("missing operand");
        }
        let umask = run.context.session().umask();
        let mode = match arguments.text("mode") {
            None => 0o777 & !umask,
            Some(text) => match ModeChanges::parse(text) {
                Some(changes) => changes.new_directory(umask),
                None => {
                    let shown = run.quote(text);
                    return run.fail(format_args!("invalid mode {shown}"));
                }
            },
        };
        let making = Making {
            mode,
            parent_mode: 0o777 & !umask | OWNER_WRITE_SEARCH,
            parents: arguments.flag("parents"),
            verbose: arguments.flag("verbose"),
        };
        for name in &arguments.operands {
            run.context.check()?;
            making.make_one(run, name)?;
        }
        Ok(())
    })
}

impl Making {
    fn make_one(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        if self.parents && !self.make_parents(run, name)? {
            return Ok(());
        }
        match run.files().create_dir(&run.path(name), self.mode) {
            Ok(()) => self.report(run, name),
            Err(_) if self.parents && run.stat(name).is_ok_and(|found| found.is_dir()) => Ok(()),
            Err(error) => {
                let is_there = error.kind() == io::ErrorKind::AlreadyExists;
                match run.stat(name) {
                    Err(found) if self.parents && is_there && is_loop(&found) => {
                        let shown = run.quote(name);
                        run.file_failed(format_args!("cannot stat {shown}"), &found);
                    }
                    _ => self.failed(run, name, &existing(run, name, error)),
                }
                Ok(())
            }
        }
    }

    /// Makes the parents of a name. Returns whether that succeeded.
    fn make_parents(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<bool, Stop> {
        for end in parent_ends(name) {
            let parent = &name[..end];
            if parent.ends_with(b"/..") || parent.ends_with(b"/.") || matches!(parent, b"." | b"..") {
                continue;
            }
            match run.files().create_dir(&run.path(parent), self.parent_mode) {
                Ok(()) => self.report(run, parent)?,
                Err(error) => match run.stat(parent) {
                    Ok(found) if found.is_dir() => {}
                    Ok(_) => {
                        let not_directory = rustix::io::Errno::NOTDIR.raw_os_error();
                        self.failed(run, parent, &io::Error::from_raw_os_error(not_directory));
                        return Ok(false);
                    }
                    Err(found) => {
                        let exists = error.kind() == io::ErrorKind::AlreadyExists;
                        self.failed(run, parent, if exists { &found } else { &error });
                        return Ok(false);
                    }
                },
            }
        }
        Ok(true)
    }

    fn report(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        if !self.verbose {
            return Ok(());
        }
        let shown = run.shown(name);
        run.tell(format_args!("created directory {shown}"))
    }

    fn failed(&self, run: &mut TextRun<'_, '_>, name: &[u8], error: &io::Error) {
        let shown = run.quote(name);
        run.file_failed(format_args!("cannot create directory {shown}"), error);
    }
}

fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// A file in the way is reported as such, even if the name ends in a slash.
fn existing(run: &TextRun<'_, '_>, name: &[u8], error: io::Error) -> io::Error {
    let trimmed = super::run::without_trailing_slashes(name);
    match run.lstat(trimmed) {
        Ok(_) if error.kind() == io::ErrorKind::NotADirectory => io::ErrorKind::AlreadyExists.into(),
        _ => error,
    }
}

/// The ends of the parent directories in a name.
fn parent_ends(name: &[u8]) -> impl Iterator<Item = usize> {
    let last = super::run::without_trailing_slashes(name).len();
    (1..last).filter(move |&end| name[end] == b'/' && name[end - 1] != b'/')
}
