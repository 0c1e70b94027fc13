//! `comm`: compares two sorted files.

use std::cmp::Ordering;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::streams::{Stop, TextInput, TextRun, run_text};
use super::text_command;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "comm",
    summary: "Compare two sorted files: lines of the first only, of the second only, of both.",
    style: ArgumentStyle::GnuMixed(&["FILE1", "FILE2"]),
    parameters: &[
        CommandParameter::short_flag("1", '1', "Leave out lines of the first file only."),
        CommandParameter::short_flag("2", '2', "Leave out lines of the second file only."),
        CommandParameter::short_flag("3", '3', "Leave out lines of both files."),
        CommandParameter::new("check-order", ParameterKind::Flag, "Fail if a file is not sorted."),
        CommandParameter::new(
            "nocheck-order",
            ParameterKind::Flag,
            "Do not check whether the files are sorted.",
        ),
        CommandParameter::new(
            "output-delimiter",
            ParameterKind::Text,
            "Separate columns with TEXT instead of a tab.",
        ),
        CommandParameter::new("total", ParameterKind::Flag, "Write the number of lines in each column."),
        CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.")
            .letter('z'),
    ],
    details: &["Lines are compared byte by byte, as in the C locale."],
    statuses: &[("0", "success"), ("1", "a file could not be read, or is not sorted")],
    examples: &[Example {
        summary: "Lines that two files have in common",
        script: "comm -12 <(printf '%s\\n' a b) <(printf '%s\\n' b c)",
        output: "b\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = text_command(&DESCRIPTOR, run);

/// One of the two files.
struct Side {
    input: TextInput,
    line: Option<Vec<u8>>,
    previous: Option<Vec<u8>>,
    /// A line was not in order, which was reported.
    is_unsorted: bool,
}

/// Whether the order of lines is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderCheck {
    /// Only if a line cannot be paired.
    Default,
    Always,
    Never,
}

struct Comparison<'a> {
    end: u8,
    check: OrderCheck,
    separator: &'a [u8],
    /// The separator of the total line.
    total_separator: &'a [u8],
    shown: [bool; 3],
    counts: [u64; 3],
    unpaired: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let given: Vec<_> = arguments.in_order().filter(|(name, _)| *name == "output-delimiter").collect();
        if given.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            return run.fail("multiple output delimiters specified");
        }
        let [first, second] = match arguments.operands.as_slice() {
            [first, second] => [first, second],
            [] => return run.usage("missing operand"),
            [only] => {
                let shown = run.quote(only);
                return run.usage(format_args!("missing operand after {shown}"));
            }
            [_, _, extra, ..] => return run.extra_operand(extra),
        };
        let tab = Bytes::from("\t");
        let separator = arguments.text("output-delimiter").unwrap_or(&tab);
        let order = arguments.in_order().rev().find_map(|(name, _)| match name {
            "check-order" => Some(OrderCheck::Always),
            "nocheck-order" => Some(OrderCheck::Never),
            _ => None,
        });
        let mut comparison = Comparison {
            end: if arguments.flag("zero-terminated") { 0 } else { b'\n' },
            check: order.unwrap_or(OrderCheck::Default),
            separator: if separator.is_empty() { b"\0" } else { separator },
            total_separator: separator,
            shown: ["1", "2", "3"].map(|name| !arguments.flag(name)),
            counts: [0; 3],
            unpaired: false,
        };
        let sides = [comparison.open(run, first)?, comparison.open(run, second)?];
        comparison.compare(run, sides, arguments.flag("total"))?;
        // GNU's `comm` closes standard input twice.
        if *first == "-" && *second == "-" {
            return run.fail("-: Bad file descriptor");
        }
        Ok(())
    })
}

impl Comparison<'_> {
    /// Opens a file and reads its first line.
    fn open(&self, run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<Side, Stop> {
        let Some(input) = run.open(name)? else { return Err(Stop::Exit(1)) };
        let mut sides = [Side { input, line: None, previous: None, is_unsorted: false }];
        self.advance(run, &mut sides, 0)?;
        let [side] = sides;
        Ok(side)
    }

    fn compare(&mut self, run: &mut TextRun<'_, '_>, mut sides: [Side; 2], total: bool) -> Result<(), Stop> {
        loop {
            let order = match (&sides[0].line, &sides[1].line) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(first), Some(second)) => first.cmp(second),
            };
            let (column, side) = match order {
                Ordering::Less => (0, 0),
                Ordering::Greater => (1, 1),
                Ordering::Equal => (2, 1),
            };
            self.counts[column] += 1;
            self.unpaired |= order != Ordering::Equal;
            let line = sides[side].line.clone().unwrap_or_default();
            self.write(run, column, &line)?;
            if order != Ordering::Greater {
                self.advance(run, &mut sides, 0)?;
            }
            if order != Ordering::Less {
                self.advance(run, &mut sides, 1)?;
            }
        }
        if total {
            let numbers = self.counts.map(|count| count.to_string().into_bytes());
            let line = [numbers.as_slice(), &[b"total".to_vec()]].concat().join(self.total_separator);
            run.write(&[line.as_slice(), &[self.end]].concat())?;
        }
        if sides.iter().any(|side| side.is_unsorted) {
            return run.fail("input is not in sorted order");
        }
        Ok(())
    }

    /// Writes a line in its column.
    fn write(&self, run: &mut TextRun<'_, '_>, column: usize, line: &[u8]) -> Result<(), Stop> {
        if !self.shown[column] {
            return Ok(());
        }
        for shown in &self.shown[..column] {
            if *shown {
                run.write(self.separator)?;
            }
        }
        run.write(line)?;
        run.write(&[self.end])
    }

    /// Reads the next line of a file, and checks that it is not before the previous one.
    fn advance(&self, run: &mut TextRun<'_, '_>, sides: &mut [Side], index: usize) -> Result<(), Stop> {
        let side = &mut sides[index];
        let mut line = Vec::new();
        side.previous = side.line.take();
        if side.input.read_line(run, self.end, &mut line)? {
            if line.last() == Some(&self.end) {
                line.pop();
            }
            side.line = Some(line);
        } else if side.input.has_failed() {
            return Err(Stop::Exit(1));
        }
        let checked = match self.check {
            OrderCheck::Always => true,
            OrderCheck::Default => self.unpaired && !side.is_unsorted,
            OrderCheck::Never => false,
        };
        if checked && side.line.is_some() && side.line < side.previous {
            let number = index + 1;
            run.complain(format_args!("file {number} is not in sorted order"));
            if self.check == OrderCheck::Always {
                return Err(Stop::Exit(1));
            }
            side.is_unsorted = true;
        }
        Ok(())
    }
}
