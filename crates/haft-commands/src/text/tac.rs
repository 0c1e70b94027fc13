//! `tac`: writes files with their last line first.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::streams::{Wording, run_worded};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "tac",
    summary: "Write each file with its last line first.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new(
            "before",
            ParameterKind::Flag,
            "The separator precedes a record instead of following it.",
        )
        .letter('b'),
        CommandParameter::new(
            "separator",
            ParameterKind::Text,
            "Records are separated by TEXT instead of newlines.",
        )
        .letter('s'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Reverse lines",
        script: "printf '%s\\n' a b c | tac",
        output: "c\nb\na\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let newline = Bytes::from("\n");
    let separator = arguments.text("separator").unwrap_or(&newline);
    // An empty separator means a NUL byte.
    let separator: &[u8] = if separator.is_empty() { b"\0" } else { separator };
    run_worded(context, Wording::Failed, |run| {
        let mut first_input: Option<Vec<u8>> = None;
        run.each_input(&arguments.operands, |run, input| {
            let text = match (&first_input, input.name == "-") {
                // A file as standard input is read from its start each time.
                (Some(text), true) => Vec::clone(text),
                _ => input.read_all(run)?,
            };
            if input.name == "-" && input.is_seekable() {
                first_input = Some(text.clone());
            }
            let mut end = text.len();
            for at in memchr::memmem::rfind_iter(&text, separator) {
                let cut = if arguments.flag("before") { at } else { at + separator.len() };
                if cut < end || arguments.flag("before") {
                    run.write(&text[cut..end])?;
                    end = cut;
                }
            }
            run.write(&text[..end])
        })
    })
}
