//! `diff`: shows how two files differ.

mod algorithm;
mod boundaries;
mod confusing;
mod files;
mod hunks;
mod lines;
mod output;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::{TROUBLE, has_two_files};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::group::gnu_command;
use crate::rows::{column, json_option};
use crate::step_aside::is_same_in_programs;
use crate::text::number::parse_count;
use crate::text::streams::{Stop, TextRun, run_text};
use lines::Whitespace;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "diff",
    summary: "Show how two files or directories differ.",
    style: ArgumentStyle::GnuMixed(&["FILE1", "FILE2"]),
    parameters: &[
        CommandParameter::new("text", ParameterKind::Flag, "Treat all files as text.").letter('a'),
        CommandParameter::new(
            "ignore-space-change",
            ParameterKind::Flag,
            "Ignore changes in the amount of blanks.",
        )
        .letter('b'),
        CommandParameter::new(
            "ignore-blank-lines",
            ParameterKind::Flag,
            "Ignore changes of empty lines only.",
        )
        .letter('B'),
        CommandParameter::short_flag("c", 'c', "Write the context format with 3 lines."),
        CommandParameter::new(
            "context",
            ParameterKind::OptionalText,
            "Write the context format with N lines.",
        )
        .with_value_name("N"),
        CommandParameter::new("C", ParameterKind::Text, "Write the context format with N lines.")
            .letter('C')
            .without_long_option()
            .with_value_name("N"),
        CommandParameter::new("color", ParameterKind::OptionalText, "`never` is the only value.")
            .with_value_name("WHEN"),
        CommandParameter::new("ignore-case", ParameterKind::Flag, "Ignore the case of letters.").letter('i'),
        CommandParameter::new(
            "label",
            ParameterKind::Text,
            "Write TEXT instead of the name and the time of a file.",
        ),
        CommandParameter::new("new-file", ParameterKind::Flag, "Treat missing files as empty.").letter('N'),
        CommandParameter::new("normal", ParameterKind::Flag, "Write the normal format."),
        CommandParameter::new("brief", ParameterKind::Flag, "Write only whether files differ.").letter('q'),
        CommandParameter::new("recursive", ParameterKind::Flag, "Compare subdirectories too.").letter('r'),
        CommandParameter::new("report-identical-files", ParameterKind::Flag, "Report files that are equal.")
            .letter('s'),
        CommandParameter::short_flag("u", 'u', "Write the unified format with 3 lines of context."),
        CommandParameter::new(
            "unified",
            ParameterKind::OptionalText,
            "Write the unified format with N lines.",
        )
        .with_value_name("N"),
        CommandParameter::new("U", ParameterKind::Text, "Write the unified format with N lines.")
            .letter('U')
            .without_long_option()
            .with_value_name("N"),
        CommandParameter::new("ignore-all-space", ParameterKind::Flag, "Ignore all blanks.").letter('w'),
        json_option(&[
            column("old", JsonKind::Text, "The name of the first file."),
            column("new", JsonKind::Text, "The name of the second file."),
            column(
                "old_start",
                JsonKind::Number,
                "The number of the first line that was replaced, or of the line before an insertion. Null if it is only known that the files differ.",
            ),
            column("old_lines", JsonKind::Texts, "The lines that were replaced."),
            column("new_start", JsonKind::Number, "The same for the second file."),
            column("new_lines", JsonKind::Texts, "The lines that replace them."),
        ]),
    ],
    details: &["Letters and names are those of the C locale."],
    statuses: &[("0", "no differences"), ("1", "differences"), ("2", "trouble")],
    examples: &[Example {
        summary: "Changes in the unified format",
        script: "printf '%s\\n' a b c > /tmp/1; printf '%s\\n' a x c > /tmp/2; diff -u --label old --label new /tmp/1 /tmp/2",
        output: "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n",
        status: 1,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: TROUBLE,
    steps_aside: Some(steps_aside),
    ..gnu_command(&DESCRIPTOR, run)
};

/// The program compares directories, and shortens the search for differences in large files.
fn steps_aside(session: &mut Session, arguments: &CommandArguments, _: &[Bytes]) -> bool {
    const MAX_FILE_BYTES: u64 = 32 << 10;
    arguments.text("color").is_some()
        || !has_two_files(session, &arguments.operands, MAX_FILE_BYTES)
        || !is_same_in_programs(session, "TZ")
}

/// How differences are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffStyle {
    Normal,
    Unified,
    Context,
}

/// The options.
struct DiffSettings {
    style: DiffStyle,
    context: usize,
    whitespace: Whitespace,
    ignores_case: bool,
    ignores_blank_lines: bool,
    is_text: bool,
    is_brief: bool,
    is_recursive: bool,
    reports_identical: bool,
    takes_new: bool,
    labels: Vec<Bytes>,
    /// The options as they were written, for the headers of a comparison of directories.
    written: Vec<u8>,
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    run_text(context, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let settings = settings(run, arguments, words)?;
        match arguments.operands.as_slice() {
            [first, second] => {
                let status = settings.compare_operands(run, first, second)?;
                run.set_status(status);
                Ok(())
            }
            [_, _, extra, ..] => {
                let shown = run.quote(extra);
                usage(run, format!("extra operand {shown}"))
            }
            few => {
                let last = few.last().cloned().unwrap_or_else(|| Bytes::from("diff"));
                let shown = run.quote(&last);
                usage(run, format!("missing operand after {shown}"))
            }
        }
    })
}

fn usage<T>(run: &mut TextRun<'_, '_>, message: impl std::fmt::Display) -> Result<T, Stop> {
    run.complain(message);
    run.complain("Try 'diff --help' for more information.");
    Err(Stop::Exit(TROUBLE))
}

/// The lines of context without a number.
const DEFAULT_CONTEXT: usize = 3;

fn settings(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    words: &[Bytes],
) -> Result<DiffSettings, Stop> {
    let mut style = None;
    let mut context = None;
    let mut labels = Vec::new();
    for (name, value) in arguments.in_order() {
        let new = match name {
            "u" | "U" | "unified" => DiffStyle::Unified,
            "c" | "C" | "context" => DiffStyle::Context,
            "normal" => DiffStyle::Normal,
            "label" => {
                if let ArgumentValue::Text(text) = value {
                    labels.push(text.clone());
                }
                continue;
            }
            "color" if !matches!(value, ArgumentValue::Text(text) if *text == "never") => {
                return usage(run, "only --color=never is supported");
            }
            _ => continue,
        };
        let lines = match value {
            ArgumentValue::Text(text) if !text.is_empty() => {
                let Some(lines) = parse_count(text) else {
                    let shown = format!("'{}'", text.lossy());
                    return usage(run, format!("invalid context length {shown}"));
                };
                usize::try_from(lines).unwrap_or(usize::MAX / 4).min(usize::MAX / 4)
            }
            _ if new == DiffStyle::Normal => 0,
            _ => DEFAULT_CONTEXT,
        };
        if style.is_some_and(|old| old != new) {
            return usage(run, "conflicting output style options");
        }
        style = Some(new);
        context = Some(context.unwrap_or(0).max(lines));
    }
    let whitespace = match (arguments.flag("ignore-all-space"), arguments.flag("ignore-space-change")) {
        (true, _) => Whitespace::Ignored,
        (false, true) => Whitespace::AmountIgnored,
        (false, false) => Whitespace::Significant,
    };
    Ok(DiffSettings {
        style: style.unwrap_or(DiffStyle::Normal),
        context: context.unwrap_or(0),
        whitespace,
        ignores_case: arguments.flag("ignore-case"),
        ignores_blank_lines: arguments.flag("ignore-blank-lines"),
        is_text: arguments.flag("text"),
        is_brief: arguments.flag("brief"),
        is_recursive: arguments.flag("recursive"),
        reports_identical: arguments.flag("report-identical-files"),
        takes_new: arguments.flag("new-file"),
        labels,
        written: written_options(arguments, words),
    })
}

/// The words that are not operands.
fn written_options(arguments: &CommandArguments, words: &[Bytes]) -> Vec<u8> {
    let mut operands = arguments.operands.iter().peekable();
    let mut written = Vec::new();
    for word in words {
        if operands.peek() == Some(&word) {
            operands.next();
        } else if *word != "--" {
            written.push(b' ');
            written.extend_from_slice(crate::text::name::quoted(word).as_bytes());
        }
    }
    written
}
