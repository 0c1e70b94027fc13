//! `chmod`: changes permissions.

use std::io;

use haft_fs::{FileType, Metadata};
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::mode::{ModeChanges, mode_text};
use super::run::join;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "chmod",
    summary: "Change the permissions of files.",
    style: ArgumentStyle::GnuMixed(&["MODE", "FILE..."]),
    parameters: &[
        CommandParameter::new("changes", ParameterKind::Flag, "Write a line for each change.").letter('c'),
        CommandParameter::new("silent", ParameterKind::Flag, "Print few errors.").letter('f'),
        CommandParameter::new("quiet", ParameterKind::Flag, "The same as `-f`."),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each file.").letter('v'),
        CommandParameter::new("recursive", ParameterKind::Flag, "Change directories and their contents.")
            .letter('R'),
        CommandParameter::new(
            "reference",
            ParameterKind::Text,
            "Use the permissions of FILE instead of MODE.",
        )
        .with_value_name("FILE"),
    ],
    details: &["MODE is octal, or a list such as `u+x,go-w`."],
    statuses: &[("0", "success"), ("1", "a file was not changed")],
    examples: &[Example {
        summary: "Make a file executable",
        script: "umask 022; touch f; chmod -v +x f",
        output: "mode of 'f' changed from 0644 (rw-r--r--) to 0755 (rwxr-xr-x)\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    rewrite: Some(rewrite),
    steps_aside: Some(|session, arguments, _| super::step_aside::chmod(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

struct ModeSetting {
    changes: ModeChanges,
    umask: u32,
    recursive: bool,
    silent: bool,
    verbosity: Verbosity,
    /// Whether bits that the umask protects are reported.
    reports_umask: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Off,
    Changes,
    All,
}

/// Stands before a mode that was written as an option.
const OPTION_MODE: &str = "--";

/// Turns modes that look like options, such as `-x`, into the mode operand.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let is_mode = |word: &&Bytes| matches!(word.get(..2), Some([b'-', letter]) if b"rwxXstugoa,+=01234567".contains(letter));
    let modes: Vec<&[u8]> = words[..end].iter().filter(is_mode).map(|word| &**word).collect();
    if modes.is_empty() {
        return None;
    }
    let mut rewritten: Vec<Bytes> = words[..end]
        .iter()
        .filter(|word| word.starts_with(b"-") && word.len() > 1 && !is_mode(word))
        .cloned()
        .collect();
    rewritten.extend([Bytes::from("--"), Bytes::from(OPTION_MODE)]);
    rewritten.push(modes.join(b",".as_slice()).as_slice().into());
    let is_operand = |word: &&Bytes| !word.starts_with(b"-") || word.len() == 1;
    rewritten.extend(words[..end].iter().filter(is_operand).cloned());
    rewritten.extend(words.get(end + 1..).unwrap_or_default().iter().cloned());
    Some(rewritten)
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let reference = arguments.text("reference");
        let (is_option, operands) = match arguments.operands.as_slice() {
            [first, rest @ ..] if *first == OPTION_MODE => (true, rest),
            operands => (false, operands),
        };
        let (mode, names) = match (operands, reference) {
            (_, Some(_)) if is_option => return run.usage("cannot combine mode and --reference options"),
            ([], _) => return run.usage("missing operand"),
            ([_], None) if is_option => return run.usage("missing operand"),
            (names, Some(_)) => (None, names),
            ([mode], None) => {
                let shown = run.quote(mode);
                return run.usage(format_args!("missing operand after {shown}"));
            }
            ([mode, names @ ..], None) => (Some(mode), names),
        };
        let changes = match (reference, mode) {
            (Some(reference), _) => match run.stat(reference) {
                Ok(metadata) => ModeChanges::exactly(metadata.mode),
                Err(error) => {
                    run.name_failed("failed to get attributes of", reference, &error);
                    return Err(Stop::Exit(1));
                }
            },
            (None, mode) => {
                let text = mode.map_or(&b""[..], |mode| mode);
                let Some(changes) = ModeChanges::parse(text) else {
                    let shown = run.quote(text);
                    return run.usage(format_args!("invalid mode: {shown}"));
                };
                changes
            }
        };
        let mut verbosity = arguments.in_order().filter_map(|(name, _)| match name {
            "changes" => Some(Verbosity::Changes),
            "verbose" => Some(Verbosity::All),
            _ => None,
        });
        let setting = ModeSetting {
            changes,
            umask: run.context.session().umask(),
            recursive: arguments.flag("recursive"),
            silent: arguments.flag("silent") || arguments.flag("quiet"),
            verbosity: verbosity.next_back().unwrap_or(Verbosity::Off),
            reports_umask: is_option,
        };
        names.iter().try_for_each(|name| setting.operand(run, name))
    })
}

impl ModeSetting {
    fn operand(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        match run.stat(name) {
            Ok(metadata) => self.set(run, name, &metadata),
            Err(error) => {
                let is_dangling = error.kind() == io::ErrorKind::NotFound
                    && run.lstat(name).is_ok_and(|found| found.is_symlink());
                let shown = run.shown(name);
                match (self.silent, is_dangling) {
                    (true, _) => run.set_status(1),
                    (false, true) => run.problem(format_args!("cannot operate on dangling symlink {shown}")),
                    (false, false) => run.name_failed("cannot access", name, &error),
                }
                self.not_accessed(run, name)
            }
        }
    }

    fn not_accessed(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        if self.verbosity != Verbosity::All {
            return Ok(());
        }
        let shown = run.shown(name);
        run.write(format!("{shown} could not be accessed\n").as_bytes())
    }

    /// Changes a file, and the contents of a directory after it.
    fn set(&self, run: &mut TextRun<'_, '_>, name: &[u8], metadata: &Metadata) -> Result<(), Stop> {
        run.context.check()?;
        let new = self.changes.apply(metadata.mode, metadata.is_dir(), self.umask);
        match run.files().set_permissions(&run.path(name), new) {
            Ok(()) => self.report(run, name, metadata, new)?,
            Err(error) => {
                match self.silent {
                    true => run.set_status(1),
                    false => run.name_failed("changing permissions of", name, &error),
                }
                self.report_failure(run, name, metadata, new)?;
            }
        }
        match metadata.is_dir() && self.recursive {
            true => self.set_entries(run, name),
            false => Ok(()),
        }
    }

    fn set_entries(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        let names = match run.names_in(name)? {
            Ok(names) => names,
            Err(error) => {
                match self.silent {
                    true => run.set_status(1),
                    false => run.name_failed("cannot read directory", name, &error),
                }
                return Ok(());
            }
        };
        for entry in names {
            let whole = join(name, &entry);
            match run.lstat(&whole) {
                Ok(metadata) if metadata.is_symlink() => self.report_link(run, &whole)?,
                Ok(metadata) => self.set(run, &whole, &metadata)?,
                Err(error) => {
                    run.name_failed("cannot access", &whole, &error);
                    self.not_accessed(run, &whole)?;
                }
            }
        }
        Ok(())
    }

    fn report_link(&self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        if self.verbosity != Verbosity::All {
            return Ok(());
        }
        let shown = run.shown(name);
        let line = format!("neither symbolic link {shown} nor referent has been changed\n");
        run.write(line.as_bytes())
    }

    fn report(
        &self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        metadata: &Metadata,
        new: u32,
    ) -> Result<(), Stop> {
        if self.reports_umask {
            let naive = self.changes.apply(metadata.mode, metadata.is_dir(), 0);
            if new & !naive != 0 {
                let [is, wanted] = [new, naive].map(permissions);
                let shown = run.shown_plain(name);
                run.problem(format_args!("{shown}: new permissions are {is}, not {wanted}"));
            }
        }
        let (old, shown) = (metadata.mode, run.shown(name));
        let line = match (self.verbosity, old == new) {
            (Verbosity::Off, _) | (Verbosity::Changes, true) => return Ok(()),
            (Verbosity::All, true) => {
                format!("mode of {shown} retained as {new:04o} ({})\n", permissions(new))
            }
            (_, false) => {
                let [before, after] = [old, new].map(permissions);
                format!("mode of {shown} changed from {old:04o} ({before}) to {new:04o} ({after})\n")
            }
        };
        run.write(line.as_bytes())
    }

    fn report_failure(
        &self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        metadata: &Metadata,
        new: u32,
    ) -> Result<(), Stop> {
        if self.verbosity != Verbosity::All {
            return Ok(());
        }
        let (old, shown) = (metadata.mode, run.shown(name));
        let [before, after] = [old, new].map(permissions);
        let line =
            format!("failed to change mode of {shown} from {old:04o} ({before}) to {new:04o} ({after})\n");
        run.write(line.as_bytes())
    }
}

/// The permissions as `ls -l` shows them, without the type.
fn permissions(mode: u32) -> String {
    mode_text(FileType::File, mode)[1..].to_owned()
}
