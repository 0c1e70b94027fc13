//! `trap`.

use haft_text::Bytes;
use haft_text::quote;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::SetOption;
use crate::traps::Trap;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "lp") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if options::has(&flags, b'l') {
        return context.print(super::kill::table().as_bytes());
    }
    if options::has(&flags, b'p') || operands.is_empty() {
        return show(context, operands);
    }
    // A first operand that is a number, or an only operand, is a signal to reset instead of a command.
    let first = &operands[0];
    let resets = first.iter().all(u8::is_ascii_digit) && !first.is_empty() && Trap::parse(first).is_some();
    if resets || (operands.len() == 1 && Trap::parse(first).is_some()) {
        return change(context, operands, None);
    }
    let [commands, names @ ..] = operands else { return Ok(0) };
    if names.is_empty() {
        return context.synopsis();
    }
    let commands = (commands.as_bytes() != b"-").then_some(commands);
    change(context, names, commands)
}

fn change(context: &mut Context<'_>, names: &[Bytes], commands: Option<&Bytes>) -> Flow {
    let mut status = 0;
    for name in names {
        match (Trap::parse(name), commands) {
            (None, _) => {
                context.error(format_args!("{name}: invalid signal specification"));
                status = 1;
            }
            (Some(trap), Some(commands)) => context.session_mut().set_trap(trap, Some(commands.clone())),
            (Some(trap), None) => context.session_mut().set_trap(trap, None),
        }
    }
    Ok(status)
}

fn show(context: &mut Context<'_>, names: &[Bytes]) -> Flow {
    let all: Vec<(Trap, Bytes)> = context.traps().iter().map(|(trap, text)| (trap, text.clone())).collect();
    if names.is_empty() {
        let text: Vec<u8> = all.iter().flat_map(|(trap, commands)| line(context, *trap, commands)).collect();
        return context.print(&text);
    }
    let mut status = 0;
    for name in names {
        let Some(wanted) = Trap::parse(name) else {
            context.error(format_args!("{name}: invalid signal specification"));
            status = 1;
            continue;
        };
        if let Some((trap, commands)) = all.iter().find(|(trap, _)| *trap == wanted) {
            let text = line(context, *trap, commands);
            context.print(&text)?;
        }
    }
    Ok(status)
}

fn line(context: &Context<'_>, trap: Trap, commands: &Bytes) -> Vec<u8> {
    let name = trap.name();
    let name = match context.options().has(SetOption::Posix) {
        true => name.trim_start_matches("SIG"),
        false => &name,
    };
    [b"trap -- ", &quote::single(commands)[..], b" ", name.as_bytes(), b"\n"].concat()
}
