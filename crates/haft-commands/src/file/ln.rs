//! `ln`: makes links.

use std::io;
use std::path::{Path, PathBuf};

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::{directory_part, join_operand, last_component, without_trailing_slashes};
use super::target::{NO_TARGET_DIRECTORY, TARGET_DIRECTORY, refuse_extra};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "ln",
    summary: "Make links between files.",
    style: ArgumentStyle::GnuMixed(&["TARGET...", "[LINK]"]),
    parameters: &[
        CommandParameter::new("force", ParameterKind::Flag, "Remove existing files.").letter('f'),
        CommandParameter::new("logical", ParameterKind::Flag, "Follow targets that are symbolic links.")
            .letter('L'),
        CommandParameter::new(
            "no-dereference",
            ParameterKind::Flag,
            "A link that is a symbolic link to a directory is a file.",
        )
        .letter('n'),
        CommandParameter::new(
            "physical",
            ParameterKind::Flag,
            "Link symbolic links themselves, the default.",
        )
        .letter('P'),
        CommandParameter::new(
            "relative",
            ParameterKind::Flag,
            "Make symbolic links relative to their place.",
        )
        .letter('r'),
        CommandParameter::new("symbolic", ParameterKind::Flag, "Make symbolic links.").letter('s'),
        TARGET_DIRECTORY,
        NO_TARGET_DIRECTORY,
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each link.").letter('v'),
    ],
    details: &["Nothing is asked."],
    statuses: &[("0", "success"), ("1", "a link was not made")],
    examples: &[Example {
        summary: "Make a symbolic link",
        script: "ln -sv target link; readlink link",
        output: "'link' -> 'target'\ntarget\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::makes_files(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

struct Linking {
    symbolic: bool,
    relative: bool,
    logical: bool,
    force: bool,
    verbose: bool,
    /// Links that were made in the target directory.
    made: Vec<(u64, u64, Vec<u8>)>,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let logical = arguments.in_order().rev().find_map(|(name, _)| match name {
            "logical" => Some(true),
            "physical" => Some(false),
            _ => None,
        });
        let mut linking = Linking {
            symbolic: arguments.flag("symbolic"),
            relative: arguments.flag("relative"),
            logical: logical.unwrap_or(false),
            force: arguments.flag("force"),
            verbose: arguments.flag("verbose"),
            made: Vec::new(),
        };
        let (targets, place) = place(run, arguments)?;
        match place {
            Place::Name(link) => linking.link(run, &targets[0], link, false).map(drop),
            Place::Directory(directory) => {
                for target in targets {
                    let base = without_trailing_slashes(last_component(target));
                    linking.link(run, target, &join_operand(&directory, base), targets.len() > 1)?;
                }
                Ok(())
            }
        }
    })
}

/// The destination of the links.
enum Place<'a> {
    Directory(Bytes),
    Name(&'a Bytes),
}

/// Splits the operands into targets and the place for the links.
fn place<'a>(
    run: &mut TextRun<'_, '_>,
    arguments: &'a CommandArguments,
) -> Result<(&'a [Bytes], Place<'a>), Stop> {
    let operands = arguments.operands.as_slice();
    let no_directory = arguments.flag("no-target-directory");
    let directory = target_directory(run, arguments)?;
    if operands.is_empty() {
        return run.usage("missing file operand");
    }
    if arguments.flag("relative") && !arguments.flag("symbolic") {
        return run.fail("cannot do --relative without --symbolic");
    }
    if no_directory && directory.is_some() {
        return run.fail("cannot combine --target-directory and --no-target-directory");
    }
    if no_directory {
        return match operands {
            [only] => {
                let shown = run.shown(only);
                run.usage(format_args!("missing destination file operand after {shown}"))
            }
            [_, link] => Ok((&operands[..1], Place::Name(link))),
            [_, _, extra, ..] => refuse_extra(run, extra),
            [] => run.usage("missing file operand"),
        };
    }
    if let Some(directory) = directory {
        return Ok((operands, Place::Directory(directory)));
    }
    match operands {
        [_] => Ok((operands, Place::Directory(Bytes::from(".")))),
        [targets @ .., last] => {
            let keep = arguments.flag("no-dereference");
            let found = if keep { run.lstat(last) } else { run.stat(last) };
            match (found, targets) {
                (Ok(found), _) if found.is_dir() => Ok((targets, Place::Directory(last.clone()))),
                (_, [_]) => Ok((targets, Place::Name(last))),
                (Ok(_), _) => stop(run, "target", last, &rustix::io::Errno::NOTDIR.into()),
                (Err(error), _) => stop(run, "target", last, &error),
            }
        }
        [] => run.usage("missing file operand"),
    }
}

/// The directory of `-t`, which must exist.
fn target_directory(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<Option<Bytes>, Stop> {
    let mut found = None;
    for (_, value) in arguments.in_order().filter(|(name, _)| *name == "target-directory") {
        let ArgumentValue::Text(directory) = value else { continue };
        if found.is_some() {
            return run.fail("multiple target directories specified");
        }
        match run.stat(directory) {
            Ok(metadata) if metadata.is_dir() => found = Some(directory.clone()),
            Ok(_) => {
                let shown = run.shown(directory);
                return run.fail(format_args!("target {shown} is not a directory"));
            }
            Err(error) => return stop(run, "failed to access", directory, &error),
        }
    }
    Ok(found)
}

fn stop<T>(run: &mut TextRun<'_, '_>, problem: &str, name: &[u8], error: &io::Error) -> Result<T, Stop> {
    run.name_failed(problem, name, error);
    Err(Stop::Exit(1))
}

impl Linking {
    fn link(
        &mut self,
        run: &mut TextRun<'_, '_>,
        target: &[u8],
        link: &[u8],
        several: bool,
    ) -> Result<(), Stop> {
        run.context.check()?;
        if !self.symbolic && !self.check_target(run, target) {
            return Ok(());
        }
        if self.force
            && let Err(error) = run.lstat(link)
            && error.kind() != io::ErrorKind::NotFound
        {
            run.name_failed("failed to access", link, &error);
            return Ok(());
        }
        let path = run.path(link);
        let shown_target = if self.relative { relative_target(run, target, link) } else { target.to_vec() };
        let mut result = self.make(run, &shown_target, &path);
        let exists = result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
        if exists && self.force {
            if !self.may_replace(run, target, link, several) {
                return Ok(());
            }
            result = self.replace(run, &shown_target, &path);
        }
        match result {
            Ok(()) => self.report(run, &shown_target, link, several),
            Err(error) => {
                self.failed(run, &shown_target, link, &error);
                Ok(())
            }
        }
    }

    /// Checks that a hard link can be made to a file.
    fn check_target(&self, run: &mut TextRun<'_, '_>, target: &[u8]) -> bool {
        let found = if self.logical { run.stat(target) } else { run.lstat(target) };
        match found {
            Ok(found) if found.is_dir() => {
                let shown = run.shown_plain(target);
                run.problem(format_args!("{shown}: hard link not allowed for directory"));
                false
            }
            Ok(_) => true,
            Err(error) => {
                run.name_failed("failed to access", target, &error);
                false
            }
        }
    }

    fn make(&self, run: &TextRun<'_, '_>, target: &[u8], path: &Path) -> io::Result<()> {
        let files = run.files();
        if self.symbolic {
            return files.create_symlink(&bytes_path(target), path);
        }
        let mut from = run.path(target);
        if self.logical && files.symlink_metadata(&from)?.is_symlink() {
            from = files.canonicalize(&from)?;
        }
        files.hard_link(&from, path)
    }

    /// Replaces an existing file in one step, as far as the file system allows.
    fn replace(&self, run: &TextRun<'_, '_>, target: &[u8], path: &Path) -> io::Result<()> {
        run.files().remove(path)?;
        self.make(run, target, path)
    }

    /// Whether an existing file may be replaced. Prints the reason if not.
    fn may_replace(&self, run: &mut TextRun<'_, '_>, target: &[u8], link: &[u8], several: bool) -> bool {
        let Ok(existing) = run.lstat(link) else { return true };
        if existing.is_dir() {
            let shown = run.shown_plain(link);
            run.problem(format_args!("{shown}: cannot overwrite directory"));
            return false;
        }
        let (from, to) = (run.shown(target), run.shown(link));
        let key = (existing.device, existing.inode, link.to_vec());
        if several && self.made.contains(&key) {
            run.problem(format_args!("will not overwrite just-created {to} with {from}"));
            return false;
        }
        let same_entry = run.stat(target).is_ok_and(|found| found.same_file(&existing))
            && (!self.symbolic || is_same_entry(run, target, link))
            && (existing.links == 1 || is_same_entry(run, target, link));
        if same_entry {
            run.problem(format_args!("{from} and {to} are the same file"));
        }
        !same_entry
    }

    fn report(
        &mut self,
        run: &mut TextRun<'_, '_>,
        target: &[u8],
        link: &[u8],
        several: bool,
    ) -> Result<(), Stop> {
        if several && let Ok(made) = run.lstat(link) {
            self.made.push((made.device, made.inode, link.to_vec()));
        }
        if !self.verbose {
            return Ok(());
        }
        let arrow = if self.symbolic { '-' } else { '=' };
        let (to, from) = (run.shown(link), run.shown(target));
        run.write(format!("{to} {arrow}> {from}\n").as_bytes())
    }

    fn failed(&self, run: &mut TextRun<'_, '_>, target: &[u8], link: &[u8], error: &io::Error) {
        let (to, from) = (run.shown(link), run.shown(target));
        let kind = if self.symbolic { "symbolic" } else { "hard" };
        let names_target = match self.symbolic {
            true => target.is_empty() || error.kind() == io::ErrorKind::InvalidFilename,
            false => error.kind() != io::ErrorKind::AlreadyExists,
        };
        match (names_target, self.symbolic) {
            (false, _) => run.file_failed(format_args!("failed to create {kind} link {to}"), error),
            (true, true) => {
                run.file_failed(format_args!("failed to create {kind} link {to} -> {from}"), error);
            }
            (true, false) => {
                run.file_failed(format_args!("failed to create {kind} link {to} => {from}"), error);
            }
        }
    }
}

fn bytes_path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(name).into()
}

fn is_same_entry(run: &TextRun<'_, '_>, first: &[u8], second: &[u8]) -> bool {
    let base = |name| without_trailing_slashes(last_component(name)).to_vec();
    let parent = |name| run.stat(directory_part(name));
    base(first) == base(second)
        && matches!((parent(first), parent(second)), (Ok(one), Ok(other)) if one.same_file(&other))
}

/// The target as seen from the directory of the link.
fn relative_target(run: &TextRun<'_, '_>, target: &[u8], link: &[u8]) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = super::canonical::canonical(run, directory_part(link), super::canonical::Missing::Last);
    let whole = super::canonical::canonical(run, target, super::canonical::Missing::Any);
    match (directory, whole) {
        (Ok(directory), Ok(whole)) => {
            super::canonical::relative(&whole, &directory).as_os_str().as_bytes().to_vec()
        }
        _ => target.to_vec(),
    }
}
