//! `printenv`: writes environment variables.

use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::status::USAGE_ERROR;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "printenv",
    summary: "Write the values of environment variables, or the whole environment.",
    style: ArgumentStyle::Gnu(&["[NAME]..."]),
    parameters: &[
        CommandParameter::new("null", ParameterKind::Flag, "End each line with a NUL byte.").letter('0')
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a variable is not in the environment"), ("2", "wrong usage")],
    examples: &[Example {
        summary: "Only exported variables are in the environment",
        script: "export a=1; b=2; printenv a b",
        output: "1\n",
        status: 1,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: USAGE_ERROR,
    // Only a program has `_`, and the order of all variables is that of its environment.
    steps_aside: Some(|_, _, names| {
        names.is_empty() || names.iter().any(|name| *name == "_" || name.contains(&b'='))
    }),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let names = &words[arguments.option_words..];
    run_text(context, |run| {
        let end: &[u8] = if arguments.flag("null") { b"\0" } else { b"\n" };
        let environment = run.context.session_mut().environment();
        if names.is_empty() {
            for (name, value) in environment.iter() {
                run.write(&[name.as_bytes(), b"=", value.as_bytes(), end].concat())?;
            }
        }
        for name in names {
            match environment.iter().find(|(it, _)| it.as_bytes() == name.as_ref()) {
                Some((_, value)) => run.write(&[value.as_bytes(), end].concat())?,
                None => run.set_status(1),
            }
        }
        Ok(())
    })
}
