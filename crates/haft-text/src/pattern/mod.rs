//! Shell patterns: `*`, `?`, `[…]`, and with `extglob` also `?(…) *(…) +(…) @(…) !(…)`.
//!
//! A pattern is compiled from text in which a backslash quotes the byte after it. Expansion builds that text: it appends quoted text
//! with [`quote_into`] and unquoted text as it is. Thus a part of a bracket expression can be quoted, and the value of a variable can
//! contain operators, as in bash.
//!
//! Matching never takes exponential time. A pattern without groups needs one backtracking point: the last `*`. Other patterns are
//! evaluated on sets of positions: each item maps the positions where it can begin to those where it can end. The cost is
//! bounded by items times positions, and by one more factor of positions for each `!(…)`. Evaluated backwards, the same computation
//! yields the positions where a match can begin.

mod bracket;
mod collating;
mod engine;
mod parse;
mod positions;
mod simple;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::engine::{MatchDirection, PatternMatcher};
use self::parse::{GroupOperator, PatternItem};
use self::positions::Positions;

/// Options for compiling and matching a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// `extglob`: `?(…)`, `*(…)`, `+(…)`, `@(…)` and `!(…)` are operators.
    pub extended: bool,
    /// `nocasematch`, `nocaseglob`: matching ignores case.
    pub ignore_case: bool,
    /// The C locale: every byte is a character.
    pub bytewise: bool,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    items: Vec<PatternItem>,
    grouped: bool,
    ignore_case: bool,
    bytewise: bool,
}

impl Pattern {
    /// Compiles a pattern. Every text is a valid pattern: text that is not an operator matches itself.
    #[must_use]
    pub fn compile(text: &[u8], options: PatternOptions) -> Self {
        let bytewise = options.bytewise || std::str::from_utf8(text).is_err();
        let items = parse::parse(text, options.extended, bytewise);
        let grouped = items.iter().any(|item| matches!(item, PatternItem::Group(_)));
        Self { items, grouped, ignore_case: options.ignore_case, bytewise }
    }

    /// Returns the only text that matches, if the pattern has no operators.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self.items.as_slice() {
            [] => Some(&[]),
            [PatternItem::Literal(text)] if !self.ignore_case => Some(text),
            _ => None,
        }
    }

    /// Tells whether the pattern matches the whole subject.
    #[must_use]
    pub fn matches(&self, subject: &[u8]) -> bool {
        self.matches_with(subject, false)
    }

    /// Tells whether the pattern matches a file name. Only a literal period matches a leading period.
    #[must_use]
    pub fn matches_name(&self, name: &[u8]) -> bool {
        self.matches_with(name, true)
    }

    fn matches_with(&self, subject: &[u8], is_file_name: bool) -> bool {
        if let Some(text) = self.literal() {
            return text == subject;
        }
        let mut matcher = self.matcher(subject, MatchDirection::Forward);
        matcher.protect_period = is_file_name && subject.first() == Some(&b'.');
        if self.grouped {
            matcher.whole(&self.items, Positions::one(0)).contains(subject.len())
        } else {
            simple::matches(&matcher, &self.items)
        }
    }

    /// Returns the end of the shortest or longest match at the beginning of the subject.
    #[must_use]
    pub fn prefix(&self, subject: &[u8], longest: bool) -> Option<usize> {
        if let Some(text) = self.literal() {
            return subject.starts_with(text).then_some(text.len());
        }
        if let [PatternItem::Star, PatternItem::Literal(text)] = &*self.items
            && self.is_found_by_bytes(text)
        {
            let found = search(subject, text, longest);
            return found.map(|start| start + text.len());
        }
        let ends = self.matcher(subject, MatchDirection::Forward).sequence(&self.items, Positions::one(0));
        if longest { ends.last() } else { ends.first() }
    }

    /// Returns the start of the shortest or longest match at the end of the subject.
    #[must_use]
    pub fn suffix(&self, subject: &[u8], longest: bool) -> Option<usize> {
        if let Some(text) = self.literal() {
            return subject.ends_with(text).then(|| subject.len() - text.len());
        }
        if let [PatternItem::Literal(text), PatternItem::Star] = &*self.items
            && self.is_found_by_bytes(text)
        {
            return search(subject, text, !longest);
        }
        let starts =
            self.matcher(subject, MatchDirection::Backward).whole(&self.items, Positions::one(subject.len()));
        if longest { starts.first() } else { starts.last() }
    }

    /// Tells whether a byte search finds a text. ASCII bytes are never part of another character.
    fn is_found_by_bytes(&self, text: &[u8]) -> bool {
        !self.ignore_case && text.is_ascii()
    }

    /// Returns the first match, the longest at its position.
    #[must_use]
    pub fn find(&self, subject: &[u8]) -> Option<Range<usize>> {
        self.find_iter(subject).next()
    }

    /// Iterates over the matches that do not overlap, from left to right, each the longest at its position. As in bash, an empty match
    /// counts where no longer match begins, but not at the end of a subject that is not empty. An empty pattern never matches, and
    /// an empty subject matches only a pattern that begins with `*`.
    pub fn find_iter<'a>(&'a self, subject: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        // A literal is searched step by step; the starts of other patterns are computed at once.
        let finder = self.literal().filter(|text| !text.is_empty()).map(memchr::memmem::Finder::new);
        let starts = if finder.is_some() { Positions::none() } else { self.starts(subject) };
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

    /// Returns the positions where matches begin.
    fn starts(&self, subject: &[u8]) -> Positions {
        let matches_empty_subject = match self.items.first() {
            None => return Positions::none(),
            Some(PatternItem::Star) => true,
            Some(PatternItem::Group(group)) => group.operator == GroupOperator::ZeroOrMore,
            Some(_) => false,
        };
        if subject.is_empty() && !matches_empty_subject {
            return Positions::none();
        }
        let mut matcher = self.matcher(subject, MatchDirection::Backward);
        let everywhere = matcher.everywhere();
        matcher.sequence(&self.items, everywhere)
    }

    fn end_from(&self, subject: &[u8], start: usize) -> Option<usize> {
        if let Some(text) = self.literal() {
            return Some(start + text.len());
        }
        self.matcher(subject, MatchDirection::Forward).sequence(&self.items, Positions::one(start)).last()
    }

    fn matcher<'a>(&self, subject: &'a [u8], direction: MatchDirection) -> PatternMatcher<'a> {
        let bytewise = self.bytewise || std::str::from_utf8(subject).is_err();
        PatternMatcher::new(subject, direction, self.ignore_case, bytewise)
    }
}

/// Returns the position of the first or last occurrence of a text.
fn search(subject: &[u8], text: &[u8], last: bool) -> Option<usize> {
    match last {
        true => memchr::memmem::rfind(subject, text),
        false => memchr::memmem::find(subject, text),
    }
}

/// Appends text to a pattern and quotes it, so that it matches itself.
pub fn quote_into(pattern: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if byte.is_ascii_punctuation() && !matches!(byte, b'/' | b'_' | b',' | b'%' | b'"' | b'\'' | b'.') {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
}

/// Removes the backslashes that quote from a pattern.
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

/// Tells whether a pattern has operators. One without can only match itself.
#[must_use]
pub fn has_operators(text: &[u8], extended: bool) -> bool {
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
