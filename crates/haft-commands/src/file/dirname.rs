//! `dirname`: writes names without their last component.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::directory_part;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "dirname",
    summary: "Write names without their last component.",
    style: ArgumentStyle::GnuMixed(&["NAME..."]),
    parameters: &[CommandParameter::new(
        "zero",
        ParameterKind::Flag,
        "Names end with a NUL byte instead of a newline.",
    )
    .letter('z')],
    details: &[],
    statuses: &[("0", "success"), ("1", "wrong usage")],
    examples: &[Example {
        summary: "The directory of a file",
        script: "dirname src/main.rs",
        output: "src\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if arguments.operands.is_empty() {
            return run.usage("missing operand");
        }
        let end = if arguments.flag("zero") { 0 } else { b'\n' };
        for name in &arguments.operands {
            run.write(&[directory_part(name), &[end]].concat())?;
        }
        Ok(())
    })
}
