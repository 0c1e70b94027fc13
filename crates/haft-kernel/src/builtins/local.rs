//! `local`.

use super::declare::flags::{self, DeclareFlags};
use super::declare::{declare, show};
use super::{Context, Operand};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    if context.variables().depth() == 0 {
        context.error("can only be used in a function");
        return Ok(1);
    }
    let (flags, operands) = match flags::parse(context, operands, "aAcfFgiIlnprtux") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if operands.is_empty() && flags.functions.is_none() {
        return show::locals(context);
    }
    declare(context, DeclareFlags { local: !flags.global, ..flags }, operands)
}
