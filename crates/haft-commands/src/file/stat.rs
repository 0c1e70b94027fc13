//! `stat`: shows the metadata of files.

use std::os::unix::ffi::OsStringExt as _;

use haft_fs::FileType;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use super::quote::QuotingStyle;
use super::stat_format::{StatFormatter, StatSubject};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::rows::{FILE_COLUMNS, file_cells, json_option};
use crate::system::accounts::Accounts;
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "stat",
    summary: "Show the metadata of files.",
    style: ArgumentStyle::GnuMixed(&["FILE..."]),
    parameters: &[
        CommandParameter::new("dereference", ParameterKind::Flag, "Follow symbolic links.").letter('L'),
        CommandParameter::new("format", ParameterKind::Text, "Write FORMAT and a newline for each file.")
            .letter('c')
            .with_value_name("FORMAT"),
        CommandParameter::new(
            "printf",
            ParameterKind::Text,
            "The same with backslash escapes and without a newline.",
        )
        .with_value_name("FORMAT"),
        CommandParameter::new("terse", ParameterKind::Flag, "Write all fields in one line.").letter('t'),
        json_option(FILE_COLUMNS),
    ],
    details: &[
        "FORMAT contains `%a` (octal mode), `%A`, `%b` (blocks), `%B`, `%d` (device), `%D`, `%f` (raw mode), `%F` (type), `%g` (group), `%G`, `%h` (links), `%i` (inode), `%n` (name), `%N` (quoted name), `%o`, `%s` (size), `%t`, `%T`, `%u` (user), `%U`, `%w %W` (birth), `%x %X` (access), `%y %Y` (modification), `%z %Z` (change). `%m` and `%C` are errors.",
    ],
    statuses: &[("0", "success"), ("1", "a file could not be read")],
    examples: &[Example {
        summary: "Size and mode",
        script: "umask 022; printf 12345 > f; stat -c \"%n %s %a %F\" f",
        output: "f 5 644 regular file\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| super::step_aside::stat(session, arguments)),
    ..gnu_command(&DESCRIPTOR, run)
};

/// The formats without `-c`: for files, and for devices.
const DEFAULT_START: &str = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n";
const DEFAULT_LINKS: &str = "Device: %Hd,%Ld\tInode: %-10i  Links: %h\n";
const DEVICE_LINKS: &str = "Device: %Hd,%Ld\tInode: %-10i  Links: %-5h Device type: %Hr,%Lr\n";
const DEFAULT_END: &str = "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n\
    Access: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        if arguments.operands.is_empty() {
            return run.usage("missing operand");
        }
        let format = arguments.in_order().rev().find_map(|(name, value)| match (name, value) {
            ("format", ArgumentValue::Text(format)) => Some([format, b"\n".as_slice()].concat()),
            ("printf", ArgumentValue::Text(format)) => Some(format.to_vec()),
            _ => None,
        });
        let escapes = arguments.in_order().rev().find(|(name, _)| matches!(*name, "format" | "printf"));
        let escapes = escapes.is_some_and(|(name, _)| name == "printf");
        let format = format.or_else(|| arguments.flag("terse").then(|| TERSE.as_bytes().to_vec()));
        let session = run.context.session();
        let style = match format {
            Some(_) => QuotingStyle::ShellEscapeAlways,
            None => QuotingStyle::ShellEscape,
        };
        let reporting = StatFormatter {
            accounts: Accounts::read(session),
            zone: session.time_zone(),
            encoding: session.encoding(),
            style,
            escapes,
        };
        for name in &arguments.operands {
            show(run, arguments, &reporting, format.as_deref(), name)?;
        }
        Ok(())
    })
}

fn show(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    reporting: &StatFormatter,
    format: Option<&[u8]>,
    name: &[u8],
) -> Result<(), Stop> {
    run.context.check()?;
    let follow = arguments.flag("dereference");
    let found = match (name, follow) {
        (b"-", _) => match run.context.file(0) {
            Some(file) => file.metadata(),
            None => Err(rustix::io::Errno::BADF.into()),
        },
        (_, true) => run.stat(name),
        (_, false) => run.lstat(name),
    };
    let metadata = match found {
        Ok(metadata) => metadata,
        Err(error) => {
            run.name_failed("cannot statx", name, &error);
            return Ok(());
        }
    };
    let is_device = matches!(metadata.kind, FileType::CharacterDevice | FileType::BlockDevice);
    let links = if is_device { DEVICE_LINKS } else { DEFAULT_LINKS };
    let default = [DEFAULT_START, links, DEFAULT_END].concat();
    let path = run.path(name);
    let target = run.files().read_link(&path).ok().filter(|_| metadata.is_symlink());
    let target = target.map(|target| target.into_os_string().into_vec());
    run.row(|| file_cells(name, &metadata, target.as_deref()));
    let subject =
        StatSubject { name, metadata, target, birth: run.files().birth_time(&path, follow).ok().flatten() };
    let mut output = Vec::new();
    let result = reporting.format(format.unwrap_or(default.as_bytes()), &subject, &mut output);
    run.write(&output)?;
    match result {
        Ok(()) => Ok(()),
        Err(problem) => run.fail(problem),
    }
}
