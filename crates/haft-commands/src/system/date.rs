//! `date`: writes a time.

mod format;
mod lexer;
mod parse;
mod words;

use std::time::{SystemTime, UNIX_EPOCH};

use haft_fs::Timestamp;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};
use haft_text::printf::time_zone::LocalZone;

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::group::gnu_command;
use crate::rows::{JsonCell, column, json_option, time_text};
use crate::step_aside::is_same_in_programs;
use crate::text::streams::{Stop, TextRun, run_text};
pub(crate) use parse::{is_normal, parse};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "date",
    summary: "Write the time, or another one, in some format.",
    style: ArgumentStyle::GnuMixed(&["[+FORMAT]"]),
    parameters: &[
        CommandParameter::new("date", ParameterKind::Text, "Write this time instead of the current one.")
            .letter('d'),
        CommandParameter::new(
            "iso-8601",
            ParameterKind::OptionalText,
            "Write in the format of ISO 8601. TEXT is `date` (the default), `hours`, `minutes`, `seconds` or `ns`.",
        )
        .letter('I'),
        CommandParameter::new("reference", ParameterKind::Text, "Write the modification time of a file.")
            .letter('r')
            .with_value_name("FILE"),
        CommandParameter::new("rfc-email", ParameterKind::Flag, "Write in the format of RFC 5322.").letter('R'),
        CommandParameter::new(
            "rfc-3339",
            ParameterKind::Text,
            "Write in the format of RFC 3339. TEXT is `date`, `seconds` or `ns`.",
        ),
        CommandParameter::new("utc", ParameterKind::Flag, "Use UTC.").letter('u'),
        json_option(&[
            column("text", JsonKind::Text, "The time in the chosen format."),
            column("utc", JsonKind::Text, "The time in UTC, in the format of ISO 8601."),
            column("seconds", JsonKind::Number, "The seconds since 1970."),
            column("nanoseconds", JsonKind::Number, "The nanoseconds since the last second."),
        ]),
    ],
    details: &[
        "FORMAT has the conversions of `strftime`, and `%N` (nanoseconds), `%q` (quarter), `%:z` (`+hh:mm`), `%::z` and `%:::z`.",
        "A time for `--date` has dates such as `2024-02-29`, `29 Feb 2024`, `2/29/2024` and `20240229`, times of day such as `13:45:10.5` \
         and `1pm`, weekdays, time zones, `@SECONDS`, and relative parts such as `tomorrow`, `3 days ago` and `next month`.",
        "The time zone is that of `TZ`. Names are those of the C locale.",
    ],
    statuses: &[("0", "success"), ("1", "a time or a format is not valid")],
    examples: &[
        Example {
            summary: "A time in seconds, as text",
            script: "date -u -d @86400 '+%F %T'",
            output: "1970-01-02 00:00:00\n",
            status: 0,
        },
        Example {
            summary: "A relative time",
            script: "date -u -I -d '2024-02-28 +2 days'",
            output: "2024-03-01\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..gnu_command(&DESCRIPTOR, run) };

/// The program sets the time, and reads more dates and formats.
fn steps_aside(session: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    if !is_same_in_programs(session, "TZ") || arguments.text("reference").is_some_and(|name| *name == "-") {
        return true;
    }
    let zone = session.time_zone();
    let is_known = arguments.text("date").is_none_or(|text| parse(text, PointInTime::now(), &zone).is_some());
    let formats = arguments.operands.iter().map(|operand| operand.strip_prefix(b"+"));
    let is_shown = |format: Option<&[u8]>| {
        format.is_some_and(|format| format::format(format, PointInTime::now(), &zone).is_ok())
    };
    !is_known || !formats.into_iter().all(is_shown)
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointInTime {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
}

impl PointInTime {
    fn now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX), nanoseconds: now.subsec_nanos() }
    }
}

/// The formats of `--iso-8601`, in the order of GNU's message.
const ISO_FORMATS: [(&str, &str); 5] = [
    ("hours", "%Y-%m-%dT%H%:z"),
    ("minutes", "%Y-%m-%dT%H:%M%:z"),
    ("date", "%Y-%m-%d"),
    ("seconds", "%Y-%m-%dT%H:%M:%S%:z"),
    ("ns", "%Y-%m-%dT%H:%M:%S,%N%:z"),
];

/// The formats of `--rfc-3339`.
const RFC_3339_FORMATS: [(&str, &str); 3] =
    [("date", "%Y-%m-%d"), ("seconds", "%Y-%m-%d %H:%M:%S%:z"), ("ns", "%Y-%m-%d %H:%M:%S.%N%:z")];

const EMAIL_FORMAT: &str = "%a, %d %b %Y %H:%M:%S %z";
const DEFAULT_FORMAT: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let format = chosen_format(run, arguments)?;
        if arguments.get("date").is_some() && arguments.get("reference").is_some() {
            return run.usage("the options to specify dates for printing are mutually exclusive");
        }
        let format = with_operands(run, arguments, format)?;
        let zone = match arguments.flag("utc") {
            true => LocalZone::utc(),
            false => run.context.session().time_zone(),
        };
        let Some(time) = wanted_time(run, arguments, &zone)? else { return Ok(()) };
        match format::format(&format, time, &zone) {
            Ok(mut text) => {
                let stamp = Timestamp { seconds: time.seconds, nanoseconds: time.nanoseconds };
                let (shown, utc) = (text.as_slice().into(), time_text(stamp).into());
                run.row(|| vec![shown, utc, JsonCell::Integer(time.seconds), time.nanoseconds.into()]);
                text.push(b'\n');
                run.write(&text)
            }
            Err(conversion) => {
                let shown = run.quote(&conversion);
                run.fail(format_args!("conversion {shown} is not supported"))
            }
        }
    })
}

/// The format that an option chooses.
fn chosen_format(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
) -> Result<Option<&'static str>, Stop> {
    let mut format = None;
    for (name, value) in arguments.in_order() {
        let new = match (name, value) {
            ("rfc-email", _) => EMAIL_FORMAT,
            ("iso-8601", ArgumentValue::Text(text)) if text.is_empty() => ISO_FORMATS[2].1,
            ("iso-8601", ArgumentValue::Text(text)) => choice(run, "--iso-8601", text, &ISO_FORMATS)?,
            ("rfc-3339", ArgumentValue::Text(text)) => choice(run, "--rfc-3339", text, &RFC_3339_FORMATS)?,
            _ => continue,
        };
        if format.is_some() {
            return run.fail("multiple output formats specified");
        }
        format = Some(new);
    }
    Ok(format)
}

/// Finds a word of a list, or one that begins with the text.
fn choice(
    run: &mut TextRun<'_, '_>,
    option: &str,
    text: &Bytes,
    list: &[(&'static str, &'static str)],
) -> Result<&'static str, Stop> {
    let begins: Vec<_> = list.iter().filter(|(name, _)| name.as_bytes().starts_with(text)).collect();
    if let [(_, format)] = begins[..] {
        return Ok(format);
    }
    let kind = if begins.is_empty() || text.is_empty() { "invalid" } else { "ambiguous" };
    let (shown, option) = (run.quote(text), run.quote(option.as_bytes()));
    let valid: Vec<String> =
        list.iter().map(|(name, _)| format!("\n  - {}", run.quote(name.as_bytes()))).collect();
    run.usage(format_args!("{kind} argument {shown} for {option}\nValid arguments are:{}", valid.concat()))
}

/// Adds the format that the operand holds.
fn with_operands(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    format: Option<&str>,
) -> Result<Vec<u8>, Stop> {
    let operand = match arguments.operands.as_slice() {
        [] => return Ok(format.map_or(DEFAULT_FORMAT, str::as_bytes).to_vec()),
        [only] => only,
        [_, extra, ..] => return run.extra_operand(extra),
    };
    match operand.strip_prefix(b"+") {
        Some(_) if format.is_some() => run.fail("multiple output formats specified"),
        Some(format) => Ok(format.to_vec()),
        None if arguments.get("date").is_some() || arguments.get("reference").is_some() => {
            let shown = run.quote(operand);
            run.usage(format_args!(
                "the argument {shown} lacks a leading '+';\nwhen using an option to specify date(s), any non-option\n\
                 argument must be a format string beginning with '+'"
            ))
        }
        None => {
            let shown = run.quote(operand);
            run.fail(format_args!("invalid date {shown}"))
        }
    }
}

/// The time to write. `None` if a file cannot be read.
fn wanted_time(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    zone: &LocalZone,
) -> Result<Option<PointInTime>, Stop> {
    if let Some(text) = arguments.text("date") {
        let parsed = parse(text, PointInTime::now(), zone);
        return match parsed {
            Some(time) => Ok(Some(time)),
            None => {
                let shown = run.quote(text);
                run.fail(format_args!("invalid date {shown}"))
            }
        };
    }
    let Some(name) = arguments.text("reference") else { return Ok(Some(PointInTime::now())) };
    let session = run.context.session();
    match session.files().metadata(haft_text::path(&session.resolve(name))) {
        Ok(metadata) => {
            let modified = metadata.modified;
            Ok(Some(PointInTime { seconds: modified.seconds, nanoseconds: modified.nanoseconds }))
        }
        Err(error) => {
            run.file_failed(crate::text::name::quoted(name), &error);
            Ok(None)
        }
    }
}
