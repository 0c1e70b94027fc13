//! Shell patterns: `*`, `?`, `[…]`, and with `extglob` also `?(…) *(…) +(…) @(…) !(…)`.
//!
//! A pattern is compiled from text in which a backslash makes the byte after it stand for itself. Expansion builds that text
//! with [`quote_into`] for what was quoted and by plain appending for what was not, so a bracket expression may be
//! quoted in part, and an operator may come out of a variable, as in bash.
//!
//! Matching never backtracks exponentially. A pattern without groups is matched with one point to return to. Everything else
//! is computed on sets of positions: each item maps the positions it can begin at to those it can end at, so
//! the cost is bounded by items times positions, and by one more factor of positions for each `!(…)`. Run
//! backwards, the same computation answers where a match may begin.

mod bracket;
mod engine;
mod parse;
mod reach;
mod simple;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::engine::{Direction, Run};
use self::parse::{Item, Operator};
use self::reach::Reach;

/// How a pattern is read and matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// `extglob`: `@(…)` and its kin are operators.
    pub extended: bool,
    /// `nocasematch`, `nocaseglob`: letters match whatever their case.
    pub ignore_case: bool,
    /// The C locale: every byte is a character.
    pub bytewise: bool,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    items: Vec<Item>,
    grouped: bool,
    ignore_case: bool,
    bytewise: bool,
}

impl Pattern {
    /// Compiles a pattern. Every text is one: what is not an operator stands for itself.
    #[must_use]
    pub fn compile(text: &[u8], options: PatternOptions) -> Self {
        let bytewise = options.bytewise || std::str::from_utf8(text).is_err();
        let items = parse::parse(text, options.extended, bytewise);
        let grouped = items.iter().any(|item| matches!(item, Item::Group(_)));
        Self { items, grouped, ignore_case: options.ignore_case, bytewise }
    }

    /// The one text it matches, if it is made of nothing but text.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self.items.as_slice() {
            [] => Some(&[]),
            [Item::Literal(text)] if !self.ignore_case => Some(text),
            _ => None,
        }
    }

    /// Whether it matches the whole subject.
    #[must_use]
    pub fn matches(&self, subject: &[u8]) -> bool {
        self.matches_with(subject, false)
    }

    /// Whether it matches a file name, in which a leading period must be matched by a period that was written.
    #[must_use]
    pub fn matches_name(&self, name: &[u8]) -> bool {
        self.matches_with(name, true)
    }

    fn matches_with(&self, subject: &[u8], period: bool) -> bool {
        if let Some(text) = self.literal() {
            return text == subject;
        }
        let mut run = self.run(subject, Direction::Forward);
        run.protect_period = period && subject.first() == Some(&b'.');
        if self.grouped {
            run.whole(&self.items, Reach::one(0)).contains(subject.len())
        } else {
            simple::matches(&run, &self.items)
        }
    }

    /// The end of the shortest or longest match at the beginning of the subject.
    #[must_use]
    pub fn prefix(&self, subject: &[u8], longest: bool) -> Option<usize> {
        if let Some(text) = self.literal() {
            return subject.starts_with(text).then_some(text.len());
        }
        if let [Item::Star, Item::Literal(text)] = &*self.items
            && self.is_found_by_bytes(text)
        {
            let found = search(subject, text, longest);
            return found.map(|start| start + text.len());
        }
        let ends = self.run(subject, Direction::Forward).sequence(&self.items, Reach::one(0));
        if longest { ends.last() } else { ends.first() }
    }

    /// The start of the shortest or longest match at the end of the subject.
    #[must_use]
    pub fn suffix(&self, subject: &[u8], longest: bool) -> Option<usize> {
        if let Some(text) = self.literal() {
            return subject.ends_with(text).then(|| subject.len() - text.len());
        }
        if let [Item::Literal(text), Item::Star] = &*self.items
            && self.is_found_by_bytes(text)
        {
            return search(subject, text, !longest);
        }
        let starts = self.run(subject, Direction::Backward).whole(&self.items, Reach::one(subject.len()));
        if longest { starts.first() } else { starts.last() }
    }

    /// Whether a text is wherever its bytes are: those of ASCII are part of no other character.
    fn is_found_by_bytes(&self, text: &[u8]) -> bool {
        !self.ignore_case && text.is_ascii()
    }

    /// The first longest match.
    #[must_use]
    pub fn find(&self, subject: &[u8]) -> Option<Range<usize>> {
        self.find_iter(subject).next()
    }

    /// All matches that do not overlap, from the left, each the longest at its place. An empty match is reported
    /// wherever nothing longer begins, but not at the very end of a subject that is not empty. An empty pattern is found
    /// nowhere, and in an empty subject only one is found that begins with `*`.
    pub fn find_iter<'a>(&'a self, subject: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        // A text is looked for as one goes on; a pattern at all places at once.
        let finder = self.literal().filter(|text| !text.is_empty()).map(memchr::memmem::Finder::new);
        let starts = if finder.is_some() { Reach::none() } else { self.starts(subject) };
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = match &finder {
                Some(finder) => from + finder.find(subject.get(from..)?)?,
                None => starts.first_from(subject, from)?,
            };
            if start == subject.len() && !subject.is_empty() {
                return None;
            }
            let end = self.end_from(subject, start)?;
            from = if end > start { end } else { end + 1 };
            Some(start..end)
        })
    }

    /// Where matches begin.
    fn starts(&self, subject: &[u8]) -> Reach {
        let eager = match self.items.first() {
            None => return Reach::none(),
            Some(Item::Star) => true,
            Some(Item::Group(group)) => group.operator == Operator::ZeroOrMore,
            Some(_) => false,
        };
        if subject.is_empty() && !eager {
            return Reach::none();
        }
        let mut run = self.run(subject, Direction::Backward);
        let everywhere = run.everywhere();
        run.sequence(&self.items, everywhere)
    }

    fn end_from(&self, subject: &[u8], start: usize) -> Option<usize> {
        if let Some(text) = self.literal() {
            return Some(start + text.len());
        }
        self.run(subject, Direction::Forward).sequence(&self.items, Reach::one(start)).last()
    }

    fn run<'a>(&self, subject: &'a [u8], direction: Direction) -> Run<'a> {
        let bytewise = self.bytewise || std::str::from_utf8(subject).is_err();
        Run::new(subject, direction, self.ignore_case, bytewise)
    }
}

/// The first place of a text, or the last.
fn search(subject: &[u8], text: &[u8], last: bool) -> Option<usize> {
    match last {
        true => memchr::memmem::rfind(subject, text),
        false => memchr::memmem::find(subject, text),
    }
}

/// Appends text to a pattern so that it stands for itself there.
pub fn quote_into(pattern: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if byte.is_ascii_punctuation() && !matches!(byte, b'/' | b'_' | b',' | b'%' | b'"' | b'\'' | b'.') {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
}

/// The text a pattern was quoted from: backslashes that quote are removed.
#[must_use]
pub fn unquote(pattern: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => text.extend(bytes.next().or(Some(&b'\\'))),
            _ => text.push(byte),
        }
    }
    text
}

/// Whether the text of a pattern holds anything that could match more than itself.
#[must_use]
pub fn is_active(text: &[u8], extended: bool) -> bool {
    let mut index = 0;
    let mut bracket = false;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'\\' => index += 1,
            b'*' | b'?' => return true,
            b'[' => bracket = true,
            b']' if bracket => return true,
            b'+' | b'@' | b'!' if extended && text.get(index + 1) == Some(&b'(') => return true,
            _ => {}
        }
        index += 1;
    }
    false
}
