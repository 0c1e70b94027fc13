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

/// How `dirs` shows the stack.
#[derive(Clone, Copy, Default)]
struct Form {
    long: bool,
    lines: bool,
    numbers: bool,
}

pub(super) fn run_dirs(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (mut form, mut clear, mut chosen) = (Form::default(), false, None);
    for word in arguments {
        match word.as_bytes() {
            b"-l" => form.long = true,
            b"-p" => form.lines = true,
            b"-v" => (form.lines, form.numbers) = (true, true),
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
    match chosen {
        Some(word) => show_one(context, word, form),
        None => show_all(context, form),
    }
}

fn show_one(context: &mut Context<'_>, word: &Bytes, form: Form) -> Flow {
    let all = stack(context);
    match index(word, all.len()) {
        Ok(place) => {
            let shown = entry(context, &all[place], form.long);
            let number = if form.numbers { format!("{place:2}  ") } else { String::new() };
            context.print(&[number.as_bytes(), &shown, b"\n"].concat())
        }
        Err(NoEntry::OutOfRange) => {
            let number = String::from_utf8_lossy(&word[1..]).into_owned();
            context.error(format_args!("{number}: directory stack index out of range"));
            Ok(1)
        }
        Err(problem) => refuse(context, word, all.len(), &problem),
    }
}

fn show_all(context: &mut Context<'_>, form: Form) -> Flow {
    let mut text = Vec::new();
    for (place, directory) in stack(context).iter().enumerate() {
        if form.numbers {
            text.extend_from_slice(format!("{place:2}  ").as_bytes());
        } else if place > 0 && !form.lines {
            text.push(b' ');
        }
        text.extend_from_slice(&entry(context, directory, form.long));
        if form.lines {
            text.push(b'\n');
        }
    }
    if !form.lines {
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
    match operands {
        [first, ..] if is_bad_number(first) => context.usage(format_args!("{first}: invalid number")),
        [] => exchange(context, stay),
        [only] if matches!(only.as_bytes(), [b'+' | b'-', _, ..]) => rotate(context, only, stay),
        [only] if stay => {
            Arc::make_mut(&mut context.session.directories).insert(0, only.clone());
            show_all(context, Form::default())
        }
        [only] => {
            let all = stack(context);
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

/// Whether a word looks like `+N` or `-N` and is none.
fn is_bad_number(word: &[u8]) -> bool {
    matches!(word, [b'+' | b'-', rest @ ..] if !rest.is_empty() && !rest.iter().all(u8::is_ascii_digit))
}

/// Without operands: the two topmost directories change places.
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

/// `+N` or `-N`: that directory comes to the top, and those above it to the bottom.
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

/// Goes to a directory and leaves these on the stack.
fn move_to(context: &mut Context<'_>, directory: &Bytes, rest: Vec<Bytes>) -> Flow {
    if !go(context, directory) {
        return Ok(1);
    }
    context.session.directories = Arc::new(rest);
    show_all(context, Form::default())
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
    show_all(context, Form::default())
}
