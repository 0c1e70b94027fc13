//! `readonly`.

use super::declare::flags::{self, DeclareFlags};
use super::declare::{declare, show};
use super::{Context, Operand};
use crate::flow::Flow;
use crate::variables::Attributes;

pub(super) fn run(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    let (mut flags, operands) = match flags::parse(context, operands, "aAfnp") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    // `-n` is accepted and does nothing.
    flags.on = flags.on.without(Attributes::NAMEREF).union(Attributes::READONLY);
    if operands.is_empty() {
        return show::listed(context, &flags);
    }
    declare(context, DeclareFlags { show: false, ..flags }, operands)
}
