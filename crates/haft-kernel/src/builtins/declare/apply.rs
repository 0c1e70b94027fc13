//! Setting attributes and value of one variable.

use std::sync::Arc;

use haft_text::Bytes;

use super::super::{Context, Operand};
use super::flags::{ArrayKind, DeclareFlags};
use super::parse_word;
use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::split_reference;
use crate::variables::{
    Assigned, AssignedValue, AssociativeArray, Attributes, IndexedArray, Variable, VariableError,
    VariableValue, is_name,
};

/// Declares one operand. Returns false after it has reported an error.
pub(super) fn operand(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    operand: &Operand,
) -> Result<bool, Unwind> {
    let (name, assigned) = match operand {
        Operand::Word(word) if word.as_bytes() == b"-" && context.name == b"local" => {
            let options = *context.options();
            context.variables_mut().save_options(options);
            return Ok(true);
        }
        Operand::Word(word) => {
            let (name, mut assigned) = parse_word(word);
            if let Some(subscript) = assigned.as_mut().and_then(|assigned| assigned.subscript.as_mut()) {
                *subscript = context.session_mut().expand_subscript_text(subscript)?;
            }
            (name, assigned)
        }
        Operand::Assignment(assigned) => (assigned.name.clone(), Some(assigned.clone())),
    };
    // `declare -a name[5]` declares the array. Only whole variables can be exported or read-only.
    let element = split_reference(&name).is_some()
        || assigned.as_ref().is_some_and(|assigned| assigned.subscript.is_some());
    let name: Bytes = match split_reference(&name) {
        Some((array, _)) => array.into(),
        None => name,
    };
    if !is_name(&name) || (element && matches!(context.name, b"export" | b"readonly")) {
        let shown = match operand {
            Operand::Word(word) => word.clone(),
            Operand::Assignment(_) => name,
        };
        context.error(VariableError::InvalidName(shown));
        return Ok(false);
    }
    let as_assignment = assigned.is_some() && matches!(context.name, b"export" | b"readonly");
    if let Some(assigned) = assigned.as_ref().filter(|_| as_assignment) {
        trace(context, assigned)?;
    }
    let shown = if flags.global { swap_in_global(context, &name) } else { None };
    let result = declare(context, flags, &name, assigned);
    if let Some(local) = shown {
        restore_local(context, &name, local);
    }
    match result {
        Ok(done) => done,
        // An arithmetic error ends the command, as in an assignment.
        Err(error @ VariableError::Arithmetic(_)) => {
            context.error(error);
            Err(context.session().end_line(1))
        }
        // `export` and `readonly` are special builtins: an error of their assignments is an assignment error.
        Err(error @ VariableError::Readonly(_)) if as_assignment && !is_compound_word(flags, operand) => {
            match context.session_mut().refuse_assignment(&error) {
                Unwind::Abort(_) => Ok(false),
                unwind => Err(unwind),
            }
        }
        Err(error) => {
            context.error(error);
            Ok(false)
        }
    }
}

/// Whether an operand is one word with a compound value, as in `readonly -a 'name=(1 2)'`. Its error is one of the builtin.
fn is_compound_word(flags: &DeclareFlags, operand: &Operand) -> bool {
    let is_list = match operand {
        Operand::Word(word) => word.ends_with(b")"),
        Operand::Assignment(assigned) => {
            matches!(&assigned.value, AssignedValue::Scalar(value) if value.starts_with(b"("))
        }
    };
    flags.array.is_some() && is_list
}

/// Traces an assignment of `export` or `readonly`, as `set -x` traces plain assignments.
fn trace(context: &mut Context<'_>, assigned: &Assigned) -> Result<(), Unwind> {
    let AssignedValue::Scalar(value) = &assigned.value else { return Ok(()) };
    let operator: &[u8] = if assigned.append { b"+=" } else { b"=" };
    let line = [
        &assigned.name,
        operator,
        &haft_text::quote::traced_value(value, context.session().encoding_of(value)),
    ]
    .concat();
    context.session_mut().trace_text(&line)
}

/// Replaces a local variable by the global one that it hides. Returns the local variable.
fn swap_in_global(context: &mut Context<'_>, name: &Bytes) -> Option<Variable> {
    let variables = context.variables_mut();
    if variables.get(name).is_none_or(|visible| visible.depth == 0) {
        return None;
    }
    let global = variables.global(name).clone();
    variables.swap(name, Some(global))
}

/// Puts a local variable back in place of the global one.
fn restore_local(context: &mut Context<'_>, name: &Bytes, local: Variable) {
    let variables = context.variables_mut();
    if let Some(global) = variables.swap(name, Some(local)) {
        *variables.global(name) = Variable { depth: 0, ..global };
    }
}

fn declare(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    name: &Bytes,
    assigned: Option<Assigned>,
) -> Result<Result<bool, Unwind>, VariableError> {
    if flags.local && flags.on.contains(Attributes::NAMEREF) && refers_to_itself(name, assigned.as_ref()) {
        // A local nameref to its own name refers to the variable of the caller.
        context.error(VariableError::Circular(name.clone()));
        return Ok(Ok(true));
    }
    let name = prepare(context, flags, name)?;
    if flags.no_array && context.variables().get(&name).is_some_and(Variable::is_array) {
        context.error(format_args!("{name}: cannot destroy array variables in this way"));
        return Ok(Ok(false));
    }
    check(context, flags, &name, assigned.as_ref())?;
    shape(context, flags, &name, assigned.as_ref())?;
    if flags.on.contains(Attributes::NAMEREF) {
        return refer(context, flags, &name, assigned).map(Ok);
    }
    let early = flags.on.without(Attributes::READONLY);
    attributes(context, &name, early, flags.off);
    if let Some(assigned) = assigned {
        let assigned = Assigned { name: name.clone(), ..assigned };
        match compound_text(context, flags, &assigned) {
            Some(text) => {
                if let Err(unwind) = context.session_mut().run_text(&text, "array assign") {
                    return Ok(Err(unwind));
                }
            }
            None => context.session_mut().assign_expanded(assigned)?,
        }
    }
    attributes(context, &name, flags.on, flags.off);
    Ok(Ok(true))
}

fn refers_to_itself(name: &Bytes, assigned: Option<&Assigned>) -> bool {
    assigned.is_some_and(|assigned| matches!(&assigned.value, AssignedValue::Scalar(value) if value == name))
}

/// Makes the variable local if requested. Returns the name of the variable after following namerefs.
fn prepare(context: &mut Context<'_>, flags: &DeclareFlags, name: &Bytes) -> Result<Bytes, VariableError> {
    let variables = context.variables();
    if flags.local {
        if variables.is_local(name) {
            if context.name == b"local" {
                // It is no longer the variable that was assigned for this call.
                context.variables_mut().localize(name);
            }
            return follow(context, flags, name);
        }
        // A global read-only variable cannot be hidden.
        if variables.get(name).is_some_and(|old| old.is(Attributes::READONLY) && old.depth == 0) {
            return Err(VariableError::Readonly(name.clone()));
        }
        let inherit = flags.inherit || context.options().shell(ShellOption::LocalInherit);
        let lent = variables.get(name).is_some_and(|old| old.is(Attributes::LENT));
        let old = variables.get(name).cloned().filter(|_| inherit || lent);
        if name.as_bytes() == b"OPTIND" {
            // A function with a local `OPTIND` parses its own arguments.
            context.parameters_mut().reset_getopts();
        }
        let fresh = context.variables_mut().localize(name);
        if let Some(old) = old {
            fresh.value = old.value;
            fresh.attributes = old.attributes.without(Attributes::NAMEREF);
            if lent {
                fresh.attributes = fresh.attributes.union(Attributes::LASTING);
            }
        }
        return Ok(name.clone());
    }
    let name = follow(context, flags, name)?;
    context.variables_mut().entry(&name);
    Ok(name)
}

fn follow(context: &Context<'_>, flags: &DeclareFlags, name: &Bytes) -> Result<Bytes, VariableError> {
    if flags.on.union(flags.off).contains(Attributes::NAMEREF) {
        return Ok(name.clone());
    }
    context.session().follow(name).map(|target| target.name)
}

fn check(
    context: &Context<'_>,
    flags: &DeclareFlags,
    name: &Bytes,
    assigned: Option<&Assigned>,
) -> Result<(), VariableError> {
    let Some(variable) = context.variables().get(name) else { return Ok(()) };
    let changes = assigned.is_some()
        || flags.off.contains(Attributes::READONLY)
        || flags.array.is_some_and(|kind| !is_kind(variable, kind));
    if variable.is(Attributes::READONLY) && changes {
        return Err(VariableError::Readonly(name.clone()));
    }
    Ok(())
}

fn is_kind(variable: &Variable, kind: ArrayKind) -> bool {
    matches!(
        (kind, &variable.value),
        (ArrayKind::Indexed, VariableValue::Indexed(_))
            | (ArrayKind::Associative, VariableValue::Associative(_))
    )
}

/// Makes the variable an array if requested.
fn shape(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    name: &Bytes,
    assigned: Option<&Assigned>,
) -> Result<(), VariableError> {
    let variable = context.variables_mut().entry(name);
    let list = assigned.is_some_and(|assigned| {
        matches!(assigned.value, AssignedValue::List(_)) || assigned.subscript.is_some()
    });
    match (flags.array, &variable.value) {
        (Some(ArrayKind::Indexed), VariableValue::Associative(_)) => {
            return Err(VariableError::AssociativeToIndexed(name.clone()));
        }
        (Some(ArrayKind::Associative), VariableValue::Indexed(_)) => {
            return Err(VariableError::IndexedToAssociative(name.clone()));
        }
        (Some(ArrayKind::Associative), VariableValue::Scalar(value)) => {
            let mut array = AssociativeArray::default();
            if variable.is_set() {
                array.set("0".into(), value.clone());
            }
            variable.value = VariableValue::Associative(Arc::new(array));
        }
        (kind, VariableValue::Scalar(value)) if kind == Some(ArrayKind::Indexed) || list => {
            let mut array = IndexedArray::default();
            if variable.is_set() {
                array.set(0, value.clone());
            }
            variable.value = VariableValue::Indexed(Arc::new(array));
        }
        _ => {}
    }
    Ok(())
}

fn attributes(context: &mut Context<'_>, name: &Bytes, on: Attributes, off: Attributes) {
    const CASE_ATTRIBUTES: Attributes = Attributes::LOWER.union(Attributes::UPPER).union(Attributes::CAPITAL);
    let variables = context.variables_mut();
    let Some(old) = variables.get(name).map(|variable| variable.attributes) else { return };
    // A variable has at most one case attribute; two at once cancel each other.
    let cases = [Attributes::LOWER, Attributes::UPPER, Attributes::CAPITAL];
    let asked = cases.iter().filter(|case| on.contains(**case)).count();
    let kept = if asked > 0 { old.without(CASE_ATTRIBUTES) } else { old };
    let added = if asked > 1 { on.without(CASE_ATTRIBUTES) } else { on };
    // A temporary assignment becomes permanent if the command sets an attribute.
    let passing = old.intersects(Attributes::TEMPORARY.union(Attributes::LENT));
    let stays = passing && on.intersects(Attributes::EXPORT.union(Attributes::READONLY));
    let lasting = if stays { Attributes::LASTING } else { Attributes::NONE };
    variables.set_attributes(name, kept.union(added).without(off.without(added)).union(lasting));
}

/// Makes a variable a nameref: `declare -n name=target`.
fn refer(
    context: &mut Context<'_>,
    flags: &DeclareFlags,
    name: &Bytes,
    assigned: Option<Assigned>,
) -> Result<bool, VariableError> {
    if context.variables().get(name).is_some_and(Variable::is_array) {
        context.error(format_args!("{name}: reference variable cannot be an array"));
        return Ok(false);
    }
    if let Some(Assigned { value: AssignedValue::Scalar(value), .. }) = assigned {
        if value == *name && context.variables().depth() == 0 {
            context.error(format_args!("{name}: nameref variable self references not allowed"));
            return Ok(false);
        }
        if !is_name(&value) && split_reference(&value).is_none() {
            return Err(VariableError::InvalidReference(value));
        }
        let variable = context.variables_mut().entry(name);
        variable.value = VariableValue::Scalar(value);
        variable.attributes = variable.attributes.without(Attributes::UNSET);
    }
    attributes(context, name, flags.on, flags.off);
    Ok(true)
}

/// Returns the assignment to run if one word holds a compound value, `(…)`, and the variable is an array.
fn compound_text(context: &Context<'_>, flags: &DeclareFlags, assigned: &Assigned) -> Option<Vec<u8>> {
    let AssignedValue::Scalar(value) = &assigned.value else { return None };
    let is_list = value.starts_with(b"(") && value.ends_with(b")") && assigned.subscript.is_none();
    let is_array = context.variables().get(&assigned.name).is_some_and(Variable::is_array);
    let array = flags.array.is_some() || is_array && !matches!(context.name, b"export" | b"readonly");
    if !is_list || !array {
        return None;
    }
    let operator: &[u8] = if assigned.append { b"+=" } else { b"=" };
    Some([&assigned.name, operator, value].concat())
}
