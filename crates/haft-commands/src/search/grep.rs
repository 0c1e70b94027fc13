//! `grep`, `egrep` and `fgrep`: search files for lines that match patterns.

mod color;
mod file_filter;
mod line_reader;
mod patterns;
mod printer;
mod settings;
mod step_aside;
mod walk;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::group::gnu_command;
use crate::rows::{column, json_option};
use crate::step_aside::small_file;
use crate::text::streams::{TextRun, Wording, run_worded};
use patterns::PatternSyntax;
use settings::GrepSettings;
use step_aside::steps_aside;

/// The option for JSON output.
const JSON_OPTION: CommandParameter = json_option(&[
    column("file", JsonKind::Text, "The name of the file."),
    column("line", JsonKind::Number, "The number of the line, or null with `-c`, `-l` and `-L`."),
    column("offset", JsonKind::Number, "The number of bytes before the line, or with `-o` before the match."),
    column("text", JsonKind::Text, "The line, or with `-o` the match."),
    column("selected", JsonKind::Boolean, "False for a line of context."),
    column("count", JsonKind::Number, "With `-c`, the number of selected lines."),
]);

/// Nothing was selected.
const NOT_SELECTED: i32 = 1;

/// An error occurred.
const TROUBLE: i32 = 2;

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

const fn long(name: &'static str, shown: &'static str, summary: &'static str) -> CommandParameter {
    CommandParameter::new(name, ParameterKind::Text, summary).with_value_name(shown)
}

const PARAMETERS: &[CommandParameter] = &[
    JSON_OPTION,
    value("after-context", 'A', "NUM", "Write NUM lines after each match."),
    value("before-context", 'B', "NUM", "Write NUM lines before each match."),
    value("context", 'C', "NUM", "Write NUM lines before and after each match."),
    flag("extended-regexp", 'E', "The patterns are extended regular expressions."),
    flag("fixed-strings", 'F', "The patterns are strings."),
    flag("basic-regexp", 'G', "The patterns are basic regular expressions (default)."),
    flag("with-filename", 'H', "Write the name of the file before each line."),
    CommandParameter::short_flag("I", 'I', "Binary files do not match."),
    flag("files-without-match", 'L', "Write only the names of files without a match."),
    flag("dereference-recursive", 'R', "Search directories, and follow symbolic links."),
    flag("initial-tab", 'T', "Align the lines with a tab."),
    flag("binary", 'U', "Accepted for compatibility."),
    flag("null", 'Z', "Write a NUL byte after the name of a file."),
    flag("text", 'a', "Treat binary files as text."),
    flag("byte-offset", 'b', "Write the offset of each line in its file."),
    flag("count", 'c', "Write only the number of matching lines of each file."),
    value("directories", 'd', "ACTION", "How to treat directories: read, recurse or skip."),
    value("devices", 'D', "ACTION", "How to treat devices: read or skip."),
    value("regexp", 'e', "PATTERNS", "Search for PATTERNS."),
    value("file", 'f', "FILE", "Take patterns from FILE, one on each line."),
    flag("no-filename", 'h', "Do not write names of files."),
    flag("ignore-case", 'i', "Ignore case."),
    CommandParameter::short_flag("y", 'y', "The same as -i."),
    flag("files-with-matches", 'l', "Write only the names of files with a match."),
    value("max-count", 'm', "NUM", "Stop after NUM lines of each file."),
    flag("line-number", 'n', "Write the number of each line."),
    flag("only-matching", 'o', "Write only the matching parts of lines."),
    flag("quiet", 'q', "Write nothing, and stop at the first match."),
    CommandParameter::new("silent", ParameterKind::Flag, "The same as --quiet."),
    flag("recursive", 'r', "Search directories with all their files."),
    flag("no-messages", 's', "Do not report files that cannot be read."),
    flag("unix-byte-offsets", 'u', "Accepted for compatibility."),
    flag("invert-match", 'v', "Select the lines that do not match."),
    flag("word-regexp", 'w', "Match only whole words."),
    flag("line-regexp", 'x', "Match only whole lines."),
    flag("null-data", 'z', "Lines end with a NUL byte."),
    long("binary-files", "TYPE", "How to treat binary files: binary, text or without-match."),
    CommandParameter::new("color", ParameterKind::OptionalText, "Mark matches: always, auto or never.")
        .with_value_name("WHEN"),
    CommandParameter::new("colour", ParameterKind::OptionalText, "The same as --color.")
        .with_value_name("WHEN"),
    long("exclude", "GLOB", "Skip files whose names match GLOB."),
    long("exclude-dir", "GLOB", "Skip directories whose names match GLOB."),
    long("include", "GLOB", "Search only files whose names match GLOB."),
    long("group-separator", "TEXT", "Write TEXT between groups of lines."),
    CommandParameter::new("no-group-separator", ParameterKind::Flag, "Write nothing between groups."),
    CommandParameter::new("no-ignore-case", ParameterKind::Flag, "Do not ignore case (default)."),
    long("label", "LABEL", "The name of standard input."),
    CommandParameter::new("line-buffered", ParameterKind::Flag, "Write each line at once."),
];

const STATUSES: &[(&str, &str)] =
    &[("0", "a line was selected"), ("1", "no line was selected"), ("2", "an error occurred")];

const OPERANDS: ArgumentStyle = ArgumentStyle::GnuMixed(&["[PATTERNS]", "[FILE…]"]);

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "grep",
    summary: "Write the lines of files that match patterns.",
    style: OPERANDS,
    parameters: PARAMETERS,
    details: &[
        "Each line of PATTERNS is a pattern. Without FILE, -r searches the working directory, and standard input is read otherwise.",
        "-NUM means --context=NUM.",
    ],
    statuses: STATUSES,
    examples: &[
        Example {
            summary: "Write the longest match",
            script: "echo abcd | grep -oE 'a|ab|abc'",
            output: "abc\n",
            status: 0,
        },
        Example {
            summary: "Number the lines",
            script: "printf '%s\\n' one two | grep -n tw",
            output: "2:two\n",
            status: 0,
        },
    ],
};

pub(crate) static EGREP_DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "egrep",
    summary: "Write the lines of files that match extended regular expressions.",
    style: OPERANDS,
    parameters: PARAMETERS,
    details: &["The same as grep -E."],
    statuses: STATUSES,
    examples: &[Example {
        summary: "Choose between words",
        script: "printf '%s\\n' one two | egrep 'two|three'",
        output: "two\n",
        status: 0,
    }],
};

pub(crate) static FGREP_DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "fgrep",
    summary: "Write the lines of files that contain strings.",
    style: OPERANDS,
    parameters: PARAMETERS,
    details: &["The same as grep -F."],
    statuses: STATUSES,
    examples: &[Example {
        summary: "Search for a period",
        script: "printf '%s\\n' a.b axb | fgrep a.b",
        output: "a.b\n",
        status: 0,
    }],
};

/// The line after a message about usage.
const USAGE: &str = "Usage: grep [OPTION]... PATTERNS [FILE]...\n";

const fn grep_command(
    descriptor: &'static CommandDescriptor,
    run: crate::definition::RunFunction,
) -> CommandDefinition {
    CommandDefinition {
        usage_status: TROUBLE,
        usage_line: USAGE,
        usage_name: Some("grep"),
        rewrite: Some(settings::expand_digits),
        ..gnu_command(descriptor, run)
    }
}

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| steps_aside(session, arguments, PatternSyntax::Basic)),
    ..grep_command(&DESCRIPTOR, |context, arguments, _| run(context, arguments, PatternSyntax::Basic))
};

pub(crate) static EGREP_COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| {
        is_obsolete(session, b"/usr/bin/egrep") || steps_aside(session, arguments, PatternSyntax::Extended)
    }),
    ..grep_command(&EGREP_DESCRIPTOR, |context, arguments, _| {
        run(context, arguments, PatternSyntax::Extended)
    })
};

pub(crate) static FGREP_COMMAND: CommandDefinition = CommandDefinition {
    steps_aside: Some(|session, arguments, _| {
        is_obsolete(session, b"/usr/bin/fgrep") || steps_aside(session, arguments, PatternSyntax::Fixed)
    }),
    ..grep_command(&FGREP_DESCRIPTOR, |context, arguments, _| run(context, arguments, PatternSyntax::Fixed))
};

/// Whether a program is not the plain script of Debian. GNU's own script warns that it is obsolescent.
fn is_obsolete(session: &Session, path: &[u8]) -> bool {
    let script = small_file(session, path).unwrap_or_default();
    !script.starts_with(b"#!") || memchr::memmem::find(&script, b"obsolescent").is_some()
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, syntax: PatternSyntax) -> Flow {
    context.name = b"grep";
    run_worded(context, Wording::Grep, |run| {
        run.collect_rows(&DESCRIPTOR, arguments);
        let (settings, files) = GrepSettings::parse(run, arguments, syntax)?;
        let (mut has_selected, mut has_failed) = (false, false);
        let mut search = walk::GrepSearch::new(settings);
        for file in default_files(&search.settings, files) {
            let found = search.operand(run, &file)?;
            has_selected |= found.is_selected;
            has_failed |= found.has_failed;
            if found.is_selected && search.settings.is_quiet {
                has_failed = false;
                break;
            }
        }
        run.set_status(match (has_failed, has_selected) {
            (true, _) => TROUBLE,
            (false, true) => 0,
            (false, false) => NOT_SELECTED,
        });
        Ok(())
    })
}

/// The operands, or what is searched without operands.
fn default_files(settings: &GrepSettings, files: Vec<Bytes>) -> Vec<Bytes> {
    match files.is_empty() {
        false => files,
        true if settings.is_recursive() => vec![Bytes::from(".")],
        true => vec![Bytes::from("-")],
    }
}

/// Prints a message about a file, unless `-s` was given.
fn file_failed(run: &mut TextRun<'_, '_>, settings: &GrepSettings, name: &[u8], reason: &str) {
    if !settings.is_silent {
        complain(run, &[name, b": ", reason.as_bytes()].concat());
    }
}

/// Prints a message whose bytes need not be text.
fn complain(run: &mut TextRun<'_, '_>, message: &[u8]) {
    let _ = run.flush();
    run.context.print_error(&[b"grep: ", message, b"\n"].concat());
    run.context.flush();
}
