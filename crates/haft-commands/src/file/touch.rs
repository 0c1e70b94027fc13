//! `touch`: changes the times of files.

use std::io;

use haft_fs::{FileTimes, OpenOptions, TimeChange};
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::date::{parse_date, parse_stamp};
use super::time::now;
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::{Choices, Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "touch",
    summary: "Set the times of files, and make missing ones.",
    style: ArgumentStyle::GnuMixed(&["FILE..."]),
    parameters: &[CommandParameter::short_flag("a", 'a', "Change only the time of the last access."),
CommandParameter::new("no-create", ParameterKind::Flag, "Make no files.").letter('c'),
CommandParameter::new("date", ParameterKind::Text, "Use DATE instead of the current time: `@SECONDS`, `now`, or a date such as `2024-05-01 12:30:00`.").letter('d').with_value_name("DATE"),
CommandParameter::new("no-dereference", ParameterKind::Flag, "Change symbolic links themselves.").letter('h'),
CommandParameter::short_flag("m", 'm', "Change only the time of the last change of the content."),
CommandParameter::new("reference", ParameterKind::Text, "Use the times of FILE.").letter('r').with_value_name("FILE"),
CommandParameter::new("t", ParameterKind::Text, "Use a time written `[[CC]YY]MMDDhhmm[.ss]`.").letter('t').without_long_option().with_value_name("STAMP"),
CommandParameter::new("time", ParameterKind::Text, "Change only this time: `atime` or `mtime`.").with_value_name("WORD")],
    details: &["Other forms of DATE are errors."],
    statuses: &[("0", "success"), ("1", "a file was not changed")],
    examples: &[Example { summary: "Set a time", script: "touch -d \"2024-05-01 12:30\" f; ls --full-time f", output: "-rw-r--r-- 1 1000 1000 0 2024-05-01 12:30:00.000000000 +0000 f\n", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::touch(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

struct Touching {
    accessed: TimeChange,
    modified: TimeChange,
    keep_link: bool,
    no_create: bool,
    /// Whether a missing file is not an error.
    ignores_missing: bool,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let (access, modify) = selection(run, arguments)?;
        let [accessed, modified] = times(run, arguments)?;
        if arguments.operands.is_empty() {
            return run.usage("missing file operand");
        }
        let touching = Touching {
            accessed: if access { accessed } else { TimeChange::Keep },
            modified: if modify { modified } else { TimeChange::Keep },
            keep_link: arguments.flag("no-dereference"),
            ignores_missing: arguments.flag("no-create"),
            no_create: arguments.flag("no-create") || arguments.flag("no-dereference"),
        };
        for name in &arguments.operands {
            run.context.check()?;
            touching.touch(run, name);
        }
        Ok(())
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TouchedTime {
    Access,
    Modify,
}

const TIMES: &Choices<TouchedTime> =
    &[(&["atime", "access", "use"], TouchedTime::Access), (&["mtime", "modify"], TouchedTime::Modify)];

/// Which times are changed: that of the last access, and that of the content.
fn selection(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<(bool, bool), Stop> {
    let (mut access, mut modify) = (arguments.flag("a"), arguments.flag("m"));
    for (_, value) in arguments.in_order().filter(|(name, _)| *name == "time") {
        let ArgumentValue::Text(word) = value else { continue };
        match run.choice("--time", word, TIMES)? {
            TouchedTime::Access => access = true,
            TouchedTime::Modify => modify = true,
        }
    }
    Ok(if access || modify { (access, modify) } else { (true, true) })
}

/// The new times.
fn times(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<[TimeChange; 2], Stop> {
    let (date, reference) = (arguments.text("date"), arguments.text("reference"));
    let zone = run.context.session().time_zone();
    let invalid = |run: &mut TextRun<'_, '_>, text: &[u8]| {
        let shown = run.quote(text);
        run.fail(format_args!("invalid date format {shown}"))
    };
    let mut stamped = None;
    for (_, value) in arguments.in_order().filter(|(name, _)| *name == "t") {
        let ArgumentValue::Text(text) = value else { continue };
        match parse_stamp(&zone, text) {
            Some(time) => stamped = Some([TimeChange::At(time); 2]),
            None => return invalid(run, text),
        }
    }
    if let Some(times) = stamped {
        return match date.is_some() || reference.is_some() {
            true => run.usage("cannot specify times from more than one source"),
            false => Ok(times),
        };
    }
    let mut found = [TimeChange::Now; 2];
    if let Some(name) = reference {
        let keep_link = arguments.flag("no-dereference");
        let metadata = if keep_link { run.lstat(name) } else { run.stat(name) };
        match metadata {
            Ok(metadata) => found = [TimeChange::At(metadata.accessed), TimeChange::At(metadata.modified)],
            Err(error) => {
                run.name_failed("failed to get attributes of", name, &error);
                return Err(Stop::Exit(1));
            }
        }
    }
    let Some(text) = date else { return Ok(found) };
    if text.as_ref() == b"now" && reference.is_none() {
        return Ok(found);
    }
    let base = |change| match change {
        TimeChange::At(time) => time,
        _ => now(),
    };
    match (parse_date(&zone, text, base(found[0])), parse_date(&zone, text, base(found[1]))) {
        (Some(accessed), Some(modified)) => Ok([TimeChange::At(accessed), TimeChange::At(modified)]),
        _ => invalid(run, text),
    }
}

impl Touching {
    fn touch(&self, run: &mut TextRun<'_, '_>, name: &[u8]) {
        // `-` is standard output, whose times do not matter here.
        if name == b"-" {
            return;
        }
        let path = run.path(name);
        let opened = match self.no_create {
            true => Ok(()),
            false => {
                let mode = 0o666 & !run.context.session().umask();
                let options = OpenOptions::new().write(true).create(true).nonblocking(true).mode(mode);
                run.files().open(&path, &options).map(drop)
            }
        };
        let times = FileTimes { accessed: self.accessed, modified: self.modified, keep_link: self.keep_link };
        let Err(error) = run.files().set_times(&path, &times) else { return };
        match opened {
            // A directory cannot be opened for writing, but its times can be set.
            Err(open_error) if !is_directory_error(&open_error) => {
                run.name_failed("cannot touch", name, &open_error);
            }
            _ if self.ignores_missing && error.kind() == io::ErrorKind::NotFound => {}
            _ => run.name_failed("setting times of", name, &error),
        }
    }
}

fn is_directory_error(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput)
}
