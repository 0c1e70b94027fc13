//! `rev`: reverses the characters of each line.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};
use haft_text::encoding::Encoding;

use super::streams::{Wording, run_worded};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "rev",
    summary: "Reverse the characters of each line.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[],
    details: &[
        "The characters are those of the locale: UTF-8, else ASCII. Other bytes are an error. A NUL byte ends a line.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example { summary: "Reverse a line", script: "echo abc | rev", output: "cba\n", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    let utf8 = context.session().encoding() == Encoding::Utf8;
    run_worded(context, Wording::Unquoted, |run| {
        let (mut line, mut reversed) = (Vec::new(), Vec::new());
        run.each_input(&arguments.operands, |run, input| {
            let mut number = 0u64;
            while input.read_line(run, b'\n', &mut line)? {
                let Some(text) = decode(&line, utf8) else {
                    let name = if input.name == "-" { "stdin".into() } else { input.name.clone() };
                    run.complain(format_args!(
                        "{name}: {number}: Invalid or incomplete multibyte or wide character"
                    ));
                    run.set_status(1);
                    break;
                };
                // The line is a string, which a NUL byte ends.
                let (text, is_cut) = match text.split_once('\0') {
                    Some((start, _)) => (start, true),
                    None => (text, false),
                };
                number += u64::from(!text.is_empty());
                let content = text.strip_suffix('\n').unwrap_or(text);
                reversed.clear();
                let mut buffer = [0; 4];
                for letter in content.chars().rev() {
                    reversed.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
                }
                if content.len() < text.len() && !is_cut {
                    reversed.push(b'\n');
                }
                run.write(&reversed)?;
            }
            Ok(())
        })
    })
}

/// A line as characters of the locale: UTF-8, else ASCII.
fn decode(line: &[u8], utf8: bool) -> Option<&str> {
    std::str::from_utf8(line).ok().filter(|text| utf8 || text.is_ascii())
}
