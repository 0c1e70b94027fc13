//! `basename`: writes the last component of names.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::run::{last_component, without_trailing_slashes};
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "basename",
    summary: "Write the last component of names.",
    style: ArgumentStyle::GnuMixed(&["NAME..."]),
    parameters: &[
        CommandParameter::new("multiple", ParameterKind::Flag, "Every operand is a name.").letter('a'),
        CommandParameter::new("suffix", ParameterKind::Text, "Remove SUFFIX; implies `-a`.")
            .letter('s')
            .with_value_name("SUFFIX"),
        CommandParameter::new("zero", ParameterKind::Flag, "Names end with a NUL byte instead of a newline.")
            .letter('z'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "wrong usage")],
    examples: &[Example {
        summary: "Remove the directory and a suffix",
        script: "basename src/main.rs .rs",
        output: "main\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let suffix = arguments.text("suffix");
        let several = arguments.flag("multiple") || suffix.is_some();
        let end = if arguments.flag("zero") { 0 } else { b'\n' };
        let (names, suffix) = match (arguments.operands.as_slice(), several) {
            ([], _) => return run.usage("missing operand"),
            (names, true) => (names, suffix),
            ([name, suffix], _) => (std::slice::from_ref(name), Some(suffix)),
            ([_, _, extra, ..], _) => return run.extra_operand(extra),
            (names, _) => (names, None),
        };
        for name in names {
            let base = without_trailing_slashes(last_component(name));
            let stem = suffix.and_then(|suffix| base.strip_suffix(&**suffix)).filter(|stem| !stem.is_empty());
            run.write(&[stem.unwrap_or(base), &[end]].concat())?;
        }
        Ok(())
    })
}
