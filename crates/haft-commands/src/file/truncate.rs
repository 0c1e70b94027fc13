//! `truncate`: sets the sizes of files.

use std::io;

use haft_fs::OpenOptions;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::number::parse_size;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "truncate",
    summary: "Set the sizes of files.",
    style: ArgumentStyle::GnuMixed(&["FILE..."]),
    parameters: &[CommandParameter::new("no-create", ParameterKind::Flag, "Do not make missing files.").letter('c'),
CommandParameter::new("io-blocks", ParameterKind::Flag, "The size is a number of blocks of the file.").letter('o'),
CommandParameter::new("reference", ParameterKind::Text, "Use the size of FILE.").letter('r').with_value_name("FILE"),
CommandParameter::new("size", ParameterKind::Text, "The size. With `+` it is added, with `-` subtracted, `<` is the most, `>` the least, `/` and `%` round down and up.").letter('s').with_value_name("SIZE")],
    details: &[],
    statuses: &[("0", "success"), ("1", "a file was not changed")],
    examples: &[Example { summary: "Make an empty file of a size", script: "truncate -s 1K f; wc -c f", output: "1024 f\n", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::makes_files(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// How a size applies to the present one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SizeChange {
    Exact,
    Relative,
    AtMost,
    AtLeast,
    RoundDown,
    RoundUp,
}

struct Sizing {
    change: SizeChange,
    size: i64,
    reference: Option<u64>,
    in_blocks: bool,
    no_create: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let mut parsed = None;
        for (_, value) in arguments.in_order().filter(|(name, _)| *name == "size") {
            if let ArgumentValue::Text(text) = value {
                // An earlier prefix stays in effect.
                let before = parsed.map_or(SizeChange::Exact, |(change, _)| change);
                parsed = Some(parse(run, text, before)?);
            }
        }
        let (change, size) = parsed.unwrap_or((SizeChange::Exact, 0));
        let reference = arguments.text("reference");
        if reference.is_none() && parsed.is_none() {
            let [size, reference] = ["--size", "--reference"].map(|name| run.quote(name.as_bytes()));
            return run.usage(format_args!("you must specify either {size} or {reference}"));
        }
        if reference.is_some() && parsed.is_some() && change == SizeChange::Exact {
            let [size, reference] = ["--size", "--reference"].map(|name| run.quote(name.as_bytes()));
            return run.usage(format_args!("you must specify a relative {size} with {reference}"));
        }
        let in_blocks = arguments.flag("io-blocks");
        if in_blocks && parsed.is_none() {
            let [blocks, size] = ["--io-blocks", "--size"].map(|name| run.quote(name.as_bytes()));
            return run.usage(format_args!("{blocks} was specified but {size} was not"));
        }
        if arguments.operands.is_empty() {
            return run.usage("missing file operand");
        }
        let reference = match reference.map(|name| (name, run.stat(name))) {
            Some((name, Err(error))) => {
                run.name_failed("cannot stat", name, &error);
                return Err(Stop::Exit(1));
            }
            Some((_, Ok(metadata))) => Some(metadata.size),
            None => None,
        };
        let no_create = arguments.flag("no-create");
        let sizing = Sizing { change, size, reference, in_blocks, no_create };
        for name in &arguments.operands {
            sizing.set(run, name);
        }
        Ok(())
    })
}

/// Parses a size with its prefix.
fn parse(run: &mut TextRun<'_, '_>, text: &[u8], before: SizeChange) -> Result<(SizeChange, i64), Stop> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (change, rest) = match &text[blanks..] {
        [b'<', rest @ ..] => (SizeChange::AtMost, rest),
        [b'>', rest @ ..] => (SizeChange::AtLeast, rest),
        [b'/', rest @ ..] => (SizeChange::RoundDown, rest),
        [b'%', rest @ ..] => (SizeChange::RoundUp, rest),
        rest => (before, rest),
    };
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = &rest[blanks..];
    let (sign, digits) = match rest {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (0, digits),
    };
    if sign != 0 && change != SizeChange::Exact {
        return run.usage("multiple relative modifiers specified");
    }
    let shown = run.quote(rest);
    let number = parse_size(digits).filter(|_| !digits.ends_with(b"b"));
    let Some(number) = number else { return run.fail(format_args!("Invalid number: {shown}")) };
    let Ok(number) = i64::try_from(number) else {
        return run.fail(format_args!("Invalid number: {shown}: Value too large for defined data type"));
    };
    if number == 0 && matches!(change, SizeChange::RoundDown | SizeChange::RoundUp) {
        return run.fail("division by zero");
    }
    match sign {
        0 => Ok((change, number)),
        _ => Ok((SizeChange::Relative, number * sign)),
    }
}

impl Sizing {
    fn set(&self, run: &mut TextRun<'_, '_>, name: &[u8]) {
        let umask = run.context.session().umask();
        let options = OpenOptions::new().write(true).nonblocking(true);
        let options = options.create(!self.no_create).mode(0o666 & !umask);
        let file = match run.files().open(&run.path(name), &options) {
            Ok(file) => file,
            Err(error) if self.no_create && error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                let shown = run.shown(name);
                run.file_failed(format_args!("cannot open {shown} for writing"), &error);
                return;
            }
        };
        let metadata = match file.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return run.name_failed("cannot fstat", name, &error),
        };
        let Some(size) = self.new_size(metadata.size, metadata.block_size) else {
            let shown = run.shown(name);
            return run.problem(format_args!("overflow extending size of file {shown}"));
        };
        if let Err(error) = file.set_size(size) {
            let shown = run.shown(name);
            run.file_failed(format_args!("failed to truncate {shown} at {size} bytes"), &error);
        }
    }

    fn new_size(&self, present: u64, block_size: u64) -> Option<u64> {
        let unit = if self.in_blocks { i64::try_from(block_size).ok()? } else { 1 };
        let size = self.size.checked_mul(unit)?;
        let present = i64::try_from(self.reference.unwrap_or(present)).ok()?;
        let wanted = match self.change {
            SizeChange::Exact if self.reference.is_some() => present,
            SizeChange::Exact => size,
            SizeChange::Relative => present.checked_add(size)?,
            SizeChange::AtMost => present.min(size),
            SizeChange::AtLeast => present.max(size),
            SizeChange::RoundDown => present / size * size,
            SizeChange::RoundUp => present.checked_add(size - 1)? / size * size,
        };
        u64::try_from(wanted.max(0)).ok()
    }
}
