//! `hostname`: writes the name of the host.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "hostname",
    summary: "Write the name of the host.",
    style: ArgumentStyle::GnuMixed(&[]),
    parameters: &[CommandParameter::new("short", ParameterKind::Flag, "Write the name up to the first dot.")
        .letter('s')],
    details: &["The host of an isolated session is `localhost`."],
    statuses: &[("0", "success"), ("1", "wrong usage")],
    examples: &[Example {
        summary: "The host of an isolated session",
        script: "hostname",
        output: "localhost\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    // An operand sets the name, and other programs treat `-s` differently.
    steps_aside: Some(|_, arguments, _| arguments.flag("short") || !arguments.operands.is_empty()),
    ..gnu_command(&DESCRIPTOR, run)
};

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if !arguments.operands.is_empty() {
            return run.fail("you must be root to change the host name");
        }
        let mut name = run.context.session().host_identity().host;
        if arguments.flag("short") {
            name.truncate(memchr::memchr(b'.', &name).unwrap_or(name.len()));
        }
        name.push(b'\n');
        run.write(&name)
    })
}
