//! `tr`: translates, deletes or squeezes bytes.

mod set;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use self::set::{ByteSet, SetError};
use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "tr",
    summary: "Translate, delete or squeeze bytes of standard input.",
    style: ArgumentStyle::Gnu(&["SET1", "[SET2]"]),
    parameters: &[
        CommandParameter::new("complement", ParameterKind::Flag, "Use all bytes that are not in SET1.")
            .letter('c'),
        CommandParameter::short_flag("C", 'C', "The same as -c."),
        CommandParameter::new("delete", ParameterKind::Flag, "Delete the bytes of SET1.").letter('d'),
        CommandParameter::new(
            "squeeze-repeats",
            ParameterKind::Flag,
            "Write one of several equal bytes of the last set.",
        )
        .letter('s'),
        CommandParameter::new("truncate-set1", ParameterKind::Flag, "Truncate SET1 to the length of SET2.")
            .letter('t'),
    ],
    details: &[
        "A set is a string. It may contain ranges (a-z), classes ([:alpha:]), equivalence classes ([=a=]), repeated bytes \
         ([x*3], [x*]) and escapes (\\n, \\101, \\\\).",
    ],
    statuses: &[("0", "success"), ("1", "a set is not valid")],
    examples: &[Example {
        summary: "Upper case",
        script: "echo hello | tr a-z A-Z",
        output: "HELLO\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// The translation of each byte, and whether it is deleted or squeezed.
struct Translation {
    to: [u8; 256],
    deleted: [bool; 256],
    squeezed: [bool; 256],
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let operands = &words[arguments.option_words..];
    run_text(context, |run| {
        check_operands(run, arguments, operands)?;
        let mut sets = Vec::new();
        for operand in operands {
            let parsed = ByteSet::parse(operand, |warning| run.complain(format_args!("warning: {warning}")));
            sets.push(parsed.or_else(|error| fail(run, &error))?);
        }
        let translation = translation(arguments, &sets).or_else(|error| fail(run, &error))?;
        let mut input = run.standard_input();
        let mut last = None;
        let mut text = Vec::new();
        loop {
            let piece = input.fill(run)?;
            let count = piece.len();
            if count == 0 {
                return Ok(());
            }
            text.clear();
            translation.push(piece, &mut last, &mut text);
            run.write_through(&text)?;
            input.consume(count);
        }
    })
}

fn fail<T>(run: &mut TextRun<'_, '_>, error: &SetError) -> Result<T, Stop> {
    let message = error.message(run);
    run.fail(message)
}

fn check_operands(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    operands: &[Bytes],
) -> Result<(), Stop> {
    let (delete, squeeze) = (arguments.flag("delete"), arguments.flag("squeeze-repeats"));
    let least = 1 + usize::from(delete == squeeze);
    let most = 1 + usize::from(!delete || squeeze);
    if operands.is_empty() {
        return run.usage("missing operand");
    }
    if operands.len() < least {
        let shown = run.quote(&operands[0]);
        let why = match squeeze {
            true => "Two strings must be given when both deleting and squeezing repeats.",
            false => "Two strings must be given when translating.",
        };
        return run.usage(format_args!("missing operand after {shown}\n{why}"));
    }
    if operands.len() > most {
        let shown = run.quote(&operands[most]);
        let why = match operands.len() == 2 {
            true => "\nOnly one string may be given when deleting without squeezing repeats.",
            false => "",
        };
        return run.usage(format_args!("extra operand {shown}{why}"));
    }
    Ok(())
}

fn translation(arguments: &CommandArguments, sets: &[ByteSet]) -> Result<Translation, SetError> {
    let (delete, squeeze) = (arguments.flag("delete"), arguments.flag("squeeze-repeats"));
    let complement = arguments.flag("complement") || arguments.flag("C");
    let first = &sets[0];
    first.check_first()?;
    let mut chosen = first.bytes(0);
    if complement {
        let given = chosen;
        chosen = (0..=255).filter(|byte| !given.contains(byte)).collect();
    }
    let mut result = Translation {
        to: std::array::from_fn(|byte| byte as u8),
        deleted: [false; 256],
        squeezed: [false; 256],
    };
    let squeezed = match sets.get(1) {
        Some(second) => {
            second.check_second(!delete)?;
            let mut mapped = second.bytes(chosen.len());
            if !delete {
                if !complement {
                    second.check_case_classes(first, chosen.len())?;
                }
                extend(&mut mapped, second, chosen.len(), arguments.flag("truncate-set1"))?;
                if complement && first.has_class() && !maps_all_to_one(&mapped, chosen.len()) {
                    return Err(SetError::Fixed(
                        "when translating with complemented character classes,\nstring2 must map all characters in \
                         the domain to one",
                    ));
                }
                for (from, to) in chosen.iter().zip(&mapped) {
                    result.to[usize::from(*from)] = *to;
                }
            }
            mapped
        }
        None => chosen.clone(),
    };
    if squeeze {
        squeezed.iter().for_each(|byte| result.squeezed[usize::from(*byte)] = true);
    }
    if delete {
        chosen.iter().for_each(|byte| result.deleted[usize::from(*byte)] = true);
    }
    Ok(result)
}

/// Extends the second set to the length of the first with its last byte.
fn extend(mapped: &mut Vec<u8>, second: &ByteSet, length: usize, is_truncated: bool) -> Result<(), SetError> {
    if mapped.len() >= length || is_truncated {
        return Ok(());
    }
    match mapped.last() {
        None => Err(SetError::Fixed("when not truncating set1, string2 must be non-empty")),
        Some(_) if second.ends_with_class() => Err(SetError::Fixed(
            "when translating with string1 longer than string2,\nthe latter string must not end with a character class",
        )),
        Some(&last) => {
            mapped.resize(length, last);
            Ok(())
        }
    }
}

fn maps_all_to_one(mapped: &[u8], length: usize) -> bool {
    mapped.len() == length && mapped.windows(2).all(|pair| pair[0] == pair[1])
}

/// A range of bytes that are translated by adding a number. All others stay.
struct ShiftedRange {
    start: u8,
    length: u8,
    shift: u8,
}

impl Translation {
    /// The translation as a range, if it is one, as that of `a-z` to `A-Z`.
    fn as_range(&self) -> Option<ShiftedRange> {
        let changes = |byte: &u8| self.to[usize::from(*byte)] != *byte;
        let (start, end) = ((0..=255).find(changes)?, (0..=255).rev().find(changes)?);
        let shift = self.to[usize::from(start)].wrapping_sub(start);
        let is_shifted = (start..=end).all(|byte| self.to[usize::from(byte)] == byte.wrapping_add(shift));
        is_shifted.then(|| ShiftedRange { start, length: end - start, shift })
    }

    fn translate(&self, piece: &[u8], text: &mut Vec<u8>) {
        match self.as_range() {
            // Compilers turn this into vector instructions.
            Some(ShiftedRange { start, length, shift }) => text.extend(piece.iter().map(|byte| {
                let is_inside = byte.wrapping_sub(start) <= length;
                byte.wrapping_add(if is_inside { shift } else { 0 })
            })),
            None => text.extend(piece.iter().map(|byte| self.to[usize::from(*byte)])),
        }
    }

    fn push(&self, piece: &[u8], last: &mut Option<u8>, text: &mut Vec<u8>) {
        if !self.squeezed.contains(&true) {
            match self.deleted.contains(&true) {
                false => self.translate(piece, text),
                true => text.extend(piece.iter().filter(|byte| !self.deleted[usize::from(**byte)])),
            }
            return;
        }
        for &byte in piece {
            if self.deleted[usize::from(byte)] {
                continue;
            }
            let to = self.to[usize::from(byte)];
            if self.squeezed[usize::from(to)] && *last == Some(to) {
                continue;
            }
            *last = Some(to);
            text.push(to);
        }
    }
}
