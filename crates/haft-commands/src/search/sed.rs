//! `sed`: edits a stream of lines.

mod address;
mod escape;
mod execute;
mod files;
mod list;
mod output;
mod parser;
mod reader;
mod script;
mod step_aside;
mod substitute;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};
use haft_text::encoding::Encoding;

use super::recent::RecentlyUsed;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::number::parse_count;
use crate::text::streams::{Stop, TextRun, Wording, run_worded};
use execute::Executor;
use files::SedFiles;
use reader::{PartOrigin, ScriptPart};
use script::{SedDialect, SedScript};

/// Wrong usage, or an invalid script.
const BAD_USAGE: i32 = 1;

/// A file cannot be opened or written.
const PANIC: i32 = 4;

/// The length of lines that `l` writes.
const DEFAULT_LINE_LENGTH: u64 = 70;

const fn flag(name: &'static str, letter: char, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Flag, summary).letter(letter)
}

const fn value(
    name: &'static str,
    letter: char,
    shown: &'static str,
    summary: &'static str,
) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).letter(letter).with_value_name(shown)
}

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "sed",
    summary: "Edit the lines of files with a script.",
    style: ArgumentStyle::GnuMixed(&["[SCRIPT]", "[FILE…]"]),
    parameters: &[
        flag("regexp-extended", 'E', "Use extended regular expressions."),
        CommandParameter::short_flag("r", 'r', "The same as -E."),
        flag("binary", 'b', "Accepted for compatibility."),
        value("expression", 'e', "SCRIPT", "Add SCRIPT to the script."),
        value("file", 'f', "FILE", "Add the content of FILE to the script."),
        CommandParameter::new(
            "in-place",
            ParameterKind::OptionalText,
            "Edit the files themselves. With SUFFIX, keep the old ones.",
        )
        .letter('i')
        .with_value_name("SUFFIX"),
        value("line-length", 'l', "N", "The length of lines that the command l writes."),
        flag("quiet", 'n', "Write lines only when the script says so."),
        CommandParameter::new("silent", ParameterKind::Flag, "The same as --quiet."),
        flag("separate", 's', "Treat files separately, not as one stream."),
        flag("unbuffered", 'u', "Write each line at once."),
        flag("null-data", 'z', "Lines end with a NUL byte."),
    ],
    details: &["The command e and the option e of s, which run programs, are not supported."],
    statuses: &[
        ("0", "success"),
        ("1", "wrong usage, or an invalid script"),
        ("2", "a file could not be read"),
        ("4", "an error while reading or writing"),
    ],
    examples: &[
        Example {
            summary: "Replace text",
            script: "echo 'hello world' | sed 's/o\\(.\\)/\\U\\1/2'",
            output: "hello wRld\n",
            status: 0,
        },
        Example {
            summary: "Write some of the lines",
            script: "seq 9 | sed -n '2~3p'",
            output: "2\n5\n8\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: BAD_USAGE,
    steps_aside: Some(|session, arguments, _| step_aside::steps_aside(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// The options of a call.
pub(super) struct SedSettings {
    is_quiet: bool,
    /// The suffix of `-i`.
    in_place: Option<Bytes>,
    is_separate: bool,
    is_unbuffered: bool,
    line_length: u64,
    /// The byte at the end of a line.
    end: u8,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_worded(context, Wording::Sed, |run| {
        let mut operands = arguments.operands.clone();
        let parts = script_parts(run, arguments, &mut operands)?;
        let dialect = dialect(arguments, run.context.session().encoding());
        let script =
            match RECENT.get_or_make((parts, dialect), |(parts, dialect)| parser::parse(parts, *dialect)) {
                Ok(script) => script,
                Err((script, (message, status))) => {
                    output::open_all(run, &script.outputs)?;
                    run.complain(message);
                    return Err(Stop::Exit(status));
                }
            };
        let settings = settings(run, arguments, script.is_quiet)?;
        if settings.in_place.is_some() && operands.is_empty() {
            return run.fail("no input files");
        }
        let files = SedFiles::new(operands, &settings, script.can_quit());
        Executor::new(run, &script, settings, dialect.encoding, files)?.run(run)
    })
}

/// The scripts of the last calls.
static RECENT: RecentlyUsed<(Vec<ScriptPart>, SedDialect), SedScript> = RecentlyUsed::new();

fn dialect(arguments: &CommandArguments, encoding: Encoding) -> SedDialect {
    let is_extended = arguments.flag("regexp-extended") || arguments.flag("r");
    SedDialect { is_extended, is_null_data: arguments.flag("null-data"), encoding }
}

fn settings(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    is_quiet: bool,
) -> Result<SedSettings, Stop> {
    let line_length = match arguments.text("line-length") {
        None => default_line_length(run),
        Some(text) => match parse_count(text) {
            Some(length) => length,
            None => return run.usage(format_args!("invalid line length '{text}'")),
        },
    };
    let in_place = arguments.text("in-place").cloned();
    Ok(SedSettings {
        is_quiet: is_quiet || arguments.flag("quiet") || arguments.flag("silent"),
        is_separate: in_place.is_some() || arguments.flag("separate"),
        in_place,
        is_unbuffered: arguments.flag("unbuffered"),
        line_length,
        end: line_end(arguments),
    })
}

/// The length of lines that `l` writes without an option: one less than the exported variable `COLS`.
fn default_line_length(run: &mut TextRun<'_, '_>) -> u64 {
    let environment = run.context.session_mut().environment();
    let columns = environment.iter().find(|(name, _)| *name == "COLS");
    let digits =
        |text: &str| text.trim_start().split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    let columns: Option<u64> = columns.and_then(|(_, value)| digits(value.to_str()?));
    columns.filter(|columns| *columns > 1).map_or(DEFAULT_LINE_LENGTH, |columns| columns - 1)
}

/// The byte at the end of a line.
fn line_end(arguments: &CommandArguments) -> u8 {
    if arguments.flag("null-data") { 0 } else { b'\n' }
}

/// The parts of the script, from options or from the first operand.
fn script_parts(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    operands: &mut Vec<Bytes>,
) -> Result<Vec<ScriptPart>, Stop> {
    let mut parts = Vec::new();
    let mut expressions = 0;
    for (name, value) in arguments.in_order() {
        let ArgumentValue::Text(text) = value else { continue };
        match name {
            "expression" => {
                expressions += 1;
                parts.push(ScriptPart { text: text.clone(), origin: PartOrigin::Expression(expressions) });
            }
            "file" => {
                let text = read_script(run, text)?;
                parts.push(text);
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        if operands.is_empty() {
            run.context.print_error(crate::help(&DESCRIPTOR).as_bytes());
            run.context.flush();
            return Err(Stop::Exit(BAD_USAGE));
        }
        let text = operands.remove(0);
        parts.push(ScriptPart { text, origin: PartOrigin::Expression(1) });
    }
    Ok(parts)
}

fn read_script(run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<ScriptPart, Stop> {
    let opened = match *name == "-" {
        true => Ok(run.standard_input()),
        false => run.try_open(name)?,
    };
    match opened {
        Ok(input) => {
            // What cannot be read, such as a directory, is empty.
            let text = input.worded(Wording::Silent).read_all(run)?;
            run.set_status(0);
            Ok(ScriptPart { text: Bytes::from(text), origin: PartOrigin::File(name.clone()) })
        }
        Err(error) => {
            let reason = haft_fs::message(&error);
            run.complain(format_args!("couldn't open file {name}: {reason}"));
            Err(Stop::Exit(PANIC))
        }
    }
}
