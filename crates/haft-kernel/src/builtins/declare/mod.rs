//! `declare` and `typeset`, and the code they share with `local`, `export` and `readonly`, which differ in their options only.

mod apply;
pub(super) mod flags;
pub(super) mod show;

use haft_text::Bytes;

use self::flags::DeclareFlags;
use super::{Context, Operand, function_listing};
use crate::flow::Flow;
use crate::variables::{Assigned, AssignedValue, Attributes};

pub(super) fn run(context: &mut Context<'_>, operands: &[Operand]) -> Flow {
    let (flags, operands) = match flags::parse(context, operands, "aAcfFgiIlnprtux") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let local = context.variables().depth() > 0 && !flags.global;
    declare(context, DeclareFlags { local, ..flags }, operands)
}

/// Declares the operands with the attributes of `flags`, or lists variables if there is no operand.
pub(super) fn declare(context: &mut Context<'_>, flags: DeclareFlags, operands: &[Operand]) -> Flow {
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
    flags: &DeclareFlags,
    operand: &Operand,
) -> Result<bool, crate::flow::Unwind> {
    let name = match operand {
        Operand::Word(name) => name.clone(),
        Operand::Assignment(assigned) if context.name == b"export" => {
            context.error(format_args!("{}: cannot export", function_operand(assigned)));
            return Ok(false);
        }
        Operand::Assignment(_) => {
            context.error("cannot use `-f' to make functions");
            return Ok(false);
        }
    };
    let Some(known) = context.definitions().functions().get(name.as_bytes()).cloned() else {
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
    if flags.on.contains(Attributes::EXPORT) && !function_listing::can_export(&name) {
        context.error(format_args!("{name}: cannot export"));
        return Ok(false);
    }
    function_listing::set_attributes(context.session_mut(), &known, flags.on, flags.off);
    Ok(true)
}

/// The name of a function that looks like an assignment.
fn function_operand(assigned: &Assigned) -> Bytes {
    match &assigned.value {
        AssignedValue::Scalar(value) => [&assigned.name, b"=".as_slice(), value].concat().into(),
        AssignedValue::List(_) => assigned.name.clone(),
    }
}

/// Splits a word into a name and an assignment. Returns the word as the name if it is not an assignment.
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
