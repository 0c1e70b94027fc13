//! `fc`: lists, edits and repeats commands of the history.

use haft_text::Bytes;

use super::options::OptionParser;
use super::{Context, options};
use crate::flow::Flow;
use crate::options::SetOption;

/// The command that edits a file of commands.
const EDITOR: &[u8] = b"${FCEDIT:-${EDITOR:-$(command -v editor || echo vi)}}";

/// The same in POSIX mode.
const POSIX_EDITOR: &[u8] = b"${FCEDIT:-${EDITOR:-$(command -v editor || echo ed)}}";

/// The number of entries that `fc -l` lists.
const LISTED: usize = 16;

/// Why a command was not found in the history.
enum HistoryLookupError {
    OutOfRange,
    NotFound,
}

/// The purpose of looking up an entry.
#[derive(Clone, Copy)]
struct LookupPurpose {
    is_listing: bool,
    /// Whether it is the first of a range.
    is_first: bool,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut parser = OptionParser::new(arguments);
    let mut flags = Vec::new();
    // A negative number is an operand.
    while !parser.rest().first().is_some_and(|word| is_number(word)) {
        match parser.next("e:lnrs") {
            Ok(Some(flag)) => flags.push(flag),
            Ok(None) => break,
            Err(bad) => return context.usage(bad),
        }
    }
    let operands = parser.rest();
    let editor = flags.iter().rev().find(|flag| flag.letter == b'e').map(options::OptionFlag::text);
    if options::has(&flags, b's') || editor == Some(b"-") {
        return repeat(context, operands);
    }
    if context.session().history().entries().is_empty() {
        return Ok(0);
    }
    let is_listing = options::has(&flags, b'l');
    let range = match range(context, operands, is_listing) {
        Ok(range) => range,
        Err(HistoryLookupError::NotFound) => return no_command(context),
        Err(HistoryLookupError::OutOfRange) => {
            context.error("history specification out of range");
            return Ok(1);
        }
    };
    let is_reversed = options::has(&flags, b'r');
    match is_listing {
        true => list(context, range, is_reversed, !options::has(&flags, b'n')),
        false => edit(context, range, is_reversed, editor),
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    std::str::from_utf8(digits).is_ok_and(|text| text.trim().parse::<i64>().is_ok())
}

fn no_command(context: &mut Context<'_>) -> Flow {
    context.error("no command found");
    Ok(1)
}

/// `fc -s`: repeats a command after substitutions.
fn repeat(context: &mut Context<'_>, operands: &[Bytes]) -> Flow {
    let count = operands.iter().take_while(|word| word.contains(&b'=')).count();
    let (changes, rest) = operands.split_at(count);
    let purpose = LookupPurpose { is_listing: false, is_first: false };
    let found = find(context, rest.first(), purpose).ok();
    let entry = found.and_then(|index| context.session().history().entries().get(index).cloned());
    let Some(entry) = entry else { return no_command(context) };
    let mut command = entry.line.to_vec();
    for change in changes {
        let at = memchr::memchr(b'=', change).unwrap_or(change.len());
        command = replace_all(&command, &change[..at], &change[at + 1..]);
    }
    let shown = [&*command, b"\n"].concat();
    context.print_error(&shown);
    let session = context.session_mut();
    if !command.is_empty() {
        let line = command.strip_suffix(b"\n").unwrap_or(&command).to_vec();
        session.history_mut().remove_last();
        session.start_history_entry();
        session.add_history_line(&line);
    }
    session.run_text(&command, "fc")
}

fn replace_all(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    if old.is_empty() {
        return text.to_vec();
    }
    let mut result = Vec::with_capacity(text.len());
    let mut copied = 0;
    for at in memchr::memmem::find_iter(text, old) {
        result.extend_from_slice(&text[copied..at]);
        result.extend_from_slice(new);
        copied = at + old.len();
    }
    result.extend_from_slice(&text[copied..]);
    result
}

/// The index of the last command before this one, which is itself in the history if lines are remembered. It can be negative.
fn last_index(context: &Context<'_>) -> isize {
    let session = context.session();
    let history = session.history();
    let is_substitution = session.identity.is_subshell() && session.options.has(SetOption::History);
    let own = isize::from(history.is_remembering || is_substitution) + isize::from(history.last.is_added);
    let length = isize::try_from(history.entries().len()).unwrap_or(isize::MAX);
    if own == 0 { length - 1 } else { length - own }
}

/// The index of the entry that a word designates: a number, a negative offset, or the beginning of a command.
fn find(
    context: &Context<'_>,
    word: Option<&Bytes>,
    purpose: LookupPurpose,
) -> Result<usize, HistoryLookupError> {
    let history = context.session().history();
    let last = usize::try_from(last_index(context)).map_err(|_| HistoryLookupError::NotFound)?;
    let Some(word) = word else { return Ok(last) };
    let is_negative = word.starts_with(b"-");
    let digits = &word[usize::from(is_negative)..];
    if digits.first().is_some_and(u8::is_ascii_digit) {
        let length = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let text = std::str::from_utf8(&digits[..length]).unwrap_or_default();
        let number: usize = text.parse().unwrap_or(usize::MAX);
        return match (number, is_negative) {
            (0, true) if purpose.is_listing => Ok(history.entries().len().saturating_sub(1)),
            (0, true) => Err(HistoryLookupError::OutOfRange),
            (0, false) => Ok(last),
            (number, true) => Ok((last + 1).saturating_sub(number)),
            (number, false) => {
                let index = number.checked_sub(history.first_number()).filter(|index| *index < last);
                Ok(index.unwrap_or(if purpose.is_first { 0 } else { last }))
            }
        };
    }
    let entries = history.entries();
    let found =
        (0..=last).rev().find(|index| entries.get(*index).is_some_and(|entry| entry.line.starts_with(word)));
    found.ok_or(HistoryLookupError::NotFound)
}

/// The first and the last index of the commands to list or to edit.
fn range(
    context: &mut Context<'_>,
    operands: &[Bytes],
    is_listing: bool,
) -> Result<(usize, usize), HistoryLookupError> {
    let last = usize::try_from(last_index(context)).unwrap_or(0);
    let newest = context.session().history().entries().len().saturating_sub(1);
    let first_purpose = LookupPurpose { is_listing, is_first: true };
    match operands {
        [] if is_listing => Ok((last.saturating_sub(LISTED - 1), last)),
        [] => Ok((last, last)),
        [word] => {
            let first = find_or_start(context, word, first_purpose)?;
            Ok((first, if is_listing && first != newest { last } else { first }))
        }
        [first, end, ..] => {
            let purpose = LookupPurpose { is_listing, is_first: false };
            Ok((find_or_start(context, first, first_purpose)?, find_or_start(context, end, purpose)?))
        }
    }
}

/// Like [`find`], but without earlier commands the result is the first entry.
fn find_or_start(
    context: &Context<'_>,
    word: &Bytes,
    purpose: LookupPurpose,
) -> Result<usize, HistoryLookupError> {
    if last_index(context) < 0 { Ok(0) } else { find(context, Some(word), purpose) }
}

/// The indices of a range in the order in which they are listed.
fn ordered((first, last): (usize, usize), is_reversed: bool) -> Vec<usize> {
    let is_reversed = is_reversed || last < first;
    let mut indices: Vec<usize> = (first.min(last)..=first.max(last)).collect();
    if is_reversed {
        indices.reverse();
    }
    indices
}

fn list(context: &mut Context<'_>, range: (usize, usize), is_reversed: bool, numbers: bool) -> Flow {
    let posix = context.options().has(SetOption::Posix);
    let history = context.session().history();
    let mut text = Vec::new();
    for index in ordered(range, is_reversed) {
        let Some(entry) = history.entries().get(index) else { continue };
        if numbers {
            text.extend_from_slice((history.first_number() + index).to_string().as_bytes());
        }
        text.extend_from_slice(if posix { b"\t" } else { b"\t " });
        text.extend_from_slice(&entry.line);
        text.push(b'\n');
    }
    context.print(&text)
}

/// Edits commands in a temporary file and runs the result.
fn edit(
    context: &mut Context<'_>,
    (mut first, mut last): (usize, usize),
    is_reversed: bool,
    editor: Option<&[u8]>,
) -> Flow {
    let session = context.session_mut();
    if session.history().last.is_added {
        session.history_mut().remove_last();
        let end = session.history().entries().len().saturating_sub(1);
        (first, last) = (first.min(end), last.min(end));
    }
    let mut text = Vec::new();
    for index in ordered((first, last), is_reversed) {
        let line = session.history().entries().get(index).map(|entry| entry.line.clone());
        text.extend_from_slice(&line.unwrap_or_default());
        text.push(b'\n');
    }
    let directory = session.value(b"TMPDIR").filter(|directory| !directory.is_empty());
    let directory = directory.unwrap_or_else(|| "/tmp".into());
    let number = session.random.next();
    let name = [&*directory, format!("/bash-fc.{}.{number}", std::process::id()).as_bytes()].concat();
    if let Err(error) = session.write_private_file(&name, &text) {
        let problem = haft_fs::message(&error);
        context.error(format_args!("{}: cannot open temp file: {problem}", Bytes::from(name)));
        return Ok(1);
    }
    let editor = editor.unwrap_or(if session.options.has(SetOption::Posix) { POSIX_EDITOR } else { EDITOR });
    let command = [editor, b" ", &*name].concat();
    let ended = session.run_text(&command, "fc");
    let edited = match &ended {
        Ok(0) => session.read_file(&name)?.ok(),
        _ => None,
    };
    session.remove_file(&name);
    match edited {
        Some(text) => session.run_edited(&text),
        None => ended.map(|_| 1),
    }
}
