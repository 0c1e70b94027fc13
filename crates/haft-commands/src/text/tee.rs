//! `tee`: copies standard input to standard output and to files.

use std::sync::Arc;

use haft_kernel::builtins::Context;
use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, Flow};

use super::name::quoted;
use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "tee",
    summary: "Copy standard input to standard output and to files.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new(
            "append",
            ParameterKind::Flag,
            "Append to the files instead of truncating them.",
        )
        .letter('a'),
        CommandParameter::new("ignore-interrupts", ParameterKind::Flag, "Has no effect without processes.")
            .letter('i'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("1", "a file could not be written")],
    examples: &[Example {
        summary: "Keep a copy",
        script: "echo text | tee /tmp/copy; cat /tmp/copy",
        output: "text\ntext\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// An output besides standard output.
struct Copy {
    name: Bytes,
    file: Arc<OpenFile>,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let mut copies = Vec::new();
        for name in &arguments.operands {
            match run.context.open_output(name, arguments.flag("append"))? {
                Ok(file) => copies.push(Copy { name: name.clone(), file }),
                Err(error) => run.file_failed(quoted(name), &error),
            }
        }
        let mut input = run.standard_input();
        loop {
            let piece = input.fill(run)?.to_vec();
            if piece.is_empty() {
                return Ok(());
            }
            input.consume(piece.len());
            run.write(&piece)?;
            run.flush()?;
            write_copies(run, &mut copies, &piece)?;
        }
    })
}

/// Writes to all files. A file that cannot be written is left out from then on.
fn write_copies(run: &mut TextRun<'_, '_>, copies: &mut Vec<Copy>, piece: &[u8]) -> Result<(), Stop> {
    let mut index = 0;
    while let Some(copy) = copies.get(index) {
        let cancel = run.context.cancel_token().clone();
        match copy.file.write(piece, Some(&cancel)).and_then(|_| copy.file.flush(Some(&cancel))) {
            Ok(()) => index += 1,
            Err(error) => {
                run.context.check()?;
                let copy = copies.remove(index);
                run.file_failed(quoted(&copy.name), &error);
            }
        }
    }
    Ok(())
}
