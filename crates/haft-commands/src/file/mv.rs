//! `mv`: moves and renames files.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::copy::{CopyMethod, CopyOptions, Copying, Dereference, Existing, Preserve};
use super::run::{join_operand, last_component, without_trailing_slashes};
use super::target::{Destination, NO_TARGET_DIRECTORY, TARGET_DIRECTORY, destination};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "mv",
    summary: "Move or rename files and directories.",
    style: ArgumentStyle::GnuMixed(&["SOURCE...", "DESTINATION"]),
    parameters: &[
        CommandParameter::new("force", ParameterKind::Flag, "Overwrite files; cancels an earlier `-n`.")
            .letter('f'),
        CommandParameter::new("no-clobber", ParameterKind::Flag, "Do not overwrite files.").letter('n'),
        CommandParameter::new(
            "strip-trailing-slashes",
            ParameterKind::Flag,
            "Ignore slashes after a source.",
        ),
        TARGET_DIRECTORY,
        NO_TARGET_DIRECTORY,
        CommandParameter::new("update", ParameterKind::Flag, "Move only what is newer or missing.")
            .letter('u'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each file.").letter('v'),
    ],
    details: &["Nothing is asked."],
    statuses: &[("0", "success"), ("1", "a file was not moved")],
    examples: &[Example {
        summary: "Rename a file",
        script: "touch a; mv -v a b",
        output: "renamed 'a' -> 'b'\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::mv(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let last = arguments.in_order().rev().find_map(|(name, _)| match name {
            "no-clobber" => Some(true),
            "force" => Some(false),
            _ => None,
        });
        let existing = match (last, arguments.flag("update")) {
            (Some(true), _) => Existing::Keep,
            (_, true) => Existing::KeepNewer,
            _ => Existing::Overwrite,
        };
        let target = destination(run, arguments, |run, name| Ok(run.stat(name)?.is_dir()))?;
        let mut copying = Copying::new(CopyOptions {
            method: CopyMethod::Move,
            dereference: Dereference::Never,
            preserve: Preserve { mode: true, ownership: true, timestamps: true, links: true },
            existing,
            recursive: true,
            force: true,
            remove_destination: false,
            verbose: arguments.flag("verbose"),
        });
        let strip = |name| -> &[u8] {
            if arguments.flag("strip-trailing-slashes") { without_trailing_slashes(name) } else { name }
        };
        match target {
            Destination::File(source, target) => copying.operand(run, strip(source), strip(target)).map(drop),
            Destination::Directory(sources, directory) => {
                copying.several = sources.len() > 1;
                for source in sources {
                    let source = strip(source);
                    let base = without_trailing_slashes(last_component(source));
                    copying.operand(run, source, &join_operand(&directory, base))?;
                }
                Ok(())
            }
        }
    })
}
