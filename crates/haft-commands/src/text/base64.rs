//! `base64`: encodes and decodes data.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::number::{IntegerError, parse_integer};
use super::streams::{Stop, TextInput, TextRun, Wording, run_worded};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "base64",
    summary: "Encode or decode a file as base64.",
    style: ArgumentStyle::GnuMixed(&["[FILE]"]),
    parameters: &[
        CommandParameter::new("decode", ParameterKind::Flag, "Decode.").letter('d'),
        CommandParameter::new(
            "ignore-garbage",
            ParameterKind::Flag,
            "Ignore characters that are not in the alphabet when decoding.",
        )
        .letter('i'),
        CommandParameter::new(
            "wrap",
            ParameterKind::Text,
            "Write lines of N characters (default 76); 0: one line.",
        )
        .letter('w')
        .with_value_name("N"),
    ],
    details: &["Newlines in encoded data are ignored."],
    statuses: &[("0", "success"), ("1", "the file could not be read, or is not base64")],
    examples: &[Example {
        summary: "Encode and decode",
        script: "printf hello | base64; echo aGVsbG8= | base64 -d",
        output: "aGVsbG8=\nhello",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const DEFAULT_WRAP: usize = 76;

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::ReadError, |run| {
        let mut wrap = DEFAULT_WRAP;
        for (name, value) in arguments.in_order() {
            if let ("wrap", ArgumentValue::Text(value)) = (name, value) {
                wrap = parse_wrap(run, value)?;
            }
        }
        if let Some(extra) = arguments.operands.get(1) {
            return run.extra_operand(extra);
        }
        run.each_input(&arguments.operands, |run, input| match arguments.flag("decode") {
            true => decode(run, input, arguments.flag("ignore-garbage")),
            false => encode(run, input, wrap),
        })
    })
}

/// The length of lines. 0 means no limit.
fn parse_wrap(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<usize, Stop> {
    let length = match parse_integer(value) {
        Ok(length) => usize::try_from(length).ok(),
        // A length that does not fit means no limit, but a negative one never fits.
        Err(IntegerError::TooLarge) if !value.trim_ascii_start().starts_with(b"-") => Some(0),
        Err(_) => None,
    };
    match length {
        Some(length) => Ok(length),
        None => {
            let shown = run.quote(value);
            run.fail(format_args!("invalid wrap size: {shown}"))
        }
    }
}

/// Appends three bytes, or fewer at the end, as four characters.
fn push_group(bytes: &[u8], text: &mut Vec<u8>) {
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let bits = u32::from_be_bytes([0, at(0), at(1), at(2)]);
    for index in 0..4 {
        let value = bits >> (18 - 6 * index) & 63;
        text.push(if index as usize > bytes.len() { b'=' } else { ALPHABET[value as usize] });
    }
}

fn encode(run: &mut TextRun<'_, '_>, input: &mut TextInput, wrap: usize) -> Result<(), Stop> {
    let (mut rest, mut column) = (Vec::new(), 0);
    loop {
        let piece = input.fill(run)?;
        let length = piece.len();
        rest.extend_from_slice(piece);
        input.consume(length);
        let whole = if length == 0 { rest.len() } else { rest.len() / 3 * 3 };
        let mut text = Vec::with_capacity(whole / 3 * 4 + 4);
        rest[..whole].chunks(3).for_each(|bytes| push_group(bytes, &mut text));
        rest.drain(..whole);
        write_wrapped(run, &text, wrap, &mut column)?;
        if length == 0 {
            break;
        }
    }
    if column > 0 && wrap > 0 && !input.has_failed() { run.write(b"\n") } else { Ok(()) }
}

fn write_wrapped(
    run: &mut TextRun<'_, '_>,
    mut text: &[u8],
    wrap: usize,
    column: &mut usize,
) -> Result<(), Stop> {
    if wrap == 0 {
        return run.write(text);
    }
    while !text.is_empty() {
        if *column == wrap {
            run.write(b"\n")?;
            *column = 0;
        }
        let (line, rest) = text.split_at(text.len().min(wrap - *column));
        run.write(line)?;
        *column += line.len();
        text = rest;
    }
    Ok(())
}

fn decode(run: &mut TextRun<'_, '_>, input: &mut TextInput, ignore_garbage: bool) -> Result<(), Stop> {
    let mut values = [None; 256];
    for (value, letter) in (0..).zip(ALPHABET) {
        values[usize::from(*letter)] = Some(value);
    }
    let (mut group, mut bytes) = (Vec::with_capacity(4), Vec::new());
    let mut is_valid = true;
    while is_valid {
        let piece = input.fill(run)?;
        let length = piece.len();
        if length == 0 {
            is_valid = input.has_failed() || group.is_empty() || decode_group(&group, &values, &mut bytes);
            run.write(&bytes)?;
            break;
        }
        for byte in piece {
            let is_known = values[usize::from(*byte)].is_some() || *byte == b'=';
            if *byte == b'\n' || (ignore_garbage && !is_known) {
                continue;
            }
            group.push(*byte);
            if group.len() == 4 {
                is_valid = decode_group(&group, &values, &mut bytes);
                group.clear();
            }
            if !is_valid {
                break;
            }
        }
        input.consume(length);
        run.write(&bytes)?;
        bytes.clear();
    }
    if is_valid { Ok(()) } else { run.flush().and_then(|()| run.fail("invalid input")) }
}

/// Decodes four characters. Returns `false` at the first invalid one; the bytes before it are appended.
fn decode_group(group: &[u8], values: &[Option<u8>; 256], bytes: &mut Vec<u8>) -> bool {
    let value = |index: usize| group.get(index).and_then(|letter| values[usize::from(*letter)]);
    let (Some(first), Some(second)) = (value(0), value(1)) else { return false };
    bytes.push(first << 2 | second >> 4);
    let Some(third) = value(2) else { return group.get(2..) == Some(b"==") };
    bytes.push(second << 4 | third >> 2);
    match value(3) {
        Some(fourth) => bytes.push(third << 6 | fourth),
        None => return group.get(3) == Some(&b'='),
    }
    true
}
