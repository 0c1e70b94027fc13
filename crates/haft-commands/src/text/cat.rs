//! `cat`: writes files one after another.

use haft_fs::Metadata;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::name::quoted;
use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "cat",
    summary: "Write files, or standard input, to standard output.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("show-all", ParameterKind::Flag, "The same as -vET.").letter('A'),
        CommandParameter::new("number-nonblank", ParameterKind::Flag, "Number the lines that are not empty.")
            .letter('b'),
        CommandParameter::short_flag("e", 'e', "The same as -vE."),
        CommandParameter::new("show-ends", ParameterKind::Flag, "Write $ at the end of each line.")
            .letter('E'),
        CommandParameter::new("number", ParameterKind::Flag, "Number all lines.").letter('n'),
        CommandParameter::new("squeeze-blank", ParameterKind::Flag, "Write one of several empty lines.")
            .letter('s'),
        CommandParameter::short_flag("t", 't', "The same as -vT."),
        CommandParameter::new("show-tabs", ParameterKind::Flag, "Write tabs as ^I.").letter('T'),
        CommandParameter::short_flag("u", 'u', "Has no effect."),
        CommandParameter::new(
            "show-nonprinting",
            ParameterKind::Flag,
            "Write control characters as ^X and bytes above 127 as M-X, except newlines and tabs.",
        )
        .letter('v'),
    ],
    details: &["FILE - is standard input."],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Number lines",
        script: "printf 'a\\nb\\n' | cat -n",
        output: "     1\ta\n     2\tb\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// The options that change lines.
#[derive(Clone, Copy)]
struct LineFormat {
    ends: bool,
    tabs: bool,
    unprintable: bool,
    squeeze: bool,
    numbering: Numbering,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    None,
    NotEmpty,
    All,
}

/// The state that goes on from one file to the next.
#[derive(Default)]
struct Position {
    number: u64,
    empty_lines: u32,
    /// The last line has no newline yet.
    in_line: bool,
    /// A carriage return that is written as `^M` if a newline follows.
    carriage_return: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let any = |names: &[&str]| names.iter().any(|name| arguments.flag(name));
    let format = LineFormat {
        ends: any(&["show-ends", "show-all", "e"]),
        tabs: any(&["show-tabs", "show-all", "t"]),
        unprintable: any(&["show-nonprinting", "show-all", "e", "t"]),
        squeeze: arguments.flag("squeeze-blank"),
        numbering: match (arguments.flag("number-nonblank"), arguments.flag("number")) {
            (true, _) => Numbering::NotEmpty,
            (false, true) => Numbering::All,
            (false, false) => Numbering::None,
        },
    };
    let changes = format.ends || format.tabs || format.unprintable || format.squeeze;
    let copies = !changes && format.numbering == Numbering::None;
    let mut position = Position::default();
    run_text(context, |run| {
        let Some(output) = run.context.file(1) else {
            return run.fail("standard output: Bad file descriptor");
        };
        let output = output.metadata().ok().filter(Metadata::is_file);
        run.each_input(&arguments.operands, |run, input| {
            if output.is_some_and(|output| input.reads_into(&output)) {
                let name = quoted(&input.name);
                run.complain(format_args!("{name}: input file is output file"));
                run.set_status(1);
                return Ok(());
            }
            match copies {
                true => copy(run, input),
                false => format_lines(run, input, format, &mut position),
            }
        })?;
        if position.carriage_return { run.write(b"\r") } else { Ok(()) }
    })
}

/// Copies a file, each piece as soon as it is read.
pub(super) fn copy(run: &mut TextRun<'_, '_>, input: &mut TextInput) -> Result<(), Stop> {
    loop {
        let piece = input.fill(run)?;
        let count = piece.len();
        if count == 0 {
            return Ok(());
        }
        let piece = piece.to_vec();
        run.write(&piece)?;
        run.flush()?;
        input.consume(count);
    }
}

fn format_lines(
    run: &mut TextRun<'_, '_>,
    input: &mut TextInput,
    format: LineFormat,
    position: &mut Position,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    let mut text = Vec::new();
    while input.read_line(run, b'\n', &mut line)? {
        let (content, newline) = match line.strip_suffix(b"\n") {
            Some(content) => (content, true),
            None => (line.as_slice(), false),
        };
        let is_empty = content.is_empty() && newline && !position.in_line;
        position.empty_lines = if is_empty { position.empty_lines + 1 } else { 0 };
        if format.squeeze && position.empty_lines > 1 {
            continue;
        }
        text.clear();
        let is_numbered = match format.numbering {
            Numbering::None => false,
            Numbering::NotEmpty => !is_empty,
            Numbering::All => true,
        };
        if is_numbered && !position.in_line {
            position.number += 1;
            text.extend_from_slice(format!("{:6}\t", position.number).as_bytes());
        }
        format.push(content, newline, position, &mut text);
        position.in_line = !newline;
        run.write(&text)?;
    }
    Ok(())
}

impl LineFormat {
    /// Appends a line as the options show it.
    fn push(self, content: &[u8], newline: bool, position: &mut Position, text: &mut Vec<u8>) {
        if std::mem::take(&mut position.carriage_return) {
            let ends_line = content.is_empty() && newline;
            text.extend_from_slice(if ends_line && self.ends { b"^M" } else { b"\r" });
        }
        for (index, &byte) in content.iter().enumerate() {
            let is_last = index + 1 == content.len();
            match byte {
                b'\t' if self.tabs => text.extend_from_slice(b"^I"),
                b'\t' => text.push(b'\t'),
                _ if self.unprintable => push_visible(byte, text),
                // `-E` without `-v` shows a carriage return that belongs to the end of the line.
                b'\r' if self.ends && is_last && newline => text.extend_from_slice(b"^M"),
                b'\r' if self.ends && is_last => position.carriage_return = true,
                _ => text.push(byte),
            }
        }
        if newline {
            text.extend_from_slice(if self.ends { b"$\n" } else { b"\n" });
        }
    }
}

/// Appends a byte in the notation of `-v`.
fn push_visible(byte: u8, text: &mut Vec<u8>) {
    if byte >= 128 {
        text.extend_from_slice(b"M-");
    }
    match byte & 127 {
        127 => text.extend_from_slice(b"^?"),
        control @ 0..32 => text.extend_from_slice(&[b'^', control + 64]),
        printable => text.push(printable),
    }
}
