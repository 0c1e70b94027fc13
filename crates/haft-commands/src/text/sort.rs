//! `sort`: sorts lines.

pub(crate) mod compare;
mod external;
mod general;
mod key;
mod lines;
mod long_double;
mod output;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};
use haft_text::encoding::Encoding;

use super::name::{quoted, quoted_always};
use super::number::parse_digits;
use super::streams::{Stop, TextInput, TextRun, Wording, run_worded};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use key::{KeyError, KeyOptions, Salt, SortKey};
use lines::LineOrder;
use output::SortOutput;

/// An option without a value.
const fn flag(name: &'static str, letter: char, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Flag, summary).letter(letter)
}

/// An option with a value.
const fn text(name: &'static str, value: &'static str, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).with_value_name(value)
}

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "sort",
    summary: "Sort the lines of all files.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        flag("ignore-leading-blanks", 'b', "Ignore blanks at the start of keys."),
        CommandParameter::short_flag("c", 'c', "Check whether the input is sorted."),
        CommandParameter::short_flag("C", 'C', "The same, without a message."),
        CommandParameter::new(
            "check",
            ParameterKind::OptionalText,
            "The same as -c; with 'quiet' or 'silent', -C.",
        ),
        flag("dictionary-order", 'd', "Compare only letters, digits and blanks."),
        flag("ignore-case", 'f', "Ignore case."),
        flag("general-numeric-sort", 'g', "Compare floating-point numbers."),
        flag("human-numeric-sort", 'h', "Compare sizes such as 2K and 1G."),
        flag("ignore-nonprinting", 'i', "Compare only printable characters."),
        text("key", "KEY", "Sort by a part of the line: F[.C][OPTIONS][,F[.C][OPTIONS]].").letter('k'),
        flag("merge", 'm', "Merge files that are sorted."),
        flag("month-sort", 'M', "Compare names of months."),
        flag("numeric-sort", 'n', "Compare numbers."),
        text("output", "FILE", "Write to FILE, which may be an input.").letter('o'),
        text("parallel", "N", "Has no effect."),
        flag("random-sort", 'R', "Sort in random order, equal keys together."),
        text("random-source", "FILE", "Read random bytes from FILE."),
        flag("reverse", 'r', "Reverse the order."),
        flag("stable", 's', "Keep the order of lines whose keys are equal."),
        text("buffer-size", "SIZE", "Has no effect.").letter('S'),
        text("field-separator", "CHARACTER", "Fields are separated by CHARACTER.").letter('t'),
        text("temporary-directory", "DIR", "Use DIR for temporary files.").letter('T'),
        flag("unique", 'u', "Write only the first of lines whose keys are equal."),
        flag("version-sort", 'V', "Compare version numbers in text."),
        flag("zero-terminated", 'z', "Lines end with a NUL byte."),
    ],
    details: &[
        "Lines are compared byte by byte, as in the C locale. The input is held in memory.",
        "F is a field and C a character in it, both from 1. OPTIONS are letters of bdfghiMnRrV.",
        "-g refuses hexadecimal fractions, NaN with bits, and numbers too small for the full precision of 64 bits.",
    ],
    statuses: &[
        ("0", "success"),
        ("1", "with -c or -C: the input is not sorted"),
        ("2", "a file could not be read or written, or the usage is wrong"),
    ],
    examples: &[
        Example {
            summary: "Sort by the number in the second field",
            script: "printf '%s\\n' 'a 10' 'b 9' | sort -k 2n",
            output: "b 9\na 10\n",
            status: 0,
        },
        Example {
            summary: "Sort versions, without duplicates",
            script: "printf '%s\\n' v1.10 v1.9 v1.10 | sort -uV",
            output: "v1.9\nv1.10\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { usage_status: 2, steps_aside: Some(steps_aside), ..text_command(&DESCRIPTOR, run) };

/// The program reads keys in the old syntax, such as `+1`, and has an order of its own for random versions.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let is_mixed = arguments.flag("random-sort") && arguments.flag("version-sort");
    is_mixed || arguments.operands.iter().any(|operand| is_old_key(operand))
}

fn is_old_key(operand: &[u8]) -> bool {
    matches!(operand, [b'+', b'0'..=b'9', ..])
}

/// The options that are not about the order.
struct SortSettings {
    end: u8,
    order: LineOrder,
    /// The letter of `-c` or `-C`.
    check: Option<char>,
    output: Option<Bytes>,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::Sort, |run| {
        let settings = settings(run, arguments)?;
        let standard = [Bytes::from("-")];
        let names = if arguments.operands.is_empty() { &standard } else { arguments.operands.as_slice() };
        if let Some(letter) = settings.check {
            if let Some(extra) = names.get(1) {
                let shown = quoted_always(extra);
                return run.fail(format_args!("extra operand {shown} not allowed with -{letter}"));
            }
            if settings.output.is_some() {
                return run.fail(format_args!("options '-{letter}o' are incompatible"));
            }
            return check(run, &settings, &names[0], letter == 'c');
        }
        let inputs = open_all(run, names)?;
        if let Some(name) = &settings.output {
            open_output(run, name, true)?;
        }
        match arguments.flag("merge") {
            true => merge(run, inputs, &settings),
            false => {
                let directory = arguments.text("temporary-directory");
                let order = &settings.order;
                external::sort(run, inputs, settings.end, order, directory, |run| output(run, &settings))
            }
        }
    })
}

/// Standard output, or the file of `-o`.
fn output(run: &mut TextRun<'_, '_>, settings: &SortSettings) -> Result<SortOutput, Stop> {
    match &settings.output {
        None => Ok(SortOutput::standard()),
        Some(name) => Ok(SortOutput::to_file(name.clone(), open_output(run, name, false)?)),
    }
}

/// `-m`: merges files that are sorted. The output may be one of them.
fn merge(run: &mut TextRun<'_, '_>, inputs: Vec<TextInput>, settings: &SortSettings) -> Result<(), Stop> {
    let mut output = match settings.output {
        None => SortOutput::standard(),
        Some(_) => SortOutput::held_back(),
    };
    external::merge(run, inputs, settings.end, &settings.order, &mut output)?;
    if let Some(name) = &settings.output {
        output.release(name.clone(), open_output(run, name, false)?);
    }
    output.finish(run)
}

fn settings(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<SortSettings, Stop> {
    let (mut options, mut keys) = (KeyOptions::default(), Vec::new());
    let (mut separator, mut check, mut output, mut source) = (None, None, None, None);
    for (name, value) in arguments.in_order() {
        match (name, value) {
            ("key", ArgumentValue::Text(value)) => keys.push(parse_key(run, value)?),
            ("field-separator", ArgumentValue::Text(value)) => {
                let given = parse_separator(run, value)?;
                if separator.replace(given).is_some_and(|before| before != given) {
                    return run.fail("incompatible tabs");
                }
            }
            ("output", ArgumentValue::Text(value)) => {
                if output.replace(value.clone()).is_some_and(|before| before != *value) {
                    return run.fail("multiple output files specified");
                }
            }
            ("random-source", ArgumentValue::Text(value)) => {
                if source.replace(value.clone()).is_some_and(|before| before != *value) {
                    return run.fail("multiple random sources specified");
                }
            }
            ("buffer-size", ArgumentValue::Text(value)) => check_size(run, value)?,
            ("parallel", ArgumentValue::Text(value)) => check_parallel(run, value)?,
            ("c" | "C" | "check", value) => {
                let letter = check_letter(run, name, value)?;
                if check.replace(letter).is_some_and(|before| before != letter) {
                    return run.fail("options '-cC' are incompatible");
                }
            }
            ("ignore-leading-blanks", _) => {
                (options.skip_start_blanks, options.skip_end_blanks) = (true, true);
            }
            _ => {
                let parameter = DESCRIPTOR.parameters.iter().find(|it| it.name == name);
                let letter = parameter.and_then(|it| it.letter).and_then(|it| u8::try_from(it).ok());
                let _ = letter.is_some_and(|letter| options.add(letter));
            }
        }
    }
    if let Some(operand) = arguments.operands.iter().find(|it| is_old_key(it)) {
        let shown = run.quote(operand);
        return run.usage(format_args!("{shown}: use -k instead of the old syntax of keys"));
    }
    let order = order(run, arguments, options, keys, separator)?;
    let end = if arguments.flag("zero-terminated") { 0 } else { b'\n' };
    Ok(SortSettings { end, order, check, output })
}

/// Gives the options for all keys to the keys that have none.
fn order(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    options: KeyOptions,
    mut keys: Vec<SortKey>,
    separator: Option<u8>,
) -> Result<LineOrder, Stop> {
    let reverse = options.reverse;
    for key in &mut keys {
        if key.options == KeyOptions::default() {
            key.options = options.clone();
        }
    }
    if keys.is_empty() && !options.is_plain() {
        keys.push(SortKey::line(options));
    }
    if let Some(letters) = keys.iter().find_map(|key| key.options.conflict()) {
        return run.fail(format_args!("options '-{letters}' are incompatible"));
    }
    if keys.iter().any(|key| key.options.is_random()) {
        let salt = random_salt(run, arguments.text("random-source"))?;
        let hashes_end = run.context.session().encoding() == Encoding::Utf8;
        for key in &mut keys {
            (key.options.salt, key.options.hashes_end) = (salt, hashes_end);
        }
    }
    let unique = arguments.flag("unique");
    Ok(LineOrder { keys, separator, reverse, unique, stable: unique || arguments.flag("stable") })
}

/// Random bytes for `-R`.
fn random_salt(run: &mut TextRun<'_, '_>, source: Option<&Bytes>) -> Result<Salt, Stop> {
    let mut salt = Salt::default();
    let Some(name) = source else {
        let filled = rustix::rand::getrandom(&mut salt[..], rustix::rand::GetRandomFlags::empty());
        return match filled {
            Ok(_) => Ok(salt),
            Err(error) => run.fail(format_args!("getrandom: {}", haft_fs::message(&error.into()))),
        };
    };
    let shown = quoted(name);
    let mut input = match run.try_open(name)? {
        Ok(input) => input.with_read_size(salt.len()),
        Err(error) => {
            return run.fail(format_args!("open failed: {shown}: {}", haft_fs::message(&error)));
        }
    };
    let mut filled = 0;
    while filled < salt.len() {
        let bytes = input.fill(run)?;
        let length = bytes.len().min(salt.len() - filled);
        if length == 0 {
            return match input.has_failed() {
                true => Err(Stop::Exit(2)),
                false => run.fail(format_args!("{shown}: end of file")),
            };
        }
        salt[filled..filled + length].copy_from_slice(&bytes[..length]);
        filled += length;
        input.consume(length);
    }
    Ok(salt)
}

fn parse_key(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<SortKey, Stop> {
    match SortKey::parse(value) {
        Ok(key) => Ok(key),
        Err(KeyError::Field(message)) => {
            let shown = run.quote(value);
            run.fail(format_args!("{message}: invalid field specification {shown}"))
        }
        Err(KeyError::Count(message, rest)) => {
            let shown = run.quote(rest);
            run.fail(format_args!("{message}: invalid count at start of {shown}"))
        }
    }
}

fn parse_separator(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<u8, Stop> {
    match value {
        [] => run.fail("empty tab"),
        [separator] => Ok(*separator),
        b"\\0" => Ok(0),
        _ => {
            let shown = run.quote(value);
            run.fail(format_args!("multi-character tab {shown}"))
        }
    }
}

fn check_letter(run: &mut TextRun<'_, '_>, name: &str, value: &ArgumentValue) -> Result<char, Stop> {
    let word: &[u8] = match (name, value) {
        ("C", _) => return Ok('C'),
        ("check", ArgumentValue::Text(word)) => word,
        _ => return Ok('c'),
    };
    let starts = |full: &str| !word.is_empty() && full.as_bytes().starts_with(word);
    if word.is_empty() || starts("diagnose-first") {
        return Ok('c');
    }
    if starts("quiet") || starts("silent") {
        return Ok('C');
    }
    let shown = run.quote(word);
    let [option, quiet, silent, first] =
        ["--check", "quiet", "silent", "diagnose-first"].map(|word| run.quote(word.as_bytes()));
    let valid = format!("Valid arguments are:\n  - {quiet}, {silent}\n  - {first}");
    run.complain(format_args!(
        "invalid argument {shown} for {option}\n{valid}\nTry 'sort --help' for more information."
    ));
    Err(Stop::Exit(1))
}

/// Checks the value of `-S`, which is otherwise not used.
fn check_size(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<(), Stop> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let shown = quoted_always(value);
    if digits == 0 {
        return run.fail(format_args!("invalid -S argument {shown}"));
    }
    let power = match &value[digits..] {
        b"" | b"k" | b"K" => 1,
        b"b" | b"%" => 0,
        b"m" | b"M" => 2,
        b"g" | b"G" => 3,
        b"t" | b"T" => 4,
        b"P" => 5,
        b"E" => 6,
        b"Z" => 7,
        b"Y" => 8,
        _ => return run.fail(format_args!("invalid suffix in -S argument {shown}")),
    };
    let bytes = 1024u128.pow(power).saturating_mul(u128::from(parse_digits(&value[..digits])));
    match u64::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => run.fail(format_args!("-S argument {shown} too large")),
    }
}

/// Checks the value of `--parallel`, which is otherwise not used.
fn check_parallel(run: &mut TextRun<'_, '_>, value: &[u8]) -> Result<(), Stop> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let shown = quoted_always(value);
    match (digits, parse_digits(&value[..digits])) {
        (0, _) => run.fail(format_args!("invalid --parallel argument {shown}")),
        _ if digits < value.len() => run.fail(format_args!("invalid suffix in --parallel argument {shown}")),
        (_, 0) => run.fail("number in parallel must be nonzero"),
        _ => Ok(()),
    }
}

/// Opens all inputs before any is read.
fn open_all(run: &mut TextRun<'_, '_>, names: &[Bytes]) -> Result<Vec<TextInput>, Stop> {
    let mut inputs = Vec::new();
    for name in names {
        let failed = match *name == "-" {
            true => {
                inputs.push(run.standard_input());
                continue;
            }
            false => run.try_open(name)?,
        };
        match failed {
            Ok(input) => inputs.push(input),
            Err(error) => {
                let reason = haft_fs::message(&error);
                return run.fail(format_args!("cannot read: {}: {reason}", quoted(name)));
            }
        }
    }
    Ok(inputs)
}

/// Opens the file of `-o`.
fn open_output(
    run: &mut TextRun<'_, '_>,
    name: &Bytes,
    append: bool,
) -> Result<std::sync::Arc<haft_kernel::io::OpenFile>, Stop> {
    match run.context.open_output(name, append)? {
        Ok(file) => Ok(file),
        Err(error) => {
            let reason = haft_fs::message(&error);
            run.fail(format_args!("open failed: {}: {reason}", quoted(name)))
        }
    }
}

/// `-c`: finds the first line that is not in order.
fn check(
    run: &mut TextRun<'_, '_>,
    settings: &SortSettings,
    name: &Bytes,
    with_message: bool,
) -> Result<(), Stop> {
    let Some(mut input) = run.open(name)? else { return Err(Stop::Exit(2)) };
    let (mut previous, mut line, mut number) = (None::<Vec<u8>>, Vec::new(), 0u64);
    while input.read_line(run, settings.end, &mut line)? {
        if line.last() == Some(&settings.end) {
            line.pop();
        }
        settings.order.accept(run, &line)?;
        number += 1;
        let is_disorder = previous.as_ref().is_some_and(|previous| {
            let order = settings.order.compare(previous, &line);
            order.is_gt() || (order.is_eq() && settings.order.unique)
        });
        if is_disorder {
            if with_message {
                let start = format!("sort: {}:{number}: disorder: ", String::from_utf8_lossy(name));
                let message = [start.as_bytes(), &line, &[settings.end]].concat();
                run.context.print_error(&message);
                run.context.flush();
            }
            return Err(Stop::Exit(1));
        }
        previous = Some(std::mem::take(&mut line));
    }
    if input.has_failed() { Err(Stop::Exit(2)) } else { Ok(()) }
}
