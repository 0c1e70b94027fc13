//! `pushd`.

use haft_text::Bytes;

use super::Context;
use super::directory_stack::{StackFormat, index, move_to, refuse, show_all, stack};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut stay = false;
    let mut operands = arguments;
    while let Some((first, rest)) = operands.split_first() {
        match first.as_bytes() {
            b"-n" => stay = true,
            b"--" => {
                operands = rest;
                break;
            }
            _ => break,
        }
        operands = rest;
    }
    match operands {
        [first, ..] if is_bad_number(first) => context.usage(format_args!("{first}: invalid number")),
        [] => exchange(context, stay),
        [only] if matches!(only.as_bytes(), [b'+' | b'-', _, ..]) => rotate(context, only, stay),
        [only] if stay => {
            context.working_directory_mut().stack_mut().insert(0, only.clone());
            show_all(context, StackFormat::default())
        }
        [only] => {
            let all = stack(context);
            if only.as_bytes() != b"-" {
                return move_to(context, only, all);
            }
            let target = context.value(b"OLDPWD").unwrap_or_default();
            context.print(&[&target[..], b"\n"].concat())?;
            move_to(context, &target, all)
        }
        _ => {
            context.error("too many arguments");
            Ok(1)
        }
    }
}

/// Tells whether a word has a sign but is not a number.
fn is_bad_number(word: &[u8]) -> bool {
    matches!(word, [b'+' | b'-', rest @ ..] if !rest.is_empty() && !rest.iter().all(u8::is_ascii_digit))
}

/// Without operands: exchanges the two topmost directories.
fn exchange(context: &mut Context<'_>, stay: bool) -> Flow {
    let all = stack(context);
    let [old, new, rest @ ..] = all.as_slice() else {
        context.error("no other directory");
        return Ok(1);
    };
    if stay {
        return Ok(0);
    }
    let rest = [std::slice::from_ref(old), rest].concat();
    move_to(context, new, rest)
}

/// `+N` or `-N`: rotates the stack so that this directory is at the top.
fn rotate(context: &mut Context<'_>, word: &Bytes, stay: bool) -> Flow {
    let mut all = stack(context);
    match index(word, all.len()) {
        Ok(_) if stay => Ok(0),
        Ok(place) => {
            all.rotate_left(place);
            let new = all.remove(0);
            move_to(context, &new, all)
        }
        Err(problem) => refuse(context, word, all.len(), &problem),
    }
}
