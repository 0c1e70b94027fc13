//! `help`.

use std::fmt::Write as _;

use haft_text::Bytes;
use haft_text::pattern::{Pattern, PatternOptions};

use super::{ALL, Builtin, Context, options};
use crate::command::Command;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "dms") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let form = flags.last().map(|flag| flag.letter);
    if operands.is_empty() {
        let mut text: String = ALL.iter().map(|builtin| format!(" {}\n", builtin.synopsis)).collect();
        for command in context.session().kernel.all_added() {
            let _ = writeln!(text, " {}", command.synopsis());
        }
        // As in bash, a failure to write the list is not reported.
        return context.session_mut().write(1, text.as_bytes()).or(Ok(0));
    }
    let mut status = 1;
    for operand in operands {
        let found = matching(operand);
        for builtin in &found {
            context.print(text(builtin, form).as_bytes())?;
            status = 0;
        }
        if let Some(command) = context.session().kernel.added(operand) {
            context.print(added(&*command, form).as_bytes())?;
            status = 0;
        } else if found.is_empty() {
            context.error(format_args!("no help topics match `{operand}'"));
        }
    }
    Ok(status)
}

/// Returns the builtin of this name, or those whose names match it as a pattern or begin with it.
fn matching(text: &[u8]) -> Vec<&'static Builtin> {
    if let Some(builtin) = super::find(text) {
        return vec![builtin];
    }
    let pattern = Pattern::compile(&[text, b"*"].concat(), PatternOptions::default());
    ALL.iter().filter(|builtin| pattern.matches(builtin.name.as_bytes())).collect()
}

fn added(command: &dyn Command, form: Option<u8>) -> String {
    match form {
        Some(b'd') => format!("{} - {}\n", command.name(), command.summary()),
        Some(b's') => format!("{}: {}\n", command.name(), command.synopsis()),
        _ => command.help(),
    }
}

fn text(builtin: &Builtin, form: Option<u8>) -> String {
    let Builtin { name, synopsis, summary, .. } = builtin;
    match form {
        Some(b'd') => format!("{name} - {summary}\n"),
        Some(b's') => format!("{name}: {synopsis}\n"),
        Some(_) => format!("NAME\n    {name} - {summary}\n\nSYNOPSIS\n    {synopsis}\n"),
        None => format!("{name}: {synopsis}\n    {summary}\n"),
    }
}
