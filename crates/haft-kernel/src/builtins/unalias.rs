//! `unalias`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "a") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if !flags.is_empty() {
        context.definitions_mut().aliases_mut().clear();
        return Ok(0);
    }
    if operands.is_empty() {
        return context.synopsis();
    }
    let mut status = 0;
    for name in operands {
        if context.definitions_mut().aliases_mut().remove(&**name).is_none() {
            context.error(format_args!("{name}: not found"));
            status = 1;
        }
    }
    Ok(status)
}
