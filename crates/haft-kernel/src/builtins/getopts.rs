//! `getopts`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::session::GetoptsPosition;
use crate::variables::{Attributes, is_name};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, operands) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let [specification, name, rest @ ..] = operands else { return context.synopsis() };
    let words = if rest.is_empty() { context.parameters().positional().to_vec() } else { rest.to_vec() };
    let silent = specification.starts_with(b":");
    let known = if silent { &specification[1..] } else { &specification[..] };
    let mut walk = OptionScanner::begin(context, &words);
    let found = walk.next(known);
    let quiet = silent || context.value(b"OPTERR").is_some_and(|value| value.as_bytes() == b"0");
    let (index, offset) = (walk.index, walk.offset);
    set(context, b"OPTIND", &index.to_string());
    let position = GetoptsPosition { index: i64::try_from(index).unwrap_or(0), offset };
    context.parameters_mut().set_getopts(position);
    conclude(context, name, &found, silent, quiet)
}

/// The next option.
enum GetoptsResult {
    Option(u8),
    WithValue(u8, Bytes),
    Unknown(u8),
    MissingValue(u8),
    End,
}

/// The position in the arguments. The index counts from 1, as `OPTIND` does; the offset is that of the next letter in the word, or 0
/// before the word.
struct OptionScanner<'a> {
    words: &'a [Bytes],
    index: usize,
    offset: usize,
}

impl<'a> OptionScanner<'a> {
    /// Continues after the previous call, unless `OPTIND` was changed.
    fn begin(context: &Context<'_>, words: &'a [Bytes]) -> Self {
        let value = context.value(b"OPTIND").unwrap_or_default();
        let index = super::integer::parse_integer(&value).unwrap_or(1).max(1);
        let offset = match context.parameters().getopts() {
            position if position.index == index => position.offset,
            _ => 0,
        };
        Self { words, index: usize::try_from(index).unwrap_or(1), offset }
    }

    fn word(&self) -> Option<&'a Bytes> {
        self.words.get(self.index.checked_sub(1)?)
    }

    fn next(&mut self, known: &[u8]) -> GetoptsResult {
        if self.offset == 0 {
            match self.word().map(Bytes::as_bytes) {
                Some(b"--") => {
                    self.index += 1;
                    return GetoptsResult::End;
                }
                Some([b'-', _, ..]) => self.offset = 1,
                _ => {
                    self.index = self.index.min(self.words.len() + 1);
                    return GetoptsResult::End;
                }
            }
        }
        let Some(word) = self.word() else { return GetoptsResult::End };
        let Some(&letter) = word.get(self.offset) else {
            (self.index, self.offset) = (self.index + 1, 0);
            return self.next(known);
        };
        self.offset += 1;
        let rest = &word[self.offset..];
        let place = known.iter().position(|candidate| *candidate == letter && letter != b':');
        let takes_value = place.is_some_and(|at| known.get(at + 1) == Some(&b':'));
        if !takes_value {
            if rest.is_empty() {
                (self.index, self.offset) = (self.index + 1, 0);
            }
            return if place.is_some() {
                GetoptsResult::Option(letter)
            } else {
                GetoptsResult::Unknown(letter)
            };
        }
        (self.index, self.offset) = (self.index + 1, 0);
        if !rest.is_empty() {
            return GetoptsResult::WithValue(letter, rest.into());
        }
        match self.word().cloned() {
            Some(value) => {
                self.index += 1;
                GetoptsResult::WithValue(letter, value)
            }
            None => GetoptsResult::MissingValue(letter),
        }
    }
}

fn conclude(
    context: &mut Context<'_>,
    name: &Bytes,
    found: &GetoptsResult,
    silent: bool,
    quiet: bool,
) -> Flow {
    let letter_text = |letter: u8| Bytes::from([letter].as_slice());
    let shell = context.parameters().zero().clone();
    let complain = |context: &mut Context<'_>, text: &str, letter: u8| {
        if !quiet {
            let line = format!("{shell}: {text} -- {}\n", char::from(letter));
            context.print_error(line.as_bytes());
            context.flush();
        }
    };
    let (shown, argument) = match found {
        GetoptsResult::End => (Bytes::from("?"), None),
        GetoptsResult::Option(letter) => (letter_text(*letter), None),
        GetoptsResult::WithValue(letter, value) => (letter_text(*letter), Some(value.clone())),
        GetoptsResult::Unknown(letter) => {
            complain(context, "illegal option", *letter);
            (Bytes::from("?"), silent.then(|| letter_text(*letter)))
        }
        GetoptsResult::MissingValue(letter) if silent => (Bytes::from(":"), Some(letter_text(*letter))),
        GetoptsResult::MissingValue(letter) => {
            complain(context, "option requires an argument", *letter);
            (Bytes::from("?"), None)
        }
    };
    match argument {
        Some(value) => {
            if let Err(error) = context.session_mut().set(b"OPTARG", value) {
                context.session_mut().report(error);
            }
        }
        // As in bash, a read-only `OPTARG` is removed too.
        None => {
            if let Some(variable) = context.variables_mut().get_mut(b"OPTARG") {
                variable.attributes = variable.attributes.without(Attributes::READONLY);
            }
            let _ = context.variables_mut().unset(b"OPTARG", false);
        }
    }
    if !is_name(name) {
        context.error(format_args!("`{name}': not a valid identifier"));
        return Ok(1);
    }
    if let Err(error) = context.session_mut().set(name, shown) {
        context.error(error);
        return Ok(1);
    }
    Ok(i32::from(matches!(found, GetoptsResult::End)))
}

fn set(context: &mut Context<'_>, name: &[u8], value: &str) {
    let _ = context.session_mut().set(name, value);
}
