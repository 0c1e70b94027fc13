//! `join`: joins the lines of two sorted files that have the same key.

mod fields;
mod pairing;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind, option};
use fields::{FieldLayout, JoinFormat, OutputField, parse_number};
use pairing::{Joiner, OrderCheck};

/// An option with a value and without a long name.
const fn short(
    name: &'static str,
    letter: char,
    value: &'static str,
    summary: &'static str,
) -> CommandParameter {
    option(name, letter, value, summary).without_long_option()
}

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "join",
    summary: "Join the lines of two sorted files that have the same key.",
    style: ArgumentStyle::GnuMixed(&["FILE1", "FILE2"]),
    parameters: &[
        short("unpaired", 'a', "FILE", "Also write the lines of file 1 or 2 without a partner."),
        short("empty", 'e', "TEXT", "Write TEXT instead of empty and missing fields."),
        CommandParameter::new("ignore-case", ParameterKind::Flag, "Ignore case in keys.").letter('i'),
        short("key", 'j', "FIELD", "The key is this field of both files."),
        short(
            "format",
            'o',
            "FORMAT",
            "Write these fields: 0 (the key) or FILE.FIELD, with commas; or 'auto'.",
        ),
        short("separator", 't', "CHARACTER", "Fields are separated by CHARACTER."),
        short("only-unpaired", 'v', "FILE", "Like -a, but write only lines without a partner."),
        short("first", '1', "FIELD", "The key is this field of file 1 (default 1)."),
        short("second", '2', "FIELD", "The key is this field of file 2 (default 1)."),
        CommandParameter::new("check-order", ParameterKind::Flag, "Fail if a file is not sorted."),
        CommandParameter::new(
            "nocheck-order",
            ParameterKind::Flag,
            "Do not check whether the files are sorted.",
        ),
        CommandParameter::new(
            "header",
            ParameterKind::Flag,
            "Join the first lines of both files as headers.",
        ),
        CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.")
            .letter('z'),
    ],
    details: &[
        "Keys are compared byte by byte, as in the C locale. Without -t, blanks separate fields.",
        "-o takes all fields in one word.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read, or is not sorted")],
    examples: &[
        Example {
            summary: "Join by the first field",
            script: "join <(printf '%s\\n' '1 a' '2 b') <(printf '%s\\n' '2 x' '3 y')",
            output: "2 b x\n",
            status: 0,
        },
        Example {
            summary: "Keep the lines of the first file that have no partner",
            script: "join -t , -a 1 -e none -o 0,1.2,2.2 <(printf '%s\\n' 1,a 2,b) <(printf '%s\\n' 2,x)",
            output: "1,a,none\n2,b,x\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..text_command(&DESCRIPTOR, run) };

/// Some old forms take fields from further operands, and errors are reported in the order of the words.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let mut keys = [None; 2];
    let has_conflict = arguments.in_order().any(|(name, value)| {
        let files: &[usize] = match name {
            "key" => &[0, 1],
            "first" => &[0],
            "second" => &[1],
            _ => return false,
        };
        let ArgumentValue::Text(text) = value else { return false };
        files.iter().any(|file| keys[*file].replace(text).is_some_and(|before| before != text))
    });
    arguments.operands.len() > 2 || has_conflict
}

/// The options.
struct JoinOptions {
    keys: [Option<usize>; 2],
    separator: Option<u8>,
    filler: Option<Bytes>,
    fields: Vec<OutputField>,
    is_auto: bool,
    unpaired: [bool; 2],
    paired: bool,
    check: OrderCheck,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let options = parse_options(run, arguments)?;
        let [first, second] = match arguments.operands.as_slice() {
            [first, second] => [first, second],
            [] => return run.usage("missing operand"),
            [_] => {
                let shown = run.quote(words.last().map_or(b"", |word| word));
                return run.usage(format_args!("missing operand after {shown}"));
            }
            [_, _, extra, ..] => {
                let shown = super::name::quoted_always(extra);
                return run.usage(format_args!("extra operand {shown}"));
            }
        };
        let inputs = [open(run, first)?, open(run, second)?];
        if *first == "-" && *second == "-" {
            return run.fail("both files cannot be standard input");
        }
        let end = if arguments.flag("zero-terminated") { 0 } else { b'\n' };
        let layout = FieldLayout { separator: options.separator, end };
        let format = JoinFormat {
            keys: options.keys.map(Option::unwrap_or_default),
            fields: options.fields,
            filler: options.filler.unwrap_or_default(),
            separator: options.separator.unwrap_or(b' '),
            end,
            counts: None,
        };
        Joiner {
            layout,
            format,
            unpaired: options.unpaired,
            paired: options.paired,
            check: options.check,
            ignore_case: arguments.flag("ignore-case"),
            seen_unpairable: false,
            sides: inputs.map(pairing::Side::new),
        }
        .join(run, arguments.flag("header"), options.is_auto)
    })
}

fn open(run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<super::streams::TextInput, Stop> {
    let input = run.open(name)?;
    input.map(|input| input.worded(super::streams::Wording::ReadError)).ok_or(Stop::Exit(1))
}

fn parse_options(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<JoinOptions, Stop> {
    let mut options = JoinOptions {
        keys: [None; 2],
        separator: None,
        filler: None,
        fields: Vec::new(),
        is_auto: false,
        unpaired: [false; 2],
        paired: true,
        check: OrderCheck::Default,
    };
    for (name, value) in arguments.in_order() {
        match (name, value) {
            ("check-order", _) => options.check = OrderCheck::Always,
            ("nocheck-order", _) => options.check = OrderCheck::Never,
            (_, ArgumentValue::Text(text)) => options.set(run, name, text)?,
            _ => {}
        }
    }
    Ok(options)
}

impl JoinOptions {
    /// Sets an option that has a value.
    fn set(&mut self, run: &mut TextRun<'_, '_>, name: &str, text: &Bytes) -> Result<(), Stop> {
        match name {
            "unpaired" => self.add_unpaired(run, text)?,
            "only-unpaired" => {
                self.paired = false;
                self.add_unpaired(run, text)?;
            }
            "empty" => match self.filler.replace(text.clone()) {
                Some(before) if before != *text => {
                    return run.fail("conflicting empty-field replacement strings");
                }
                _ => {}
            },
            "format" if *text == "auto" => self.is_auto = true,
            "format" => self.fields.extend(OutputField::parse_list(run, text)?),
            "separator" => self.set_separator(run, text)?,
            "key" => {
                let field = parse_number(run, text)?;
                self.set_key(run, 0, field)?;
                self.set_key(run, 1, field)?;
            }
            "first" => {
                let field = parse_number(run, text)?;
                self.set_key(run, 0, field)?;
            }
            "second" => {
                let field = parse_number(run, text)?;
                self.set_key(run, 1, field)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_unpaired(&mut self, run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<(), Stop> {
        match fields::parse_unsigned(text) {
            Some(number @ 1..=2) => {
                self.unpaired[number - 1] = true;
                Ok(())
            }
            _ => {
                let shown = run.quote(text);
                run.fail(format_args!("invalid field number: {shown}"))
            }
        }
    }

    fn set_separator(&mut self, run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<(), Stop> {
        let given = match text {
            [] => b'\n',
            [separator] => *separator,
            b"\\0" => 0,
            _ => {
                let shown = run.quote(text);
                return run.fail(format_args!("multi-character tab {shown}"));
            }
        };
        match self.separator.replace(given) {
            Some(before) if before != given => run.fail("incompatible tabs"),
            _ => Ok(()),
        }
    }

    fn set_key(&mut self, run: &mut TextRun<'_, '_>, file: usize, field: usize) -> Result<(), Stop> {
        match self.keys[file].replace(field) {
            Some(before) if before != field => {
                let (before, field) = (before.wrapping_add(1), field.wrapping_add(1));
                run.fail(format_args!("incompatible join fields {before}, {field}"))
            }
            _ => Ok(()),
        }
    }
}
