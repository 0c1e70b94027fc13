//! One history reference: an event, words of it, and modifiers.

use super::words::split_words;
use super::{ExpandedLine, LineExpansion};

/// The end of a range of words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWord {
    Number(usize),
    /// `$`
    Last,
    /// The one before the last: `2-`.
    ButOne,
}

/// An error message about a part of the line.
pub(super) fn failure(part: &[u8], problem: &str) -> Vec<u8> {
    [part, b": ", problem.as_bytes()].concat()
}

impl LineExpansion<'_> {
    /// Expands the reference at `start` and appends it to the result. Returns the offset after it.
    pub(super) fn reference(
        &mut self,
        line: &[u8],
        start: usize,
        quote: Option<u8>,
        result: &mut ExpandedLine,
    ) -> Result<usize, Vec<u8>> {
        let (event, after_event) = self.event(line, start, quote, &result.text);
        let event = event.ok_or_else(|| failure(&line[start..after_event], "event not found"))?;
        let (chosen, after_words) = self.words(line, after_event, &event)?;
        let chosen = chosen.unwrap_or(event);
        let (text, is_printed_only, end) = self.modify(line, after_words, chosen)?;
        result.is_printed_only |= is_printed_only;
        result.text.extend_from_slice(&text);
        Ok(end)
    }

    /// Finds the event of the reference at `start`. Returns it with the offset after its name.
    fn event(
        &mut self,
        line: &[u8],
        start: usize,
        quote: Option<u8>,
        before: &[u8],
    ) -> (Option<Vec<u8>>, usize) {
        let at = start + 1;
        let last = self.events.last().map(|event| event.to_vec());
        match line.get(at) {
            Some(b':' | b'$' | b'*' | b'%' | b'^') => return (last, at),
            Some(b'#') => return (Some(before.to_vec()), at + 1),
            Some(byte) if *byte == self.options.characters.reference => return (last, at + 1),
            _ => {}
        }
        let is_negative = line[at] == b'-' && line.get(at + 1).is_some_and(u8::is_ascii_digit);
        let digits = at + usize::from(is_negative);
        let end = digits + line[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if end > digits {
            let number = std::str::from_utf8(&line[digits..end]).ok().and_then(|text| text.parse().ok());
            return (number.and_then(|number| self.numbered(number, is_negative)), end);
        }
        match line[at] {
            b'?' => self.containing(line, at + 1),
            _ => self.beginning(line, at, quote),
        }
    }

    fn numbered(&self, number: usize, is_negative: bool) -> Option<Vec<u8>> {
        let place = match is_negative {
            true => self.events.len().checked_sub(number)?,
            false => number.checked_sub(self.first_number)?,
        };
        self.events.get(place).map(|event| event.to_vec())
    }

    /// `!?text?`
    fn containing(&mut self, line: &[u8], from: usize) -> (Option<Vec<u8>>, usize) {
        let rest = &line[from..];
        let length = rest.iter().position(|byte| matches!(byte, b'?' | b'\n')).unwrap_or(rest.len());
        let end = from + length + usize::from(rest.get(length) == Some(&b'?'));
        if length > 0 {
            self.memory.search = Some(rest[..length].to_vec());
        }
        let Some(searched) = self.memory.search.clone() else { return (None, end) };
        for event in self.events.iter().rev() {
            let Some(place) = rfind(event, &searched) else { continue };
            let words = split_words(event, self.options.characters.comment);
            let word = words.into_iter().find(|(at, word)| (*at..at + word.len()).contains(&place));
            self.memory.found = word.map(|(_, word)| word.to_vec());
            return (Some(event.to_vec()), end);
        }
        (None, end)
    }

    /// `!text`
    fn beginning(&self, line: &[u8], from: usize, quote: Option<u8>) -> (Option<Vec<u8>>, usize) {
        let ends = |(at, byte): (usize, &u8)| match byte {
            b' ' | b'\t' | b'\n' | b':' | b'^' | b'$' | b'*' | b'%' => true,
            b';' | b'&' | b'(' | b')' | b'|' | b'<' | b'>' => true,
            b'-' => at > 0,
            byte => Some(*byte) == quote,
        };
        let rest = &line[from..];
        let length = rest.iter().enumerate().position(ends).unwrap_or(rest.len());
        let found = self.events.iter().rev().find(|event| event.starts_with(&rest[..length]));
        (found.map(|event| event.to_vec()), from + length)
    }

    /// Selects words of an event. Returns `None` without a word designator, and the offset after it.
    fn words(&self, line: &[u8], start: usize, event: &[u8]) -> Result<(Option<Vec<u8>>, usize), Vec<u8>> {
        let has_colon = line.get(start) == Some(&b':');
        let at = start + usize::from(has_colon);
        let words = split_words(event, self.options.characters.comment);
        let words: Vec<&[u8]> = words.into_iter().map(|(_, word)| word).collect();
        let wrong = |end: usize| failure(&line[start..end], "bad word specifier");
        let (first, end) = match line.get(at) {
            Some(b'%') => return Ok((Some(self.memory.found.clone().unwrap_or_default()), at + 1)),
            Some(b'*') => return Ok((Some(select(&words, 1, LastWord::Last).unwrap_or_default()), at + 1)),
            Some(b'$') => {
                return Ok((Some(words.last().map_or_else(Vec::new, |word| word.to_vec())), at + 1));
            }
            Some(b'-') => (0, at),
            Some(b'^') => (1, at + 1),
            Some(byte) if byte.is_ascii_digit() && has_colon => number(line, at),
            _ => return Ok((None, start)),
        };
        let (last, end) = last_word(line, first, end);
        if matches!(last, LastWord::Number(last) if last < first) {
            return Err(wrong(end));
        }
        select(&words, first, last).map(|chosen| (Some(chosen), end)).ok_or_else(|| wrong(end))
    }
}

/// Parses the end of a range of words after its beginning.
fn last_word(line: &[u8], first: usize, at: usize) -> (LastWord, usize) {
    match (line.get(at), line.get(at + 1)) {
        (Some(b'^'), _) => (LastWord::Number(1), at + 1),
        (Some(b'*'), _) => (LastWord::Last, at + 1),
        (Some(b'-'), Some(b'$')) => (LastWord::Last, at + 2),
        (Some(b'-'), Some(b'^')) => (LastWord::Number(1), at + 2),
        (Some(b'-'), Some(digit)) if digit.is_ascii_digit() => {
            let (last, end) = number(line, at + 1);
            (LastWord::Number(last), end)
        }
        (Some(b'-'), _) => (LastWord::ButOne, at + 1),
        _ => (LastWord::Number(first), at),
    }
}

fn number(line: &[u8], from: usize) -> (usize, usize) {
    let end = from + line[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(&line[from..end]).unwrap_or_default();
    (text.parse().unwrap_or(usize::MAX), end)
}

fn select(words: &[&[u8]], first: usize, last: LastWord) -> Option<Vec<u8>> {
    let end = match last {
        LastWord::Number(last) => last.checked_add(1)?,
        LastWord::Last => words.len(),
        LastWord::ButOne => words.len().checked_sub(1)?,
    };
    if first >= words.len() {
        return None;
    }
    words.get(first..end).map(|chosen| chosen.join(&b' '))
}

/// The offset of the last occurrence.
fn rfind(text: &[u8], searched: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(text, searched)
}
