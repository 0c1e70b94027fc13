//! `realpath`: writes canonical names.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::canonical::{Missing, canonical, lexical, relative};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "realpath",
    summary: "Write absolute names without symbolic links, `.` and `..`.",
    style: ArgumentStyle::GnuMixed(&["FILE..."]),
    parameters: &[
        CommandParameter::new("canonicalize-existing", ParameterKind::Flag, "All components must exist.")
            .letter('e'),
        CommandParameter::new("canonicalize-missing", ParameterKind::Flag, "Components may be missing.")
            .letter('m'),
        CommandParameter::new("logical", ParameterKind::Flag, "Resolve `..` before symbolic links.")
            .letter('L'),
        CommandParameter::new("physical", ParameterKind::Flag, "Resolve symbolic links first, the default.")
            .letter('P'),
        CommandParameter::new("quiet", ParameterKind::Flag, "Print no errors.").letter('q'),
        CommandParameter::new("relative-to", ParameterKind::Text, "Write names relative to DIRECTORY.")
            .with_value_name("DIRECTORY"),
        CommandParameter::new(
            "relative-base",
            ParameterKind::Text,
            "Write names below DIRECTORY relative to it.",
        )
        .with_value_name("DIRECTORY"),
        CommandParameter::new("strip", ParameterKind::Flag, "Do not follow symbolic links.").letter('s'),
        CommandParameter::new("no-symlinks", ParameterKind::Flag, "The same as `-s`."),
        CommandParameter::new("zero", ParameterKind::Flag, "Names end with a NUL byte instead of a newline.")
            .letter('z'),
    ],
    details: &["All components but the last must exist by default."],
    statuses: &[("0", "success"), ("1", "a name was not resolved")],
    examples: &[Example {
        summary: "Follow links",
        script: "cd /tmp; mkdir a; ln -s a b; realpath b/../b",
        output: "/tmp/a\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::realpath(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

struct Resolving {
    missing: Missing,
    logical: bool,
    strip: bool,
}

impl Resolving {
    fn resolve(&self, run: &TextRun<'_, '_>, name: &[u8]) -> io::Result<PathBuf> {
        if name.is_empty() {
            return Err(rustix::io::Errno::NOENT.into());
        }
        if self.strip {
            let path = lexical(run, name);
            return match self.missing {
                Missing::None => run.files().metadata(&path).map(|_| path),
                _ => Ok(path),
            };
        }
        match self.logical {
            true => {
                let mut path = lexical(run, name).into_os_string();
                if name.ends_with(b"/") {
                    path.push("/");
                }
                canonical(run, path.as_bytes(), self.missing)
            }
            false => canonical(run, name, self.missing),
        }
    }
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if arguments.operands.is_empty() {
            return run.usage("missing operand");
        }
        let last = |choices: [&str; 2]| {
            arguments.in_order().map(|(name, _)| name).rfind(|name| choices.contains(name))
        };
        let missing = match last(["canonicalize-existing", "canonicalize-missing"]) {
            Some("canonicalize-existing") => Missing::None,
            Some(_) => Missing::Any,
            None => Missing::Last,
        };
        let mode = arguments.in_order().rev().find_map(|(name, _)| match name {
            "strip" | "no-symlinks" => Some((true, false)),
            "logical" => Some((false, true)),
            "physical" => Some((false, false)),
            _ => None,
        });
        let (strip, logical) = mode.unwrap_or((false, false));
        let resolving = Resolving { missing, logical, strip };
        let [to, base] = bases(run, arguments, &resolving)?;
        let end: &[u8] = if arguments.flag("zero") { b"\0" } else { b"\n" };
        for name in &arguments.operands {
            match resolving.resolve(run, name) {
                Ok(path) => {
                    let shown = shown_path(&path, to.as_deref(), base.as_deref());
                    run.write(&[shown.as_os_str().as_bytes(), end].concat())?;
                }
                Err(error) => {
                    if !arguments.flag("quiet") {
                        let shown = run.shown_plain(name);
                        run.file_failed(shown, &error);
                    }
                    run.set_status(1);
                }
            }
        }
        Ok(())
    })
}

/// Resolves the directories of `--relative-to` and `--relative-base`.
fn bases(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    resolving: &Resolving,
) -> Result<[Option<PathBuf>; 2], Stop> {
    let mut found = [None, None];
    for (place, option) in found.iter_mut().zip(["relative-to", "relative-base"]) {
        let Some(name) = arguments.text(option) else { continue };
        let mut resolved = resolving.resolve(run, name);
        if resolving.missing == Missing::None
            && let Ok(path) = &resolved
            && !run.files().is_dir(path)
        {
            resolved = Err(rustix::io::Errno::NOTDIR.into());
        }
        match resolved {
            Ok(path) => *place = Some(path),
            Err(error) => {
                let shown = run.shown_plain(name);
                run.file_failed(shown, &error);
                return Err(Stop::Exit(1));
            }
        }
    }
    // A base that the names are not relative to has no effect.
    if let [Some(to), Some(base)] = &found
        && !to.starts_with(base)
    {
        found = [None, None];
    }
    Ok(found)
}

/// A path as it is shown.
fn shown_path(path: &Path, to: Option<&Path>, base: Option<&Path>) -> PathBuf {
    match (to, base) {
        (None, None) => path.to_owned(),
        (_, Some(base)) if !path.starts_with(base) => path.to_owned(),
        (Some(directory), _) | (None, Some(directory)) => relative(path, directory),
    }
}
