//! `yes`: writes a line until it is stopped.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::streams::run_text;
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "yes",
    summary: "Write a line, or `y`, until the reader has enough.",
    style: ArgumentStyle::GnuMixed(&["[TEXT]..."]),
    parameters: &[],
    details: &[],
    statuses: &[("1", "the output could not be written")],
    examples: &[Example { summary: "Two answers", script: "yes | head -n 2", output: "y\ny\n", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// How much is written at once.
const BLOCK_BYTES: usize = 16 * 1024;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let words: Vec<&[u8]> = arguments.operands.iter().map(|word| &**word).collect();
    let mut line = if words.is_empty() { b"y".to_vec() } else { words.join(b" ".as_slice()) };
    line.push(b'\n');
    let block = line.repeat(1 + BLOCK_BYTES / line.len());
    run_text(context, |run| {
        loop {
            run.write(&block)?;
        }
    })
}
