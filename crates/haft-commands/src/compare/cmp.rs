//! `cmp`: compares two files byte by byte.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};
use haft_text::encoding::Encoding;

use super::{TROUBLE, has_two_files};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::number::parse_size;
use crate::text::streams::{FileSize, Stop, TextInput, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "cmp",
    summary: "Compare two files byte by byte.",
    style: ArgumentStyle::GnuMixed(&["FILE1", "[FILE2]"]),
    parameters: &[
        CommandParameter::new("print-bytes", ParameterKind::Flag, "Also show bytes as characters.")
            .letter('b'),
        CommandParameter::new(
            "ignore-initial",
            ParameterKind::Text,
            "Skip N bytes of both files, or N and M.",
        )
        .letter('i')
        .with_value_name("N[:M]"),
        CommandParameter::new("verbose", ParameterKind::Flag, "Show all bytes that differ.").letter('l'),
        CommandParameter::new("bytes", ParameterKind::Text, "Compare at most N bytes.")
            .letter('n')
            .with_value_name("N"),
        CommandParameter::new("quiet", ParameterKind::Flag, "Write nothing.").letter('s'),
        CommandParameter::new("silent", ParameterKind::Flag, "The same as `--quiet`."),
    ],
    details: &["FILE2 is standard input if it is missing."],
    statuses: &[("0", "the files are equal"), ("1", "they differ"), ("2", "trouble")],
    examples: &[Example {
        summary: "The first byte that differs",
        script: "printf 'abc\\n' > /tmp/a; printf 'abd\\n' > /tmp/b; cmp /tmp/a /tmp/b",
        output: "/tmp/a /tmp/b differ: char 3, line 1\n",
        status: 1,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: TROUBLE,
    steps_aside: Some(|session, arguments, _| !has_two_files(session, &arguments.operands, u64::MAX)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// The options.
struct CmpSettings {
    shows_bytes: bool,
    is_verbose: bool,
    is_quiet: bool,
    limit: u64,
    /// The width of the column of offsets.
    width: usize,
}

/// How far the comparison is.
#[derive(Default)]
struct CmpPosition {
    offset: u64,
    /// Newlines so far.
    lines: u64,
    last: u8,
    differs: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let standard_input = Bytes::from("-");
        let [first, second] = match arguments.operands.as_slice() {
            [] => return usage(run, "missing operand after 'cmp'"),
            [only] => [only, &standard_input],
            [first, second] => [first, second],
            [_, _, extra, ..] => {
                let shown = run.quote(extra);
                return usage(run, format!("extra operand {shown}"));
            }
        };
        let skips = skips(run, arguments)?;
        let limit = limit(run, arguments)?;
        let settings = CmpSettings {
            shows_bytes: arguments.flag("print-bytes"),
            is_verbose: arguments.flag("verbose"),
            is_quiet: arguments.flag("quiet") || arguments.flag("silent"),
            limit,
            width: offset_width(run, [first, second], skips, limit),
        };
        if settings.is_verbose && settings.is_quiet {
            return usage(run, "options -l and -s are incompatible");
        }
        let mut files = [open(run, first, settings.is_quiet)?, open(run, second, settings.is_quiet)?];
        for (file, skip) in files.iter_mut().zip(skips) {
            skip_bytes(run, file, skip)?;
            if file.has_failed() {
                return Err(Stop::Exit(TROUBLE));
            }
        }
        compare(run, files, &settings)
    })
}

fn usage<T>(run: &mut TextRun<'_, '_>, message: impl std::fmt::Display) -> Result<T, Stop> {
    run.complain(message);
    run.complain("Try 'cmp --help' for more information.");
    Err(Stop::Exit(TROUBLE))
}

/// The smallest number of `--bytes`.
fn limit(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<u64, Stop> {
    let mut limit = u64::MAX;
    for (name, value) in arguments.in_order() {
        let ("bytes", ArgumentValue::Text(text)) = (name, value) else { continue };
        let Some(number) = parse_size(text) else {
            let shown = run.quote(text);
            return usage(run, format!("invalid --bytes value {shown}"));
        };
        limit = limit.min(number);
    }
    Ok(limit)
}

/// The largest numbers of `--ignore-initial`.
fn skips(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<[u64; 2], Stop> {
    let mut skips = [0, 0];
    for (name, value) in arguments.in_order() {
        let ("ignore-initial", ArgumentValue::Text(text)) = (name, value) else { continue };
        let mut parts = text.split(|byte| *byte == b':').map(parse_size);
        let given = match (parts.next().flatten(), parts.next(), parts.next()) {
            (Some(both), None, None) => [both, both],
            (Some(first), Some(Some(second)), None) => [first, second],
            _ => {
                let shown = run.quote(text);
                return usage(run, format!("invalid --ignore-initial value {shown}"));
            }
        };
        skips = [skips[0].max(given[0]), skips[1].max(given[1])];
    }
    Ok(skips)
}

/// The digits of the largest offset, as far as the sizes of the files are known.
fn offset_width(run: &TextRun<'_, '_>, names: [&Bytes; 2], skips: [u64; 2], limit: u64) -> usize {
    let mut largest = limit.min(i64::MAX.unsigned_abs());
    for (name, skip) in names.into_iter().zip(skips) {
        if let FileSize::Regular(size) = run.file_size(name) {
            largest = largest.min(size.saturating_sub(skip));
        }
    }
    largest.to_string().len()
}

fn open(run: &mut TextRun<'_, '_>, name: &Bytes, is_quiet: bool) -> Result<TextInput, Stop> {
    if *name == "-" {
        return Ok(run.standard_input());
    }
    run.try_open(name)?.map_err(|error| {
        if !is_quiet {
            run.complain(format_args!("{name}: {}", haft_fs::message(&error)));
        }
        Stop::Exit(TROUBLE)
    })
}

fn skip_bytes(run: &mut TextRun<'_, '_>, file: &mut TextInput, skip: u64) -> Result<(), Stop> {
    let mut left = skip;
    while left > 0 {
        let available = file.fill(run)?.len();
        if available == 0 {
            break;
        }
        let taken = available.min(usize::try_from(left).unwrap_or(usize::MAX));
        file.consume(taken);
        left -= taken as u64;
    }
    Ok(())
}

fn compare(run: &mut TextRun<'_, '_>, mut files: [TextInput; 2], settings: &CmpSettings) -> Result<(), Stop> {
    let mut position = CmpPosition::default();
    loop {
        let [first, second] = &mut files;
        let left = usize::try_from(settings.limit - position.offset).unwrap_or(usize::MAX);
        first.fill(run)?;
        if first.has_failed() {
            return Err(Stop::Exit(TROUBLE));
        }
        let (one, two) = (first.fill(run)?, second.fill(run)?);
        let (one, two) = (&one[..one.len().min(left)], &two[..two.len().min(left)]);
        if one.is_empty() || two.is_empty() {
            let ended = match (one.is_empty(), two.is_empty()) {
                (true, false) => Some(0),
                (false, true) => Some(1),
                _ => None,
            };
            if files.iter().any(TextInput::has_failed) {
                return Err(Stop::Exit(TROUBLE));
            }
            return finish(run, &files, ended, settings, &position);
        }
        let count = one.len().min(two.len());
        let (one, two) = (one[..count].to_vec(), two[..count].to_vec());
        if compare_block(
            run,
            [&files[0].name.clone(), &files[1].name.clone()],
            [&one, &two],
            settings,
            &mut position,
        )? {
            run.set_status(1);
            return Ok(());
        }
        files.iter_mut().for_each(|file| file.consume(count));
    }
}

/// Compares blocks of the same length. Returns whether the comparison ends here.
fn compare_block(
    run: &mut TextRun<'_, '_>,
    names: [&Bytes; 2],
    [one, two]: [&[u8]; 2],
    settings: &CmpSettings,
    position: &mut CmpPosition,
) -> Result<bool, Stop> {
    for (index, (first, second)) in one.iter().zip(two).enumerate() {
        if first != second {
            position.differs = true;
            if settings.is_quiet {
                return Ok(true);
            }
            let at = position.offset + index as u64 + 1;
            if !settings.is_verbose {
                let newlines = memchr::memchr_iter(b'\n', &one[..index]).count() as u64;
                let line = position.lines + newlines + 1;
                // GNU's `cmp` says `char` only in the C locale, as POSIX requires.
                let unit = match run.context.session().encoding() {
                    Encoding::Utf8 => "byte",
                    Encoding::Bytes => "char",
                };
                let text = match settings.shows_bytes {
                    false => format!("{} {} differ: {unit} {at}, line {line}\n", names[0], names[1]),
                    true => format!(
                        "{} {} differ: byte {at}, line {line} is {first:3o} {} {second:3o} {}\n",
                        names[0],
                        names[1],
                        visible(*first),
                        visible(*second)
                    ),
                };
                run.write(text.as_bytes())?;
                return Ok(true);
            }
            let width = settings.width;
            let text = match settings.shows_bytes {
                false => format!("{at:width$} {first:3o} {second:3o}\n"),
                true => format!(
                    "{at:width$} {first:3o} {:<4} {second:3o} {}\n",
                    visible(*first),
                    visible(*second)
                ),
            };
            run.write(text.as_bytes())?;
        }
    }
    position.lines += memchr::memchr_iter(b'\n', one).count() as u64;
    position.offset += one.len() as u64;
    position.last = one.last().copied().unwrap_or(0);
    Ok(false)
}

/// Reports that a file ended before the other.
fn finish(
    run: &mut TextRun<'_, '_>,
    files: &[TextInput; 2],
    ended: Option<usize>,
    settings: &CmpSettings,
    position: &CmpPosition,
) -> Result<(), Stop> {
    run.set_status(i32::from(position.differs || ended.is_some()));
    let Some(ended) = ended.filter(|_| !settings.is_quiet) else { return Ok(()) };
    run.flush()?;
    let (name, offset) = (&files[ended].name, position.offset);
    match (offset, settings.is_verbose, position.last) {
        (0, ..) => run.complain(format_args!("EOF on {name} which is empty")),
        (_, true, _) => run.complain(format_args!("EOF on {name} after byte {offset}")),
        (_, false, b'\n') => {
            run.complain(format_args!("EOF on {name} after byte {offset}, line {}", position.lines));
        }
        (_, false, _) => {
            run.complain(format_args!("EOF on {name} after byte {offset}, in line {}", position.lines + 1));
        }
    }
    Ok(())
}

/// A byte as `cat -t` shows it.
fn visible(byte: u8) -> String {
    let high = if byte >= 128 { "M-" } else { "" };
    match byte & 127 {
        127 => format!("{high}^?"),
        control @ 0..32 => format!("{high}^{}", char::from(control + 64)),
        printable => format!("{high}{}", char::from(printable)),
    }
}
