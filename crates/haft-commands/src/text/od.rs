//! `od`: shows the bytes of files as numbers or characters.

mod block;
mod format;
mod input;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::name::quoted_always;
use super::number::parse_size;
use super::streams::{Stop, TextRun, run_text};
use super::text_command;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind, option};
use block::{Addresses, BlockWriter};
use format::{FormatError, OutputFormat};
use input::JoinedInput;

/// Options that are short for a format.
const SHORT_FORMATS: [(&str, char, &str); 19] = [
    ("a", 'a', "a"),
    ("b", 'b', "o1"),
    ("B", 'B', "o2"),
    ("c", 'c', "c"),
    ("d", 'd', "u2"),
    ("D", 'D', "u4"),
    ("e", 'e', "fD"),
    ("f", 'f', "fF"),
    ("F", 'F', "fD"),
    ("h", 'h', "x2"),
    ("H", 'H', "x4"),
    ("i", 'i', "dI"),
    ("l", 'l', "dL"),
    ("L", 'L', "dL"),
    ("o", 'o', "o2"),
    ("O", 'O', "o4"),
    ("s", 's', "d2"),
    ("x", 'x', "x2"),
    ("X", 'X', "x4"),
];

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "od",
    summary: "Show the bytes of files as numbers or characters.",
    style: ArgumentStyle::GnuMixed(&["[FILE]..."]),
    parameters: &[
        option(
            "address-radix",
            'A',
            "RADIX",
            "Write addresses in octal (o), decimal (d), hexadecimal (x) or not (n).",
        ),
        CommandParameter::new("endian", ParameterKind::Text, "Numbers are 'little' or 'big' endian."),
        option("skip-bytes", 'j', "N", "Skip N bytes."),
        option("read-bytes", 'N', "N", "Read at most N bytes."),
        option("format", 't', "TYPE", "Write numbers or characters of this type. Can be repeated."),
        CommandParameter::new(
            "output-duplicates",
            ParameterKind::Flag,
            "Write lines that repeat the one before.",
        )
        .letter('v'),
        CommandParameter::new(
            "width",
            ParameterKind::OptionalText,
            "Write N bytes per line (default 16, or 32 without N).",
        )
        .letter('w')
        .with_value_name("N"),
        CommandParameter::short_flag("a", 'a', "The same as -t a."),
        CommandParameter::short_flag("b", 'b', "The same as -t o1."),
        CommandParameter::short_flag("B", 'B', "The same as -t o2."),
        CommandParameter::short_flag("c", 'c', "The same as -t c."),
        CommandParameter::short_flag("d", 'd', "The same as -t u2."),
        CommandParameter::short_flag("D", 'D', "The same as -t u4."),
        CommandParameter::short_flag("e", 'e', "The same as -t fD."),
        CommandParameter::short_flag("f", 'f', "The same as -t fF."),
        CommandParameter::short_flag("F", 'F', "The same as -t fD."),
        CommandParameter::short_flag("h", 'h', "The same as -t x2."),
        CommandParameter::short_flag("H", 'H', "The same as -t x4."),
        CommandParameter::short_flag("i", 'i', "The same as -t dI."),
        CommandParameter::short_flag("l", 'l', "The same as -t dL."),
        CommandParameter::short_flag("L", 'L', "The same as -t dL."),
        CommandParameter::short_flag("o", 'o', "The same as -t o2."),
        CommandParameter::short_flag("O", 'O', "The same as -t o4."),
        CommandParameter::short_flag("s", 's', "The same as -t d2."),
        CommandParameter::short_flag("x", 'x', "The same as -t x2."),
        CommandParameter::short_flag("X", 'X', "The same as -t x4."),
    ],
    details: &[
        "TYPE is a (named characters), c (characters with escapes), d, u, o, x (numbers) or f (floating point). A number has a \
         size in bytes, or C, S, I, L; a floating-point number has 4, 8, F or D. A 'z' after a type adds the printable characters.",
        "N of -j and -N may be octal (010) or hexadecimal (0x8), and may have a suffix: b (512), kB (1000), K (1024), and so on.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read, or the usage is wrong")],
    examples: &[Example {
        summary: "Bytes in hexadecimal, with characters",
        script: "printf 'hello\\n' | od -A x -t x1z",
        output: "000000 68 65 6c 6c 6f 0a                                >hello.<\n000006\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..text_command(&DESCRIPTOR, run) };

/// The most bytes per line.
const MAX_WIDTH: usize = 1 << 20;

/// The last operand may be an offset. Long double numbers have 16 bytes.
fn steps_aside(_: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    let is_long = |value: &ArgumentValue| matches!(value, ArgumentValue::Text(text) if text.windows(2).any(|pair| pair == b"fL" || pair == b"f1"));
    has_offset(arguments)
        || arguments.in_order().any(|(name, value)| name == "format" && is_long(value))
        || arguments.text("width").is_some_and(|text| text.len() > 6)
}

/// Whether an operand is an offset or looks like one.
fn has_offset(arguments: &CommandArguments) -> bool {
    const MODERN: [&str; 6] =
        ["address-radix", "skip-bytes", "read-bytes", "format", "output-duplicates", "width"];
    let is_modern = arguments.in_order().any(|(name, _)| MODERN.contains(&name));
    let may_be = |operand: &Bytes, digits: bool| {
        operand.first().is_some_and(|first| *first == b'+' || (digits && first.is_ascii_digit()))
    };
    !is_modern
        && match arguments.operands.as_slice() {
            [only] => may_be(only, false),
            [_, second] => may_be(second, true),
            _ => false,
        }
}

/// The options.
struct DumpOptions {
    formats: Vec<OutputFormat>,
    addresses: Addresses,
    skip: u64,
    limit: Option<u64>,
    width: Option<usize>,
    is_big_endian: bool,
    shows_duplicates: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if has_offset(arguments) {
            return run.usage("offsets as operands are not supported, use -j");
        }
        let options = parse_options(run, arguments)?;
        let end = match options.limit {
            None => None,
            Some(limit) => match options.skip.checked_add(limit) {
                Some(end) => Some(end),
                None => return run.fail("skip-bytes + read-bytes is too large"),
            },
        };
        let mut input = JoinedInput::new(arguments.operands.clone());
        if !input.open_next(run)? || !input.skip(run, options.skip)? {
            return Ok(());
        }
        let width = line_width(run, &options);
        let mut writer = BlockWriter::new(options.formats, width, options.addresses, options.is_big_endian);
        writer.shows_duplicates = options.shows_duplicates;
        writer.dump(run, &mut input, options.skip, end)
    })
}

/// The number of bytes per line.
fn line_width(run: &mut TextRun<'_, '_>, options: &DumpOptions) -> usize {
    const DEFAULT_WIDTH: usize = 16;
    let unit = format::common_size(&options.formats);
    match options.width {
        None => unit * (DEFAULT_WIDTH / unit).max(1),
        Some(width) if width > 0 && width % unit == 0 => width,
        Some(width) => {
            run.complain(format_args!("warning: invalid width {width}; using {unit} instead"));
            unit
        }
    }
}

fn parse_options(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<DumpOptions, Stop> {
    let mut options = DumpOptions {
        formats: Vec::new(),
        addresses: Addresses::Octal,
        skip: 0,
        limit: None,
        width: None,
        is_big_endian: false,
        shows_duplicates: false,
    };
    let mut has_failed = false;
    for (name, value) in arguments.in_order() {
        let short = SHORT_FORMATS.iter().find(|(known, ..)| *known == name).map(|(.., format)| *format);
        match (name, value, short) {
            (_, _, Some(format)) => has_failed |= !add_formats(run, &mut options.formats, format.as_bytes()),
            ("format", ArgumentValue::Text(text), _) => {
                has_failed |= !add_formats(run, &mut options.formats, text);
            }
            ("output-duplicates", ..) => options.shows_duplicates = true,
            (_, ArgumentValue::Text(text), _) => options.set(run, name, text)?,
            _ => {}
        }
    }
    if has_failed {
        return Err(Stop::Exit(1));
    }
    if options.formats.is_empty() {
        add_formats(run, &mut options.formats, b"oS");
    }
    Ok(options)
}

/// Adds the formats of a type string. Prints an error and returns `false` if it is not valid.
fn add_formats(run: &mut TextRun<'_, '_>, formats: &mut Vec<OutputFormat>, text: &[u8]) -> bool {
    let shown = run.quote(text);
    match OutputFormat::parse_all(text) {
        Ok(parsed) => {
            formats.extend(parsed);
            return true;
        }
        Err(FormatError::Letter(letter)) => {
            let message =
                [b"invalid character '".as_slice(), &[letter], b"' in type string ", shown.as_bytes()];
            run.complain_bytes(&message.concat());
        }
        Err(FormatError::Size(size, kind)) => run.complain(format_args!(
            "invalid type string {shown};\nthis system doesn't provide a {size}-byte {kind} type"
        )),
        Err(FormatError::Number) => run.complain(format_args!("invalid type string {shown}")),
    }
    false
}

impl DumpOptions {
    /// Sets an option that has a value.
    fn set(&mut self, run: &mut TextRun<'_, '_>, name: &str, text: &[u8]) -> Result<(), Stop> {
        match name {
            "address-radix" => self.addresses = parse_radix(run, text)?,
            "skip-bytes" => self.skip = parse_bytes(run, 'j', text)?,
            "read-bytes" => self.limit = Some(parse_bytes(run, 'N', text)?),
            "width" if text.is_empty() => self.width = Some(32),
            "width" => self.width = Some(parse_width(run, text)?),
            "endian" => self.is_big_endian = parse_endian(run, text)?,
            _ => {}
        }
        Ok(())
    }
}

fn parse_radix(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<Addresses, Stop> {
    Ok(match text.first() {
        Some(b'o') => Addresses::Octal,
        Some(b'd') => Addresses::Decimal,
        Some(b'x') => Addresses::Hexadecimal,
        Some(b'n') => Addresses::None,
        other => {
            let letter = other.map_or(&[0u8][..], std::slice::from_ref);
            let message =
                [b"invalid output address radix '", letter, b"'; it must be one character from [doxn]"];
            run.complain_bytes(&message.concat());
            return Err(Stop::Exit(1));
        }
    })
}

/// Parses a count of bytes as `strtoumax` does with base 0, with a suffix.
fn parse_bytes(run: &mut TextRun<'_, '_>, letter: char, text: &[u8]) -> Result<u64, Stop> {
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => (16, rest),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let count = digits.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let shown = quoted_always(text);
    if count == 0 {
        return run.fail(format_args!("invalid -{letter} argument {shown}"));
    }
    let number = digits[..count].iter().try_fold(0u64, |number, digit| {
        let digit = char::from(*digit).to_digit(radix).unwrap_or_default();
        number.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    });
    let Some(factor) = parse_size(&[b"1", &digits[count..]].concat()) else {
        return run.fail(format_args!("invalid suffix in -{letter} argument {shown}"));
    };
    match number.and_then(|number| number.checked_mul(factor)) {
        Some(number) => Ok(number),
        None => run.fail(format_args!("-{letter} argument {shown} too large")),
    }
}

fn parse_width(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<usize, Stop> {
    let shown = quoted_always(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match super::number::parse_count(text) {
        Some(width) if width <= MAX_WIDTH as u64 => Ok(usize::try_from(width).unwrap_or(MAX_WIDTH)),
        Some(_) => run.fail("memory exhausted"),
        None if digits > 0 => run.fail(format_args!("invalid suffix in -w argument {shown}")),
        None => run.fail(format_args!("invalid -w argument {shown}")),
    }
}

/// Returns whether numbers are big endian.
fn parse_endian(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<bool, Stop> {
    match text {
        b"" => {}
        text if b"little".starts_with(text) => return Ok(false),
        text if b"big".starts_with(text) => return Ok(true),
        _ => {}
    }
    let [shown, option, little, big] = [text, b"--endian", b"little", b"big"].map(|word| run.quote(word));
    let kind = if text.is_empty() { "ambiguous" } else { "invalid" };
    run.usage(format_args!(
        "{kind} argument {shown} for {option}\nValid arguments are:\n  - {little}\n  - {big}"
    ))
}
