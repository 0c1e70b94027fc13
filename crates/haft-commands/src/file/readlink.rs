//! `readlink`: writes targets of symbolic links, or canonical names.

use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::canonical::{Missing, canonical};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "readlink",
    summary: "Write the target of symbolic links, or canonical names.",
    style: ArgumentStyle::GnuMixed(&["FILE..."]),
    parameters: &[
        CommandParameter::new(
            "canonicalize",
            ParameterKind::Flag,
            "Follow all symbolic links; the last component may be missing.",
        )
        .letter('f'),
        CommandParameter::new(
            "canonicalize-existing",
            ParameterKind::Flag,
            "Follow all symbolic links; the file must exist.",
        )
        .letter('e'),
        CommandParameter::new(
            "canonicalize-missing",
            ParameterKind::Flag,
            "Follow all symbolic links; any component may be missing.",
        )
        .letter('m'),
        CommandParameter::new("no-newline", ParameterKind::Flag, "Write no newline.").letter('n'),
        CommandParameter::new("quiet", ParameterKind::Flag, "Print no errors, the default.").letter('q'),
        CommandParameter::new("silent", ParameterKind::Flag, "The same as `-q`.").letter('s'),
        CommandParameter::new("verbose", ParameterKind::Flag, "Print errors.").letter('v'),
        CommandParameter::new("zero", ParameterKind::Flag, "Names end with a NUL byte instead of a newline.")
            .letter('z'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a name is not a symbolic link, or is missing")],
    examples: &[Example {
        summary: "The target of a link",
        script: "ln -s target link; readlink link",
        output: "target\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let operands = arguments.operands.as_slice();
        if operands.is_empty() {
            return run.usage("missing operand");
        }
        let mut missing = arguments.in_order().filter_map(|(name, _)| match name {
            "canonicalize" => Some(Missing::Last),
            "canonicalize-existing" => Some(Missing::None),
            "canonicalize-missing" => Some(Missing::Any),
            _ => None,
        });
        let missing = missing.next_back();
        let speaks = arguments.in_order().rev().find_map(|(name, _)| match name {
            "verbose" => Some(true),
            "quiet" | "silent" => Some(false),
            _ => None,
        });
        let end: &[u8] = if arguments.flag("zero") { b"\0" } else { b"\n" };
        let no_end = arguments.flag("no-newline");
        if no_end && operands.len() > 1 {
            run.complain("ignoring --no-newline with multiple arguments");
        }
        let end = if no_end && operands.len() == 1 { b"" } else { end };
        for name in operands {
            let found = match missing {
                Some(missing) => canonical(run, name, missing),
                None => run.files().read_link(&run.path(name)),
            };
            match found {
                Ok(path) => run.write(&[path.as_os_str().as_bytes(), end].concat())?,
                Err(error) => {
                    if speaks == Some(true) {
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
