//! `alias`.

use haft_text::Bytes;
use haft_text::quote;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::SetOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "p") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if operands.is_empty() || !flags.is_empty() {
        let lines: Vec<u8> = context
            .definitions()
            .aliases()
            .iter()
            .flat_map(|(name, value)| shown(context, name, value))
            .collect();
        context.print(&lines)?;
    }
    let mut status = 0;
    for operand in operands {
        match operand.iter().position(|byte| *byte == b'=') {
            Some(at) if at > 0 => status |= define(context, &operand[..at], &operand[at + 1..]),
            _ => status |= show(context, operand)?,
        }
    }
    Ok(status)
}

/// Returns the command that defines an alias.
pub(super) fn line(name: &[u8], value: &[u8]) -> Vec<u8> {
    [b"alias ", name, b"=", &quote::single(value), b"\n"].concat()
}

/// Returns an alias as `alias` prints it.
fn shown(context: &Context<'_>, name: &[u8], value: &[u8]) -> Vec<u8> {
    let line = line(name, value);
    match context.options().has(SetOption::Posix) {
        true => line[b"alias ".len()..].to_vec(),
        false => line,
    }
}

fn define(context: &mut Context<'_>, name: &[u8], value: &[u8]) -> i32 {
    let forbidden = |byte: &u8| byte.is_ascii_whitespace() || b"/$`'\"\\&|;()<>=".contains(byte);
    if name.iter().any(forbidden) {
        context.error(format_args!("`{}': invalid alias name", String::from_utf8_lossy(name)));
        return 1;
    }
    context.definitions_mut().aliases_mut().insert(name.into(), value.into());
    0
}

fn show(context: &mut Context<'_>, name: &Bytes) -> Flow {
    match context.definitions().aliases().get(&**name).cloned() {
        Some(value) => {
            let line = shown(context, name, &value);
            context.print(&line)
        }
        None => {
            context.error(format_args!("{name}: not found"));
            Ok(1)
        }
    }
}
