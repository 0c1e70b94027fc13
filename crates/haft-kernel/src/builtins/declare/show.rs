//! Listings of `declare`, `local`, `export` and `readonly`.

use haft_text::Bytes;
use haft_text::encoding::Encoding;

use super::super::{Context, Operand, function_listing, variable_listing};
use super::flags::{ArrayKind, DeclareFlags, FunctionListing};
use crate::flow::{Flow, Unwind};
use crate::options::{SetOption, ShellOption};
use crate::session::{Definition, split_reference};
use crate::variables::{Attributes, Variable, VariableValue};

/// Lists variables and functions without operands: those that have the given attributes.
pub(in crate::builtins) fn everything(context: &mut Context<'_>, flags: &DeclareFlags) -> Flow {
    let plain = flags.on == Attributes::NONE && flags.array.is_none();
    if flags.functions.is_some() || !plain || flags.show {
        return listed(context, flags);
    }
    let mut text = variable_listing::listed(context.session_mut());
    text.extend_from_slice(&function_listing::all(context.session_mut(), |_| true));
    context.print(&text)
}

/// Lists variables and functions that have the given attributes, as commands that recreate them.
pub(in crate::builtins) fn listed(context: &mut Context<'_>, flags: &DeclareFlags) -> Flow {
    if flags.functions.is_some() {
        let wanted = |known: &Definition| {
            (!flags.on.contains(Attributes::EXPORT) || known.exported)
                && (!flags.on.contains(Attributes::READONLY) || known.readonly)
        };
        let all = function_listing::sorted(context.session_mut());
        for known in all.iter().filter(|known| wanted(known)) {
            if flags.functions == Some(FunctionListing::Definitions) {
                context.print(&function_listing::definition(known))?;
            }
            if flags.functions == Some(FunctionListing::Names) {
                context.print(&function_listing::declaration(known))?;
            } else if flags.show || flags.on != Attributes::NONE {
                context.print(&function_listing::attributes(known))?;
            }
        }
        return Ok(0);
    }
    let conforms = context.options().has(SetOption::Posix);
    let show: variable_listing::VariableFormat = match context.name {
        b"export" if conforms => |name, variable, encoding| posix(b"export", name, variable, encoding),
        b"readonly" if conforms => |name, variable, encoding| posix(b"readonly", name, variable, encoding),
        _ => variable_listing::declaration,
    };
    let text = variable_listing::all(context.session_mut(), |_, variable| matches(variable, flags), show);
    context.print(&text)
}

/// Returns `export name="value"`, the POSIX format without `declare` and options.
fn posix(command: &[u8], name: &[u8], variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let line = variable_listing::declaration(name, variable, encoding);
    let rest = line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default();
    let arrays: &[u8] = match variable.value {
        VariableValue::Scalar(_) => b"",
        VariableValue::Indexed(_) => b" -a",
        VariableValue::Associative(_) => b" -A",
    };
    [command, arrays, b" ", rest].concat()
}

fn matches(variable: &Variable, flags: &DeclareFlags) -> bool {
    let kind = matches!(
        (flags.array, &variable.value),
        (None, _)
            | (Some(ArrayKind::Indexed), VariableValue::Indexed(_))
            | (Some(ArrayKind::Associative), VariableValue::Associative(_))
    );
    kind && variable.attributes.contains(flags.on)
}

/// Lists the named variables: `declare -p name …`.
pub(in crate::builtins) fn named(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    operands: &[Operand],
) -> Flow {
    let mut status = 0;
    for operand in operands {
        let name = match operand {
            Operand::Word(name) => name.clone(),
            Operand::Assignment(assigned) => assigned.name.clone(),
        };
        let text = match flags.functions {
            Some(_) => match context.definitions().functions().get(name.as_bytes()).cloned() {
                Some(known) => {
                    function(context, flags, &known)?;
                    Some(function_listing::attributes(&known))
                }
                None => None,
            },
            None => variable(context, &name),
        };
        match text {
            Some(text) => {
                context.print(&text)?;
            }
            None => {
                context.error(format_args!("{name}: not found"));
                status = 1;
            }
        }
    }
    Ok(status)
}

fn variable(context: &Context<'_>, name: &Bytes) -> Option<Vec<u8>> {
    let session = context.session();
    if let Some((array, _)) = split_reference(name) {
        session.variables.get(array)?;
        return None;
    }
    let found = session.variables.get(name)?;
    Some(variable_listing::one(session, name, found, variable_listing::declaration))
}

/// Lists one function: its definition, or with `-F` its name, with `extdebug` also its line and file.
pub(in crate::builtins) fn function(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    known: &Definition,
) -> Result<(), Unwind> {
    let text = match flags.functions {
        Some(FunctionListing::Names) if context.options().shell(ShellOption::ExtendedDebug) => {
            let line = known.function.body.line;
            [&*known.function.name, format!(" {line} ").as_bytes(), &known.source, b"\n"].concat()
        }
        Some(FunctionListing::Names) => [&*known.function.name, b"\n"].concat(),
        _ => function_listing::definition(known),
    };
    context.print(&text).map(|_| ())
}

/// Lists the local variables of the current function: `local` without operands.
pub(in crate::builtins) fn locals(context: &mut Context<'_>) -> Flow {
    let session = context.session();
    let mut text = Vec::new();
    for (name, variable) in session.variables.sorted() {
        if session.variables.is_local(name) {
            text.extend_from_slice(&variable_listing::one(
                session,
                name,
                variable,
                variable_listing::declaration,
            ));
        }
    }
    context.print(&text)
}
