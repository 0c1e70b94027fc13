//! `export`.

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
    // Here `-n` means the opposite of what it means to `declare`.
    let withdraw = flags.on.contains(Attributes::NAMEREF);
    flags.on = flags.on.without(Attributes::NAMEREF);
    if withdraw {
        flags.off = flags.off.union(Attributes::EXPORT);
    } else {
        flags.on = flags.on.union(Attributes::EXPORT);
    }
    if operands.is_empty() {
        let listed = DeclareFlags { on: Attributes::EXPORT, off: Attributes::NONE, ..flags };
        return show::listed(context, &listed);
    }
    declare(context, DeclareFlags { show: false, ..flags }, operands)
}
