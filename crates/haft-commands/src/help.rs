//! Help text of a command.

use std::fmt::Write as _;

use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};

/// The column at which lines of help are wrapped.
const MAX_LINE_WIDTH: usize = 80;

/// The one-line synopsis of a command.
#[must_use]
pub fn synopsis(descriptor: &CommandDescriptor) -> String {
    let mut line = descriptor.name.to_owned();
    for parameter in descriptor.parameters {
        let usage = short_usage(parameter, descriptor.style);
        let _ = if parameter.required { write!(line, " {usage}") } else { write!(line, " [{usage}]") };
    }
    for operand in descriptor.style.operands().unwrap_or_default() {
        let _ = write!(line, " {operand}");
    }
    line
}

/// A parameter in its shortest form, with its value: `-k DURATION` or `limit=N`.
fn short_usage(parameter: &CommandParameter, style: ArgumentStyle) -> String {
    match parameter.letter {
        Some(letter) if !style.is_typed() => {
            format!("-{letter} {}", parameter.value_name()).trim_end().to_owned()
        }
        _ => long_usage(parameter, style),
    }
}

/// A parameter by its full name, with its value: `--kill-after=DURATION` or `limit=N`.
fn long_usage(parameter: &CommandParameter, style: ArgumentStyle) -> String {
    let (name, value) = (parameter.name, parameter.value_name());
    match (style, parameter.kind) {
        (_, ParameterKind::Flag) => format!("--{name}"),
        _ if style.is_typed() => format!("{name}={value}"),
        (_, ParameterKind::OptionalText) => format!("--{name}[={value}]"),
        _ => format!("--{name}={value}"),
    }
}

/// The full help text of a command.
#[must_use]
pub fn help(descriptor: &CommandDescriptor) -> String {
    let mut text = format!("{}: {}\n", descriptor.name, synopsis(descriptor));
    push_wrapped(&mut text, "    ", descriptor.summary);
    push_table(&mut text, "Parameters", &parameter_rows(descriptor));
    for paragraph in descriptor.details {
        text.push('\n');
        push_wrapped(&mut text, "    ", paragraph);
    }
    let statuses = descriptor.statuses.iter().map(|(status, meaning)| ((*status).to_owned(), *meaning));
    push_table(&mut text, "Exit status", &statuses.collect::<Vec<_>>());
    text.push_str("\n    Examples:\n");
    for example in descriptor.examples {
        let script = example.script.replace('\n', "\n        ");
        let _ = writeln!(text, "      {}:\n        {script}", example.summary);
    }
    text
}

fn parameter_rows(descriptor: &CommandDescriptor) -> Vec<(String, &'static str)> {
    let row = |parameter: &CommandParameter| (heading(parameter, descriptor.style), parameter.summary);
    descriptor.parameters.iter().map(row).collect()
}

/// All spellings of a parameter: `-k, --kill-after=DURATION`.
pub(crate) fn heading(parameter: &CommandParameter, style: ArgumentStyle) -> String {
    if !parameter.has_long_option() {
        return short_usage(parameter, style);
    }
    let letter = parameter.letter.map_or_else(String::new, |letter| format!("-{letter}, "));
    letter + &long_usage(parameter, style)
}

/// Appends a titled table of two columns. Appends nothing if there are no rows.
fn push_table(text: &mut String, title: &str, rows: &[(String, &str)]) {
    let Some(width) = rows.iter().map(|(left, _)| left.chars().count()).max() else { return };
    let _ = writeln!(text, "\n    {title}:");
    for (left, right) in rows {
        let start = text.len();
        push_wrapped(text, &" ".repeat(6 + width + 2), right);
        text.replace_range(start..start + 6 + width, &format!("      {left:<width$}"));
    }
}

/// Appends a paragraph, indented and wrapped.
fn push_wrapped(text: &mut String, indent: &str, paragraph: &str) {
    let mut line = indent.to_owned();
    for word in paragraph.split(' ') {
        if line.len() > indent.len() && line.chars().count() + 1 + word.chars().count() > MAX_LINE_WIDTH {
            text.push_str(&line);
            text.push('\n');
            line.replace_range(indent.len().., "");
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_indented() {
        let mut text = String::new();
        push_wrapped(&mut text, "  ", "word ".repeat(20).trim_end());
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= MAX_LINE_WIDTH));
        assert_eq!(text.split_whitespace().count(), 20);
    }

    #[test]
    fn tables_align_their_second_column() {
        let mut text = String::new();
        let rows =
            [("0", "success"), ("128+n", "killed")].map(|(status, meaning)| (status.to_owned(), meaning));
        push_table(&mut text, "Exit status", &rows);
        assert_eq!(text, "\n    Exit status:\n      0      success\n      128+n  killed\n");
    }
}
