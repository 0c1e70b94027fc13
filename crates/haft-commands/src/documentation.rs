//! Generates `docs/commands.md`.

use std::fmt::Write as _;

use crate::descriptor::CommandDescriptor;
use crate::help::{heading, synopsis};

const OPENING: &str = "# Commands

haft runs these commands in-process. The shell looks for functions and builtins first, then for these commands, then for programs.
`help NAME` prints the same text in the shell; `type -a NAME` lists everything that has the name. All examples run as tests.

This file is generated from the descriptors in `crates/haft-commands`.
";

/// The text of `docs/commands.md`: one section per command.
#[must_use]
pub fn documentation() -> String {
    crate::DESCRIPTORS.iter().fold(OPENING.to_owned(), |text, descriptor| text + &section(descriptor))
}

fn section(descriptor: &CommandDescriptor) -> String {
    let mut text = format!(
        "\n## {}\n\n{}\n\n```\n{}\n```\n\n| parameter | meaning |\n|---|---|\n",
        descriptor.name,
        descriptor.summary,
        synopsis(descriptor)
    );
    for parameter in descriptor.parameters {
        let required = if parameter.required { " Required." } else { "" };
        let summary = parameter.summary.replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {summary}{required} |", heading(parameter, descriptor.style));
    }
    for paragraph in descriptor.details {
        let _ = write!(text, "\n{paragraph}\n");
    }
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
