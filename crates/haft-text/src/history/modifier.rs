//! Modifiers of history references: `:h`, `:t`, `:r`, `:e`, `:p`, `:q`, `:x`, `:s/old/new/`, `:&`, with `g`, `a` and `G`.

use memchr::memmem;

use super::LineExpansion;
use super::reference::failure;
use super::words::split_words;

/// The scope of a substitution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SubstitutionExtent {
    Once,
    /// `g`, `a`
    Everywhere,
    /// `G`
    OncePerWord,
}

impl LineExpansion<'_> {
    /// Applies the modifiers at `start`. Returns the text, whether it is only printed, and the offset after the modifiers.
    pub(super) fn modify(
        &mut self,
        line: &[u8],
        start: usize,
        mut text: Vec<u8>,
    ) -> Result<(Vec<u8>, bool, usize), Vec<u8>> {
        let mut at = start;
        let (mut quoting, mut is_printed_only) = (None, false);
        while line.get(at) == Some(&b':') {
            let extent = match line.get(at + 1) {
                Some(b'g' | b'a') => SubstitutionExtent::Everywhere,
                Some(b'G') => SubstitutionExtent::OncePerWord,
                _ => SubstitutionExtent::Once,
            };
            at += 1 + usize::from(extent != SubstitutionExtent::Once);
            let rfind = |byte: u8| memchr::memrchr(byte, &text);
            match line.get(at) {
                Some(kind @ (b'q' | b'x')) => quoting = Some(*kind),
                Some(b'p') => is_printed_only = true,
                Some(b't') => drop(rfind(b'/').map(|slash| text.drain(..=slash))),
                Some(b'h') => drop(rfind(b'/').map(|slash| text.truncate(slash))),
                Some(b'r') => drop(rfind(b'.').map(|dot| text.truncate(dot))),
                Some(b'e') => drop(rfind(b'.').map(|dot| text.drain(..dot))),
                Some(b's' | b'&') => {
                    let end = self.read_substitution(line, at);
                    let named = &line[start..end];
                    let Some((old, new)) = self.memory.substitution.clone() else {
                        return Err(failure(named, "no previous substitution"));
                    };
                    text = substitute(&text, &old, &new, extent)
                        .ok_or_else(|| failure(named, "substitution failed"))?;
                    at = end - 1;
                }
                other => {
                    let named: Vec<u8> = other.into_iter().copied().collect();
                    return Err(failure(&named, "unrecognized history modifier"));
                }
            }
            at += 1;
        }
        let text = match quoting {
            Some(b'q') => quoted(&text),
            Some(_) => quoted_by_words(&text),
            None => text,
        };
        Ok((text, is_printed_only, at))
    }

    /// Reads `s/old/new/`, with any delimiter, or `&`. The last delimiter is optional at the end. Returns the offset after it.
    fn read_substitution(&mut self, line: &[u8], at: usize) -> usize {
        let Some(&delimiter) = line.get(at + 1).filter(|_| line[at] == b's') else { return at + 1 };
        let (old, next) = delimited(line, at + 2, delimiter);
        let (new, end) = delimited(line, next, delimiter);
        let before = self.memory.substitution.as_ref().map(|(old, _)| old.clone());
        let old = match old.is_empty() {
            true => before.or_else(|| self.memory.search.clone()),
            false => Some(old),
        };
        self.memory.substitution = old.map(|old| {
            let new = with_matches(&new, &old);
            (old, new)
        });
        end
    }
}

/// Reads up to a delimiter, which a backslash protects. Returns the text and the offset after the delimiter.
fn delimited(line: &[u8], from: usize, delimiter: u8) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        if byte == delimiter {
            return (text, at + 1);
        }
        at += usize::from(byte == b'\\' && line.get(at + 1) == Some(&delimiter));
        text.push(line[at]);
        at += 1;
    }
    (text, line.len())
}

/// Replaces each `&` that has no backslash.
fn with_matches(new: &[u8], old: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut bytes = new.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => text.extend_from_slice(old),
            b'\\' if bytes.peek() == Some(&b'&') => text.extend(bytes.next()),
            byte => text.push(byte),
        }
    }
    text
}

/// Performs a substitution. Returns `None` if the text does not contain `old`.
fn substitute(text: &[u8], old: &[u8], new: &[u8], extent: SubstitutionExtent) -> Option<Vec<u8>> {
    memmem::find(text, old)?;
    let mut result = Vec::with_capacity(text.len());
    let mut copied = 0;
    let mut replace = |place: usize| {
        result.extend_from_slice(&text[copied..place]);
        result.extend_from_slice(new);
        copied = place + old.len();
    };
    match extent {
        SubstitutionExtent::Once => memmem::find_iter(text, old).take(1).for_each(&mut replace),
        SubstitutionExtent::Everywhere => memmem::find_iter(text, old).for_each(&mut replace),
        SubstitutionExtent::OncePerWord => {
            let words = split_words(text, 0);
            words
                .iter()
                .filter_map(|(at, word)| memmem::find(word, old).map(|place| at + place))
                .for_each(&mut replace);
        }
    }
    result.extend_from_slice(&text[copied..]);
    Some(result)
}

/// `:q`: the text in single quotes.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut result = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' => result.extend_from_slice(b"'\\''"),
            byte => result.push(byte),
        }
    }
    result.push(b'\'');
    result
}

/// `:x`: the same, split at blanks.
fn quoted_by_words(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    for part in text.split_inclusive(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
        match part.split_last() {
            Some((blank @ (b' ' | b'\t' | b'\n'), word)) => {
                result.extend_from_slice(&quoted(word));
                result.push(*blank);
            }
            _ => result.extend_from_slice(&quoted(part)),
        }
    }
    if text.last().is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
        result.extend_from_slice(b"''");
    }
    result
}
