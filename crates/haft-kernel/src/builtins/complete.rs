//! `complete`: defines how the arguments of a command are completed.

use std::sync::Arc;

use haft_text::Bytes;

use super::{Context, completion};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let parsed = match completion::parse(context, arguments, true) {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let named = completion::named_command(&parsed.letters);
    let commands = named.as_ref().map_or(parsed.operands, std::slice::from_ref);
    if parsed.has(b'p') || (commands.is_empty() && !parsed.has_options) {
        return show(context, commands);
    }
    if parsed.has(b'r') {
        return forget(context, commands);
    }
    if commands.is_empty() {
        return context.synopsis();
    }
    let spec = Arc::new(parsed.spec);
    let table = context.definitions_mut().completions_mut();
    for command in commands {
        table.set(command, spec.clone());
    }
    Ok(0)
}

fn forget(context: &mut Context<'_>, commands: &[Bytes]) -> Flow {
    let table = context.definitions_mut().completions_mut();
    if commands.is_empty() {
        table.clear();
        return Ok(0);
    }
    let missing: Vec<&Bytes> = commands.iter().filter(|command| !table.remove(command)).collect();
    for command in &missing {
        context.error(format_args!("{command}: no completion specification"));
    }
    Ok(i32::from(!missing.is_empty()))
}

fn show(context: &mut Context<'_>, commands: &[Bytes]) -> Flow {
    let table = context.definitions().completions().clone();
    if commands.is_empty() {
        let lines: Vec<u8> =
            table.listed().into_iter().flat_map(|(command, spec)| spec.as_command(command)).collect();
        return context.print(&lines);
    }
    let mut status = 0;
    for command in commands {
        match table.get(command) {
            Some(spec) => status |= context.print(&spec.as_command(command))?,
            None => {
                context.error(format_args!("{command}: no completion specification"));
                status = 1;
            }
        }
    }
    Ok(status)
}
