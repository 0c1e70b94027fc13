//! Generates `docs/commands.md`.

use std::fmt::Write as _;

use crate::descriptor::{CommandDescriptor, JsonKind};
use crate::group::CommandGroup;
use crate::help::{heading, synopsis};

const OPENING: &str = "# Commands

haft runs these commands in-process. The shell looks for functions and builtins first, then for these commands, then for programs.
`help NAME` prints the same text in the shell; `type -a NAME` lists everything that has the name. All examples run as tests.

This file is generated from the descriptors in `crates/haft-commands`.
";

const GNU_OPENING: &str = "
With the options listed, each command does exactly what GNU's program does. With any other option the program runs; in scripts that cannot start programs
(`--isolated`, `--no-external`) such an option is a usage error. Which of them replace programs on a real machine: [shell.md](shell.md#programs-that-run-in-process).
";

/// The text of `docs/commands.md`: one section per command.
#[must_use]
pub fn documentation() -> String {
    let sections = |descriptors: &[&CommandDescriptor]| -> String {
        descriptors.iter().map(|descriptor| section(descriptor)).collect()
    };
    let group =
        |group: &CommandGroup| format!("\n# {}\n{GNU_OPENING}{}", group.title, sections(group.descriptors));
    let groups: String = crate::GNU_GROUPS.iter().map(group).collect();
    [OPENING, &sections(crate::DESCRIPTORS), &groups].concat()
}

fn section(descriptor: &CommandDescriptor) -> String {
    let (name, summary, synopsis) = (descriptor.name, descriptor.summary, synopsis(descriptor));
    let mut text = format!("\n## {name}\n\n{summary}\n\n```\n{synopsis}\n```\n");
    if !descriptor.parameters.is_empty() {
        text.push_str("\n| parameter | meaning |\n|---|---|\n");
    }
    for parameter in descriptor.parameters {
        let required = if parameter.required { " Required." } else { "" };
        let summary = parameter.summary.replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {summary}{required} |", heading(parameter, descriptor.style));
    }
    for paragraph in descriptor.details {
        let _ = write!(text, "\n{paragraph}\n");
    }
    push_columns(&mut text, descriptor);
    text.push_str("\n| exit status | meaning |\n|---|---|\n");
    for (status, meaning) in descriptor.statuses {
        let _ = writeln!(text, "| {status} | {meaning} |");
    }
    for example in descriptor.examples {
        let status = match example.status {
            0 => String::new(),
            status => format!(" (exit status {status})"),
        };
        let _ = write!(text, "\n{}{status}:\n\n```sh\n{}\n```\n", example.summary, example.script);
        if !example.output.is_empty() {
            let _ = write!(text, "\n```\n{}\n```\n", example.output.trim_end());
        }
    }
    text
}

/// The members of the objects that `--json` writes.
fn push_columns(text: &mut String, descriptor: &CommandDescriptor) {
    let mut columns = descriptor.parameters.iter().flat_map(|parameter| parameter.columns()).peekable();
    if columns.peek().is_none() {
        return;
    }
    text.push_str("\n| member with `--json` | type | meaning |\n|---|---|---|\n");
    for column in columns {
        let kind = match column.kind {
            JsonKind::Text => "string",
            JsonKind::Number => "integer",
            JsonKind::Boolean => "boolean",
            JsonKind::Texts => "array of strings",
            JsonKind::Numbers => "array of integers",
        };
        let _ = writeln!(text, "| `{}` | {kind} | {} |", column.name, column.summary);
    }
}
