//! `cp`: copies files.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::copy::{CopyMethod, CopyOptions, Copying, Dereference, Existing, Preserve};
use super::run::{join_operand, last_component, without_trailing_slashes};
use super::target::{Destination, NO_TARGET_DIRECTORY, TARGET_DIRECTORY, destination};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "cp",
    summary: "Copy files and directories.",
    style: ArgumentStyle::GnuMixed(&["SOURCE...", "DESTINATION"]),
    parameters: &[
        CommandParameter::new("archive", ParameterKind::Flag, "The same as `-dR --preserve=all`.")
            .letter('a'),
        CommandParameter::short_flag("d", 'd', "The same as `-P --preserve=links`."),
        CommandParameter::new("force", ParameterKind::Flag, "Remove a destination that cannot be opened.")
            .letter('f'),
        CommandParameter::short_flag("H", 'H', "Follow symbolic links among the operands."),
        CommandParameter::new("link", ParameterKind::Flag, "Make hard links instead of copies.").letter('l'),
        CommandParameter::new("dereference", ParameterKind::Flag, "Follow symbolic links.").letter('L'),
        CommandParameter::new("no-clobber", ParameterKind::Flag, "Do not overwrite files.").letter('n'),
        CommandParameter::new("no-dereference", ParameterKind::Flag, "Copy symbolic links as links.")
            .letter('P'),
        CommandParameter::short_flag("p", 'p', "The same as `--preserve=mode,ownership,timestamps`."),
        CommandParameter::new(
            "preserve",
            ParameterKind::OptionalText,
            "Keep `mode`, `ownership`, `timestamps`, `links` or `all` of them.",
        )
        .with_value_name("LIST"),
        CommandParameter::new("parents", ParameterKind::Flag, "Use the whole name of each source."),
        CommandParameter::new("recursive", ParameterKind::Flag, "Copy directories with their contents.")
            .letter('r'),
        CommandParameter::short_flag("R", 'R', "The same as `-r`."),
        CommandParameter::new(
            "remove-destination",
            ParameterKind::Flag,
            "Remove each existing destination before it is opened.",
        ),
        CommandParameter::new(
            "strip-trailing-slashes",
            ParameterKind::Flag,
            "Ignore slashes after a source.",
        ),
        CommandParameter::new("symbolic-link", ParameterKind::Flag, "Make symbolic links instead of copies.")
            .letter('s'),
        TARGET_DIRECTORY,
        NO_TARGET_DIRECTORY,
        CommandParameter::new("update", ParameterKind::Flag, "Copy only what is newer or missing.")
            .letter('u'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each file.").letter('v'),
    ],
    details: &["Nothing is asked. Extended attributes are not copied."],
    statuses: &[("0", "success"), ("1", "a file was not copied")],
    examples: &[Example {
        summary: "Copy a directory",
        script: "mkdir a; echo x > a/f; cp -r a b; cat b/f",
        output: "x\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::cp(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let options = options(run, arguments)?;
        let target = destination(run, arguments, |run, name| Ok(run.stat(name)?.is_dir()))?;
        let mut copying = Copying::new(options);
        let strip = arguments.flag("strip-trailing-slashes");
        match target {
            Destination::File(_, _) if arguments.flag("parents") => {
                run.usage("with --parents, the destination must be a directory")
            }
            Destination::File(source, target) => {
                let source = if strip { without_trailing_slashes(source) } else { source };
                copying.operand(run, source, target).map(drop)
            }
            Destination::Directory(sources, directory) => {
                copying.several = sources.len() > 1;
                for source in sources {
                    let source = if strip { without_trailing_slashes(source) } else { source };
                    copy_into(run, &mut copying, arguments, source, &directory)?;
                }
                Ok(())
            }
        }
    })
}

/// Copies an operand into a directory.
fn copy_into(
    run: &mut TextRun<'_, '_>,
    copying: &mut Copying,
    arguments: &CommandArguments,
    source: &[u8],
    directory: &[u8],
) -> Result<(), Stop> {
    if arguments.flag("parents") {
        let target = join_operand(directory, without_trailing_slashes(source));
        if !make_parents(run, copying, source, directory)? {
            return Ok(());
        }
        return copying.operand(run, source, &target).map(drop);
    }
    let base = match without_trailing_slashes(last_component(source)) {
        b".." => b".",
        base => base,
    };
    copying.operand(run, source, &join_operand(directory, base)).map(drop)
}

/// Makes the parent directories of a source in the target directory. Returns whether that succeeded.
fn make_parents(
    run: &mut TextRun<'_, '_>,
    copying: &Copying,
    source: &[u8],
    directory: &[u8],
) -> Result<bool, Stop> {
    let name = without_trailing_slashes(source);
    for end in (1..name.len()).filter(|&end| name[end] == b'/' && name[end - 1] != b'/') {
        let (from, to) = (&name[..end], join_operand(directory, &name[..end]));
        if run.stat(&to).is_ok() {
            continue;
        }
        let metadata = match run.stat(from) {
            Ok(metadata) => metadata,
            Err(error) => {
                run.name_failed("failed to get attributes of", from, &error);
                return Ok(false);
            }
        };
        let mode = match copying.options.preserve.mode {
            true => metadata.mode,
            false => metadata.mode & 0o777 & !run.context.session().umask(),
        };
        if let Err(error) = run.files().create_dir(&run.path(&to), mode | 0o700) {
            run.name_failed("cannot make directory", &to, &error);
            return Ok(false);
        }
        let _ = run.files().set_permissions(&run.path(&to), mode);
        if copying.options.verbose {
            run.write(&[from, b" -> ", &to, b"\n"].concat())?;
        }
    }
    Ok(true)
}

fn options(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<CopyOptions, Stop> {
    let archive = arguments.flag("archive");
    let recursive = archive || arguments.flag("recursive") || arguments.flag("R");
    let hard_link = arguments.flag("link");
    if hard_link && arguments.flag("symbolic-link") {
        return run.usage("cannot make both hard and symbolic links");
    }
    let method = match (hard_link, arguments.flag("symbolic-link")) {
        (true, _) => CopyMethod::HardLink,
        (_, true) => CopyMethod::SymbolicLink,
        _ => CopyMethod::Content,
    };
    let mut given = arguments.in_order().filter_map(|(name, _)| match name {
        "dereference" => Some(Dereference::Always),
        "no-dereference" | "d" | "archive" => Some(Dereference::Never),
        "H" => Some(Dereference::CommandLine),
        _ => None,
    });
    let default = if recursive && !hard_link { Dereference::Never } else { Dereference::Always };
    let existing = match (arguments.flag("no-clobber"), arguments.flag("update")) {
        (true, _) => Existing::Keep,
        (false, true) => Existing::KeepNewer,
        (false, false) => Existing::Overwrite,
    };
    Ok(CopyOptions {
        method,
        dereference: given.next_back().unwrap_or(default),
        preserve: preserve(run, arguments)?,
        existing,
        recursive,
        force: arguments.flag("force"),
        remove_destination: arguments.flag("remove-destination"),
        verbose: arguments.flag("verbose"),
    })
}

fn preserve(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<Preserve, Stop> {
    let mut preserve = Preserve::default();
    for (name, value) in arguments.in_order() {
        match name {
            "archive" => preserve = Preserve { mode: true, ownership: true, timestamps: true, links: true },
            "d" => preserve.links = true,
            "p" => preserve = Preserve { mode: true, ownership: true, timestamps: true, ..preserve },
            "preserve" => {
                let ArgumentValue::Text(list) = value else { continue };
                let list: &[u8] = if list.is_empty() { b"mode,ownership,timestamps" } else { list };
                for item in list.split(|byte| *byte == b',') {
                    preserve = preserve_item(run, preserve, item)?;
                }
            }
            _ => {}
        }
    }
    Ok(preserve)
}

fn preserve_item(run: &mut TextRun<'_, '_>, preserve: Preserve, item: &[u8]) -> Result<Preserve, Stop> {
    Ok(match item {
        b"mode" => Preserve { mode: true, ..preserve },
        b"ownership" => Preserve { ownership: true, ..preserve },
        b"timestamps" => Preserve { timestamps: true, ..preserve },
        b"links" => Preserve { links: true, ..preserve },
        b"all" => Preserve { mode: true, ownership: true, timestamps: true, links: true },
        _ => {
            let shown = run.quote(item);
            return run.usage(format_args!("invalid argument {shown} for '--preserve'"));
        }
    })
}
