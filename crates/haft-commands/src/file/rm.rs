//! `rm`: removes files.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::remove::{Removal, remove_tree};
use super::run::{is_dot, last_component};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "rm",
    summary: "Remove files and directories.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("force", ParameterKind::Flag, "Missing files are no errors.").letter('f'),
        CommandParameter::new("recursive", ParameterKind::Flag, "Remove directories and their contents.")
            .letter('r'),
        CommandParameter::short_flag("R", 'R', "The same as `-r`."),
        CommandParameter::new("dir", ParameterKind::Flag, "Remove empty directories.").letter('d'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Write a line for each file.").letter('v'),
        CommandParameter::new("preserve-root", ParameterKind::Flag, "Refuse to remove `/`, the default."),
    ],
    details: &["The root directory, `.` and `..` are never removed. Nothing is asked."],
    statuses: &[("0", "success"), ("1", "a file was not removed")],
    examples: &[Example {
        summary: "Remove a directory with its contents",
        script: "mkdir d; touch d/f; rm -rv d",
        output: "removed 'd/f'\nremoved directory 'd'\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::rm(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let removal = Removal {
            recursive: arguments.flag("recursive") || arguments.flag("R"),
            force: arguments.flag("force"),
            empty_directories: arguments.flag("dir"),
            verbose: arguments.flag("verbose"),
        };
        if arguments.operands.is_empty() && !removal.force {
            return run.usage("missing operand");
        }
        for name in &arguments.operands {
            remove_operand(run, name, &removal)?;
        }
        Ok(())
    })
}

fn remove_operand(run: &mut TextRun<'_, '_>, name: &[u8], removal: &Removal) -> Result<(), Stop> {
    let found = run.lstat(name);
    if removal.recursive && found.is_ok_and(|metadata| metadata.is_dir()) {
        if is_dot(last_component(name)) {
            let [dot, dots, shown] = [b".".as_slice(), b"..", name].map(|name| run.shown(name));
            run.problem(format_args!("refusing to remove {dot} or {dots} directory: skipping {shown}"));
            return Ok(());
        }
        let is_root = |run: &TextRun<'_, '_>| matches!((run.lstat(name), run.stat(b"/")), (Ok(one), Ok(root)) if one.same_file(&root));
        if is_root(run) {
            let shown = run.shown(name);
            let same = if name == b"/" { String::new() } else { format!(" (same as {})", run.shown(b"/")) };
            run.complain(format_args!("it is dangerous to operate recursively on {shown}{same}"));
            run.problem("use --no-preserve-root to override this failsafe");
            return Ok(());
        }
    }
    remove_tree(run, name, removal).map(drop)
}
