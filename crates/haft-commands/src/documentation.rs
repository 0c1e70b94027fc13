//! The documentation of the commands.

use std::fmt::Write as _;

use crate::descriptor::CommandDescriptor;
use crate::help::{heading, synopsis};

const OPENING: &str = "# Commands

These run inside haft, after functions and builtins and before programs. `help NAME` shows the same text, `type -a NAME` what else has the
name. The examples run as tests.
";

/// `docs/commands.md`.
#[must_use]
pub fn documentation() -> String {
    crate::DESCRIPTORS.iter().fold(OPENING.to_owned(), |text, descriptor| text + &section(descriptor))
}

fn section(descriptor: &CommandDescriptor) -> String {
    let mut text = format!(
        "\n## {}\n\n{}\n\n```\n{}\n```\n\n| parameter | |\n|---|---|\n",
        descriptor.name,
        descriptor.summary,
        synopsis(descriptor)
    );
    for parameter in descriptor.parameters {
        let required = if parameter.required { " Required." } else { "" };
        let summary = parameter.summary.replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {summary}{required} |", heading(parameter));
    }
    for paragraph in descriptor.details {
        let _ = write!(text, "\n{paragraph}\n");
    }
    text.push_str("\n| exit status | |\n|---|---|\n");
    for (status, meaning) in descriptor.statuses {
        let _ = writeln!(text, "| {status} | {meaning} |");
    }
    for example in descriptor.examples {
        let status =
            if example.status == 0 { String::new() } else { format!(" (status {})", example.status) };
        let _ = write!(text, "\n{}{status}:\n\n```sh\n{}\n```\n", example.summary, example.script);
        if !example.output.is_empty() {
            let _ = write!(text, "\n```\n{}\n```\n", example.output.trim_end());
        }
    }
    text
}
