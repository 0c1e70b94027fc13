//! `unset`.

use std::sync::Arc;

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::{SetOption, ShellOption};
use crate::session::split_reference;
use crate::variables::{Attributes, VariableError, VariableValue, is_name};

/// The kind of name to unset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnsetKind {
    /// A variable, or a function if there is no variable of that name.
    Either,
    Variable,
    Function,
    /// `-n`: the nameref itself.
    Reference,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "fnv") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let kind = match (has(b'f'), has(b'v'), has(b'n')) {
        (true, true, _) => {
            context.error("cannot simultaneously unset a function and a variable");
            return Ok(1);
        }
        (true, false, _) => UnsetKind::Function,
        (false, _, true) => UnsetKind::Reference,
        (false, true, false) => UnsetKind::Variable,
        (false, false, false) => UnsetKind::Either,
    };
    let mut status = 0;
    for name in operands {
        status |= i32::from(!remove(context, name, kind));
    }
    Ok(status)
}

fn remove(context: &mut Context<'_>, name: &Bytes, kind: UnsetKind) -> bool {
    if kind == UnsetKind::Function {
        return remove_function(context, name);
    }
    if let Some((array, subscript)) = split_reference(name) {
        if kind == UnsetKind::Reference {
            return true;
        }
        return remove_element(context, array, subscript);
    }
    if !is_name(name) {
        match kind {
            UnsetKind::Either => return remove_function(context, name),
            UnsetKind::Reference => return true,
            UnsetKind::Variable | UnsetKind::Function => {}
        }
        context.error(format_args!("`{name}': not a valid identifier"));
        return false;
    }
    if kind == UnsetKind::Either && context.variables().get(name).is_none() {
        return remove_function(context, name);
    }
    remove_variable(context, name, kind)
}

fn remove_variable(context: &mut Context<'_>, name: &Bytes, kind: UnsetKind) -> bool {
    let mut name = name.clone();
    if kind != UnsetKind::Reference {
        match context.session().follow(&name) {
            Ok(target) => match target.subscript {
                Some(subscript) => return remove_element(context, &target.name, &subscript),
                None => name = target.name,
            },
            Err(error) => {
                context.error(error);
                return false;
            }
        }
    }
    let stay = context.options().shell(ShellOption::LocalUnset);
    let variables = context.variables_mut();
    if kind == UnsetKind::Reference
        && variables.get(&name).is_some_and(|known| !known.is(Attributes::NAMEREF))
    {
        return true;
    }
    match variables.unset(&name, stay) {
        Ok(()) => {
            match &*name {
                b"POSIXLY_CORRECT" => context.session_mut().set_option(SetOption::Posix, false),
                b"IGNOREEOF" => context.session_mut().set_option(SetOption::IgnoreEof, false),
                b"HISTSIZE" => context.session_mut().update_history_limit(),
                _ => {}
            }
            true
        }
        Err(VariableError::Readonly(name)) => {
            context.error(format_args!("{name}: cannot unset: readonly variable"));
            false
        }
        Err(error) => {
            context.error(error);
            false
        }
    }
}

fn remove_function(context: &mut Context<'_>, name: &Bytes) -> bool {
    if context.definitions().functions().get(name.as_bytes()).is_some_and(|known| known.readonly) {
        context.error(format_args!("{name}: cannot unset: readonly function"));
        return false;
    }
    context.definitions_mut().functions_mut().remove(name.as_bytes());
    true
}

fn remove_element(context: &mut Context<'_>, array: &[u8], subscript: &[u8]) -> bool {
    let name = match context.session().follow(array) {
        Ok(target) => target.name,
        Err(error) => {
            context.error(error);
            return false;
        }
    };
    let (kind, attributes) = match context.variables().get(&name) {
        None => return true,
        Some(variable) => (variable.value.clone(), variable.attributes),
    };
    if attributes.contains(Attributes::READONLY) {
        context.error(format_args!("{name}: cannot unset: readonly variable"));
        return false;
    }
    match kind {
        VariableValue::Associative(_) => remove_key(context, &name, subscript),
        VariableValue::Indexed(_) if matches!(subscript, b"@" | b"*") => {
            if let Some(VariableValue::Indexed(array)) = value_of(context, &name) {
                *array = Arc::default();
            }
            true
        }
        VariableValue::Indexed(_) => remove_index(context, &name, subscript),
        VariableValue::Scalar(_) if context.session_mut().evaluate_text(subscript) == Ok(0) => {
            remove_variable(context, &name, UnsetKind::Variable)
        }
        VariableValue::Scalar(_) => {
            context.error(format_args!("{name}: not an array variable"));
            false
        }
    }
}

fn remove_key(context: &mut Context<'_>, name: &Bytes, subscript: &[u8]) -> bool {
    // A key that exists literally is the result of an expansion, as in `unset A[$key]`. Its commands do not run.
    let has_command = subscript.contains(&b'`') || memchr::memmem::find(subscript, b"$(").is_some();
    let key = match has_command && has_key(context, name, subscript) {
        true => subscript.into(),
        false => expand(context, subscript),
    };
    let key = if has_key(context, name, &key) { key } else { subscript.into() };
    if let Some(VariableValue::Associative(array)) = value_of(context, name) {
        Arc::make_mut(array).remove(&key);
    }
    true
}

fn has_key(context: &mut Context<'_>, name: &Bytes, key: &[u8]) -> bool {
    matches!(value_of(context, name), Some(VariableValue::Associative(array)) if array.get(key).is_some())
}

/// Returns a subscript after expansions in it.
fn expand(context: &mut Context<'_>, subscript: &[u8]) -> Bytes {
    context.session_mut().expand_subscript_text(subscript).unwrap_or_else(|_| subscript.into())
}

fn value_of<'a>(context: &'a mut Context<'_>, name: &[u8]) -> Option<&'a mut VariableValue> {
    context.variables_mut().get_mut(name).map(|variable| &mut variable.value)
}

fn remove_index(context: &mut Context<'_>, name: &Bytes, subscript: &[u8]) -> bool {
    let subscript = &*expand(context, subscript);
    let number = match context.session_mut().evaluate_text(subscript) {
        Ok(number) => number,
        Err(message) => {
            context.error(message);
            return false;
        }
    };
    if let Some(VariableValue::Indexed(array)) = value_of(context, name) {
        match array.resolve(number) {
            Some(index) => {
                Arc::make_mut(array).remove(index);
                return true;
            }
            None => {
                let shown = String::from_utf8_lossy(subscript).into_owned();
                context.error(format_args!("[{shown}]: bad array subscript"));
            }
        }
    }
    false
}
