//! `paste`: joins the lines of files.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "paste",
    summary: "Join the lines of files with tabs.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        CommandParameter::new("delimiters", ParameterKind::Text, "Join with the characters of LIST in turn.")
            .letter('d')
            .with_value_name("LIST"),
        CommandParameter::new("serial", ParameterKind::Flag, "Join the lines of one file after another.")
            .letter('s'),
        CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.")
            .letter('z'),
    ],
    details: &["LIST may contain \\n, \\t, \\\\ and \\0 for no character."],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Two columns",
        script: "printf '%s\\n' a b c d | paste -d , - -",
        output: "a,b\nc,d\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// The delimiters, used in turn. `None` stands for an empty one.
type Delimiters = Vec<Option<u8>>;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let end = if arguments.flag("zero-terminated") { 0 } else { b'\n' };
    run_text(context, |run| {
        let delimiters = match arguments.text("delimiters") {
            None => vec![Some(b'\t')],
            Some(list) => match parse_delimiters(list) {
                Some(delimiters) => delimiters,
                None => {
                    return run.fail(format_args!("delimiter list ends with an unescaped backslash: {list}"));
                }
            },
        };
        let standard = [Bytes::from("-")];
        let operands = if arguments.operands.is_empty() { &standard } else { arguments.operands.as_slice() };
        match arguments.flag("serial") {
            true => operands.iter().try_for_each(|name| match run.open(name)? {
                Some(mut input) => paste_serial(run, &mut input, &delimiters, end),
                None => Ok(()),
            }),
            false => paste_parallel(run, operands, &delimiters, end),
        }
    })
}

/// Parses the list of `-d`. Returns `None` if it ends with a backslash.
fn parse_delimiters(list: &[u8]) -> Option<Delimiters> {
    if list.is_empty() {
        return Some(vec![None]);
    }
    let mut delimiters = Vec::new();
    let mut bytes = list.iter();
    while let Some(&byte) = bytes.next() {
        delimiters.push(match byte {
            b'\\' => match bytes.next()? {
                b'0' => None,
                b'b' => Some(0x08),
                b'f' => Some(0x0c),
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                b'v' => Some(0x0b),
                other => Some(*other),
            },
            other => Some(other),
        });
    }
    Some(delimiters)
}

fn paste_serial(
    run: &mut TextRun<'_, '_>,
    input: &mut TextInput,
    delimiters: &[Option<u8>],
    end: u8,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    let mut index = 0;
    while input.read_line(run, end, &mut line)? {
        if index > 0
            && let Some(delimiter) = delimiters[(index - 1) % delimiters.len()]
        {
            run.write(&[delimiter])?;
        }
        run.write(line.strip_suffix(&[end]).unwrap_or(&line))?;
        index += 1;
    }
    run.write(&[end])
}

fn paste_parallel(
    run: &mut TextRun<'_, '_>,
    operands: &[Bytes],
    delimiters: &[Option<u8>],
    end: u8,
) -> Result<(), Stop> {
    // All operands `-` share standard input.
    let mut standard = run.standard_input();
    let mut inputs = Vec::new();
    for name in operands {
        match *name == "-" {
            true => inputs.push(None),
            false => match run.open(name)? {
                Some(input) => inputs.push(Some(input)),
                None => return Err(Stop::Exit(1)),
            },
        }
    }
    let mut line = Vec::new();
    loop {
        let mut row = Vec::new();
        let mut found = false;
        for (index, input) in inputs.iter_mut().enumerate() {
            if input.as_mut().unwrap_or(&mut standard).read_line(run, end, &mut line)? {
                found = true;
                row.extend_from_slice(line.strip_suffix(&[end]).unwrap_or(&line));
            }
            if index + 1 < operands.len() {
                row.extend(delimiters[index % delimiters.len()]);
            }
        }
        if !found {
            return Ok(());
        }
        row.push(end);
        run.write(&row)?;
    }
}
