//! `history`: shows, changes, reads and writes the history list.

use haft_text::Bytes;
use haft_text::printf::strftime;

use super::options::OptionFlag;
use super::{Context, options};
use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "acd:npsrw") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let transfers: Vec<u8> = b"anrw".iter().copied().filter(|letter| has(*letter)).collect();
    if transfers.len() > 1 {
        context.error("cannot use more than one of -anrw");
        return Ok(1);
    }
    if has(b'c') {
        context.session_mut().history_mut().clear();
        if operands.is_empty() {
            return Ok(0);
        }
    }
    if has(b's') {
        push(context, operands);
        return Ok(0);
    }
    if has(b'p') {
        return print_expanded(context, operands);
    }
    if let Some(range) = flags.iter().rev().find(|flag| flag.letter == b'd').map(OptionFlag::text) {
        return delete(context, range);
    }
    match transfers.first() {
        Some(transfer) => transfer_file(context, *transfer, operands),
        None if has(b'c') => Ok(0),
        None => show(context, operands),
    }
}

/// `history -s`: replaces the current line with an entry.
fn push(context: &mut Context<'_>, words: &[Bytes]) {
    if words.is_empty() {
        return;
    }
    let is_joined = context.options().shell(ShellOption::CommandHistory);
    let history = context.session_mut().history_mut();
    let last = history.last;
    let is_in_history = last.is_added || (last.has_first_line && is_joined);
    if history.is_remembering && !last.is_replaced && is_in_history && !history.remove_last() {
        return;
    }
    let line = words.join(&b' ');
    context.session_mut().add_history_entry(&line);
    context.session_mut().history_mut().last.is_replaced = true;
}

/// `history -p`: prints words after history expansion.
fn print_expanded(context: &mut Context<'_>, words: &[Bytes]) -> Flow {
    let history = context.session_mut().history_mut();
    if !words.is_empty() && !history.last.is_replaced && history.last.is_added && !history.remove_last() {
        return Ok(1);
    }
    let mut status = 0;
    for word in words {
        match context.session_mut().expand_history(word) {
            Ok(expanded) => {
                let mut line = expanded.map_or_else(|| word.to_vec(), |expanded| expanded.text);
                line.push(b'\n');
                context.print(&line)?;
            }
            Err(_) => {
                context.error(format_args!("{word}: history expansion failed"));
                status = 1;
            }
        }
    }
    Ok(status)
}

/// `history -d`: removes an entry, or a range such as `2-4` or `-3--1`.
fn delete(context: &mut Context<'_>, range: &[u8]) -> Flow {
    let dash = range.iter().skip(1).position(|byte| *byte == b'-').map(|at| at + 1);
    let (first, last) = match dash {
        Some(dash) => (&range[..dash], &range[dash + 1..]),
        None => (range, range),
    };
    let (start, end) = (number(first), number(last));
    if start.is_none() || end.is_none() {
        return out_of_range(context, range);
    }
    let is_range = dash.is_some();
    let Some(start) = start.and_then(|number| index(context, number, is_range)) else {
        return out_of_range(context, first);
    };
    let Some(end) = end.and_then(|number| index(context, number, is_range)) else {
        return out_of_range(context, last);
    };
    if end < start {
        return Ok(1);
    }
    context.session_mut().history_mut().remove(start..=end);
    Ok(0)
}

/// The index of an entry. A negative number counts from the end. In a range, 0 is the first entry.
fn index(context: &Context<'_>, number: i64, is_range: bool) -> Option<usize> {
    let history = context.session().history();
    let length = history.entries().len();
    let index = match number {
        0 if is_range => Some(0),
        number if number < 0 => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
        number => usize::try_from(number).ok()?.checked_sub(history.first_number()),
    };
    index.filter(|index| *index < length)
}

fn out_of_range(context: &mut Context<'_>, position: &[u8]) -> Flow {
    context.error(format_args!("{}: history position out of range", Bytes::from(position)));
    Ok(1)
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// `history -a`, `-n`, `-r`, `-w`.
fn transfer_file(context: &mut Context<'_>, transfer: u8, operands: &[Bytes]) -> Flow {
    let file = operands
        .first()
        .cloned()
        .or_else(|| context.value(b"HISTFILE"))
        .unwrap_or_else(|| [&*context.value(b"HOME").unwrap_or_default(), b"/.history"].concat().into());
    let session = context.session_mut();
    if session.refuses(session.is_restricted() && file.contains(&b'/'), &file) {
        return Ok(1);
    }
    let done = match transfer {
        b'a' => match session.append_history(&file) {
            Ok(()) => true,
            Err(error) => {
                let problem = haft_fs::message(&error);
                context.error(format_args!("{file}: cannot create: {problem}"));
                false
            }
        },
        b'w' => session.write_history(&file),
        b'r' => session.read_history(&file, 0)?,
        _ => {
            let known = session.history().lines_in_file;
            let dropped = session.history().first_number();
            let done = session.read_history(&file, known)?;
            let appends = session.options.shell(ShellOption::HistoryAppend);
            let history = session.history_mut();
            if done && !appends {
                history.unsaved +=
                    history.lines_in_file.saturating_sub(known) + history.first_number() - dropped;
            }
            done
        }
    };
    Ok(i32::from(!done))
}

fn show(context: &mut Context<'_>, operands: &[Bytes]) -> Flow {
    let count = match operands {
        [] => usize::MAX,
        [count] => match number(count) {
            Some(count) => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
            None => {
                context.error(format_args!("{count}: numeric argument required"));
                return Ok(1);
            }
        },
        _ => {
            context.error("too many arguments");
            return Err(Unwind::Abort(1));
        }
    };
    let format = context.value(b"HISTTIMEFORMAT").filter(|format| !format.is_empty());
    let session = context.session();
    let zone = format.as_ref().map(|_| session.time_zone());
    let history = session.history();
    let skipped = history.entries().len().saturating_sub(count);
    let mut text = Vec::new();
    for (number, entry) in (history.first_number()..).zip(history.entries()).skip(skipped) {
        text.extend_from_slice(format!("{number:5}  ").as_bytes());
        if let (Some(format), Some(zone)) = (&format, &zone) {
            match entry.time {
                Some(time) => text.extend_from_slice(&strftime::format(format, &zone.local_time(time))),
                None => text.extend_from_slice(b"??"),
            }
        }
        text.extend_from_slice(&entry.line);
        text.push(b'\n');
    }
    context.print(&text)
}
