//! The help of a command.

use std::fmt::Write as _;

use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};

/// One line that says how a command is called.
#[must_use]
pub fn synopsis(descriptor: &CommandDescriptor) -> String {
    let mut line = descriptor.name.to_owned();
    for parameter in descriptor.parameters {
        let shown = written(parameter, descriptor.style);
        let _ = if parameter.required { write!(line, " {shown}") } else { write!(line, " [{shown}]") };
    }
    if let ArgumentStyle::Gnu(operands) = descriptor.style {
        for operand in operands {
            let _ = write!(line, " {operand}");
        }
    }
    line
}

/// How a parameter is written with its value.
fn written(parameter: &CommandParameter, style: ArgumentStyle) -> String {
    let CommandParameter { name, kind, letter, .. } = parameter;
    match (style, kind, letter) {
        (ArgumentStyle::Gnu(_), ParameterKind::Flag, Some(letter)) => format!("-{letter}"),
        (ArgumentStyle::Gnu(_), _, Some(letter)) => format!("-{letter} {}", kind.word()),
        (_, ParameterKind::Flag, _) => format!("--{name}"),
        (ArgumentStyle::Gnu(_), ..) => format!("--{name}={}", kind.word()),
        (ArgumentStyle::Typed, ..) => format!("{name}={}", kind.word()),
    }
}

/// All there is to say of a command.
#[must_use]
pub fn help(descriptor: &CommandDescriptor) -> String {
    let mut text = format!("{}: {}\n    {}\n", descriptor.name, synopsis(descriptor), descriptor.summary);
    if !descriptor.parameters.is_empty() {
        text.push_str("\n    Parameters:\n");
    }
    for parameter in descriptor.parameters {
        let _ = writeln!(text, "      {:<18} {}", heading(parameter), parameter.summary);
    }
    for paragraph in descriptor.details {
        let _ = write!(text, "\n    {paragraph}\n");
    }
    text.push_str("\n    Exit status:\n");
    for (status, meaning) in descriptor.statuses {
        let _ = writeln!(text, "      {status:<8} {meaning}");
    }
    text.push_str("\n    Examples:\n");
    for example in descriptor.examples {
        let _ = writeln!(
            text,
            "      {}:\n        {}",
            example.summary,
            example.script.replace('\n', "\n        ")
        );
    }
    text
}

/// The names of a parameter, with what its value is.
pub(crate) fn heading(parameter: &CommandParameter) -> String {
    let letter = parameter.letter.map_or_else(String::new, |letter| format!("-{letter}, "));
    format!("{letter}{} {}", parameter.name, parameter.kind.word()).trim_end().to_owned()
}
