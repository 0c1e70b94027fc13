//! `declare`, `typeset`, `local`, `export` and `readonly`: one way to give variables attributes and values, and five
//! sets of options for it.

mod apply;
mod flags;
mod show;

use super::{Assigned, AssignedValue, Context, Operand, functions};
use crate::bytes::Bytes;
use crate::flow::Flow;
use crate::variables::Attributes;

use self::flags::Flags;

pub(super) fn run_declare(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    let (flags, operands) = match flags::parse(context, operands, "aAcfFgiIlnprtux") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let local = context.session.variables.depth() > 0 && !flags.global;
    declare(context, Flags { local, ..flags }, operands)
}

pub(super) fn run_local(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    if context.session.variables.depth() == 0 {
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
    declare(context, Flags { local: !flags.global, ..flags }, operands)
}

pub(super) fn run_export(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
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
        let listed = Flags { on: Attributes::EXPORT, off: Attributes::NONE, ..flags };
        return show::listed(context, &listed);
    }
    declare(context, Flags { show: false, ..flags }, operands)
}

pub(super) fn run_readonly(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    let (mut flags, operands) = match flags::parse(context, operands, "aAfp") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    flags.on = flags.on.union(Attributes::READONLY);
    if operands.is_empty() {
        return show::listed(context, &flags);
    }
    declare(context, Flags { show: false, ..flags }, operands)
}

fn declare(context: &mut Context<'_>, flags: Flags, operands: &[Operand]) -> Flow {
    if operands.is_empty() {
        return show::everything(context, &flags);
    }
    if flags.show {
        return show::named(context, &flags, operands);
    }
    let mut status = 0;
    for operand in operands {
        let done = match &flags.functions {
            Some(_) => declare_function(context, &flags, operand)?,
            None => apply::operand(context, &flags, operand)?,
        };
        status |= i32::from(!done);
    }
    Ok(status)
}

fn declare_function(
    context: &mut Context<'_>,
    flags: &Flags,
    operand: &Operand,
) -> Result<bool, crate::flow::Unwind> {
    let name = match operand {
        Operand::Word(name) => name.clone(),
        Operand::Assignment(_) => {
            context.error("cannot use `-f' to make functions");
            return Ok(false);
        }
    };
    let Some(known) = context.session.functions.get(name.as_bytes()).cloned() else {
        if context.name == b"export" || context.name == b"readonly" {
            context.error(format_args!("{name}: not a function"));
        }
        return Ok(false);
    };
    if flags.on == Attributes::NONE && flags.off == Attributes::NONE {
        return show::function(context, flags, &known).map(|()| true);
    }
    if known.readonly && flags.off.contains(Attributes::READONLY) {
        context.error(format_args!("{name}: readonly function"));
        return Ok(false);
    }
    functions::set_attributes(context.session, &known, flags.on, flags.off);
    Ok(true)
}

/// A word that is an assignment, taken apart; the name alone if it is none.
fn parse_word(word: &Bytes) -> (Bytes, Option<Assigned>) {
    let Some(equals) = word.iter().position(|byte| *byte == b'=') else { return (word.clone(), None) };
    let (left, value) = (&word[..equals], &word[equals + 1..]);
    let (left, append) = match left.strip_suffix(b"+") {
        Some(name) => (name, true),
        None => (left, false),
    };
    let (name, subscript) = match crate::session::split_reference(left) {
        Some((name, subscript)) => (name, Some(subscript.into())),
        None => (left, None),
    };
    let value = AssignedValue::Scalar(value.into());
    (name.into(), Some(Assigned { name: name.into(), subscript, append, value }))
}
