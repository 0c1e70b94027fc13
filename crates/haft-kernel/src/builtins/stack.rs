//! The stack of directories: `dirs`, `pushd`, `popd`.

use std::sync::Arc;

use super::Context;
use super::cd::enter;
use super::number::argument;
use crate::bytes::Bytes;
use crate::flow::Flow;
use crate::options::SetOption;

/// Why an operand does not name an entry.
enum NoEntry {
    NotANumber,
    OutOfRange,
}

/// The whole stack, the working directory first.
fn stack(context: &Context<'_>) -> Vec<Bytes> {
    let mut all = vec![Bytes::from(&*context.session.cwd)];
    all.extend(context.session.directories.iter().cloned());
    all
}

/// The index that `+N` or `-N` means in a stack of this size.
fn index(text: &[u8], size: usize) -> Result<usize, NoEntry> {
    let number = argument(&text[1..]).filter(|_| text[1..].iter().all(u8::is_ascii_digit));
    let number = number.and_then(|number| usize::try_from(number).ok()).ok_or(NoEntry::NotANumber)?;
    let place = if text.starts_with(b"+") { Some(number) } else { (size - 1).checked_sub(number) };
    place.filter(|place| *place < size).ok_or(NoEntry::OutOfRange)
}

fn refuse(context: &mut Context<'_>, text: &Bytes, size: usize, problem: &NoEntry) -> Flow {
    match problem {
        NoEntry::NotANumber => context.usage(format_args!("{text}: invalid number")),
        NoEntry::OutOfRange if size == 1 => {
            context.error("directory stack empty");
            Ok(1)
        }
        NoEntry::OutOfRange => {
            context.error(format_args!("{text}: directory stack index out of range"));
            Ok(1)
        }
    }
}

pub(super) fn run_dirs(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (mut long, mut lines, mut numbers, mut clear, mut chosen) = (false, false, false, false, None);
    for word in arguments {
        match word.as_bytes() {
            b"-l" => long = true,
            b"-p" => lines = true,
            b"-v" => (lines, numbers) = (true, true),
            b"-c" => clear = true,
            b"--" => break,
            [b'-' | b'+', _, ..] => chosen = Some(word),
            _ => return context.usage(format_args!("{word}: invalid option")),
        }
    }
    if clear {
        context.session.directories = Arc::default();
        return Ok(0);
    }
    let all = stack(context);
    if let Some(word) = chosen {
        return match index(word, all.len()) {
            Ok(place) => {
                let shown = entry(context, &all[place], long);
                context.print(&[&shown[..], b"\n"].concat())
            }
            Err(NoEntry::OutOfRange) => {
                let number = String::from_utf8_lossy(&word[1..]).into_owned();
                context.error(format_args!("{number}: directory stack index out of range"));
                Ok(1)
            }
            Err(problem) => refuse(context, word, all.len(), &problem),
        };
    }
    let mut text = Vec::new();
    for (place, directory) in all.iter().enumerate() {
        if numbers {
            text.extend_from_slice(format!("{place:2}  ").as_bytes());
        } else if place > 0 && !lines {
            text.push(b' ');
        }
        text.extend_from_slice(&entry(context, directory, long));
        if lines {
            text.push(b'\n');
        }
    }
    if !lines {
        text.push(b'\n');
    }
    context.print(&text)
}

/// An entry as it is shown: the home directory as a tilde unless the long form is asked for.
fn entry(context: &Context<'_>, directory: &Bytes, long: bool) -> Vec<u8> {
    if !long
        && let Some(home) = context.session.value(b"HOME").filter(|home| home.len() > 1)
        && let Some(rest) = directory.strip_prefix(home.as_bytes())
        && (rest.is_empty() || rest.starts_with(b"/"))
    {
        return [b"~", rest].concat();
    }
    directory.to_vec()
}

fn show(context: &mut Context<'_>) -> Flow {
    Context { session: context.session, name: b"dirs" }.show_stack()
}

impl Context<'_> {
    fn show_stack(&mut self) -> Flow {
        run_dirs(self, &[])
    }
}

fn go(context: &mut Context<'_>, directory: &Bytes) -> bool {
    let physical = context.session.options.has(SetOption::Physical);
    match enter(context.session, directory, physical) {
        Ok(()) => true,
        Err(error) => {
            context.error(format_args!("{directory}: {}", haft_fs::message(&error)));
            false
        }
    }
}

pub(super) fn run_pushd(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
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
    let all = stack(context);
    match operands {
        [] => {
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
        [only] if matches!(only.as_bytes(), [b'+' | b'-', _, ..]) => match index(only, all.len()) {
            Ok(_) if stay => Ok(0),
            Ok(place) => {
                let mut turned = all.clone();
                turned.rotate_left(place);
                let new = turned.remove(0);
                move_to(context, &new, turned)
            }
            Err(problem) => refuse(context, only, all.len(), &problem),
        },
        [only] if stay => {
            Arc::make_mut(&mut context.session.directories).insert(0, only.clone());
            show(context)
        }
        [only] => {
            if only.as_bytes() != b"-" {
                return move_to(context, only, all);
            }
            let target = context.session.value(b"OLDPWD").unwrap_or_default();
            context.print(&[&target[..], b"\n"].concat())?;
            move_to(context, &target, all)
        }
        _ => {
            context.error("too many arguments");
            Ok(1)
        }
    }
}

/// Goes to a directory and leaves these on the stack.
fn move_to(context: &mut Context<'_>, directory: &Bytes, rest: Vec<Bytes>) -> Flow {
    if !go(context, directory) {
        return Ok(1);
    }
    context.session.directories = Arc::new(rest);
    show(context)
}

pub(super) fn run_popd(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut stay = false;
    let mut chosen = None;
    for word in arguments {
        match word.as_bytes() {
            b"-n" => stay = true,
            b"--" => {}
            [b'+' | b'-', _, ..] => chosen = Some(word),
            _ => return context.usage(format_args!("{word}: invalid argument")),
        }
    }
    let mut all = stack(context);
    let place = match chosen.map(|word| (word, index(word, all.len()))) {
        None => 0,
        Some((_, Ok(place))) => place,
        Some((word, Err(problem))) => return refuse(context, word, all.len(), &problem),
    };
    if all.len() < 2 {
        context.error("directory stack empty");
        return Ok(1);
    }
    if place == 0 && !stay {
        let directory = all[1].clone();
        return move_to(context, &directory, all.split_off(2));
    }
    // With `-n` the working directory stays, and the next one goes instead.
    let gone = place.max(1) - 1;
    Arc::make_mut(&mut context.session.directories).remove(gone);
    show(context)
}
