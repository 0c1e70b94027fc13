//! `${name/pattern/replacement}`.

use std::ops::Range;

use haft_lang::ast::{ReplaceScope, Word};
use haft_text::Bytes;
use haft_text::pattern::Pattern;

use super::fetched::Fetched;
use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::Session;

/// The replacement text, with placeholders for the match.
enum ReplacementText {
    Text(Vec<u8>),
    Template(Vec<u8>),
}

impl Session {
    pub(super) fn replace(
        &mut self,
        fetched: Fetched,
        scope: ReplaceScope,
        pattern: &Word,
        replacement: Option<&Word>,
    ) -> Result<Fetched, Unwind> {
        let pattern = self.compile_pattern(pattern)?;
        let replacement = self.replacement(replacement)?;
        let changed = fetched.map(self, |value| replace_in(value, scope, &pattern, &replacement, self));
        self.check()?;
        Ok(changed)
    }

    fn replacement(&mut self, word: Option<&Word>) -> Result<ReplacementText, Unwind> {
        let Some(word) = word else { return Ok(ReplacementText::Text(Vec::new())) };
        if !self.options.shell(ShellOption::PatternReplacement) {
            return Ok(ReplacementText::Text(self.expand_string(word)?.into_vec()));
        }
        let text = self.expand_replacement(word)?;
        Ok(match text.iter().any(|byte| matches!(byte, b'&' | b'\\')) {
            true => ReplacementText::Template(text),
            false => ReplacementText::Text(text),
        })
    }
}

/// How many matches are replaced between two checks for cancellation.
const MATCHES_PER_CHECK: usize = 4096;

fn replace_in(
    value: &Bytes,
    scope: ReplaceScope,
    pattern: &Pattern,
    replacement: &ReplacementText,
    session: &Session,
) -> Bytes {
    let found = match scope {
        ReplaceScope::All => return replace_all(value, pattern, replacement, session),
        ReplaceScope::First => pattern.find(value),
        ReplaceScope::Prefix => pattern.prefix(value, true).map(|end| 0..end),
        ReplaceScope::Suffix => pattern.suffix(value, true).map(|start| start..value.len()),
    };
    replace_each(value, found.into_iter(), replacement, session)
}

/// Replaces every match. On cancellation the remaining matches are left.
fn replace_all(value: &Bytes, pattern: &Pattern, replacement: &ReplacementText, session: &Session) -> Bytes {
    let goes_on = |at: usize| !at.is_multiple_of(MATCHES_PER_CHECK) || !session.is_stopping();
    let found = pattern.find_iter(value).enumerate().take_while(|(at, _)| goes_on(*at));
    replace_each(value, found.map(|(_, found)| found), replacement, session)
}

fn replace_each(
    value: &Bytes,
    matches: impl Iterator<Item = Range<usize>>,
    replacement: &ReplacementText,
    session: &Session,
) -> Bytes {
    let mut result = Vec::new();
    let (mut from, mut any) = (0, false);
    for found in matches {
        if !any {
            result.reserve(value.len());
            any = true;
        }
        let size = replacement.size(found.len());
        if session.reserve_memory("a replacement", size).is_err() {
            return Bytes::new();
        }
        session.memory.note_growth(size);
        result.extend_from_slice(&value[from..found.start]);
        replacement.put(&value[found.clone()], &mut result);
        from = found.end;
    }
    if !any {
        return value.clone();
    }
    result.extend_from_slice(&value[from..]);
    result.into()
}

impl ReplacementText {
    /// Returns the maximum length for a match of this length.
    fn size(&self, matched: usize) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Template(template) => template.len().saturating_mul(matched.max(1)),
        }
    }

    fn put(&self, matched: &[u8], result: &mut Vec<u8>) {
        let template = match self {
            Self::Text(text) => return result.extend_from_slice(text),
            Self::Template(template) => template,
        };
        let mut bytes = template.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match (byte, bytes.peek()) {
                (b'\\', Some(&next @ (b'&' | b'\\'))) => {
                    result.push(next);
                    bytes.next();
                }
                (b'&', _) => result.extend_from_slice(matched),
                _ => result.push(byte),
            }
        }
    }
}
