//! Splitting a line into words.

use haft_text::Bytes;
use haft_text::encoding::character_length;

use super::line::Line;

/// Walks over the words of a line.
struct Words<'a> {
    line: &'a Line,
    separators: &'a [u8],
    at: usize,
}

/// What a separator does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// Blanks: several count as one, and at the ends they count as none.
    Blank,
    /// Anything else: each ends a word.
    Mark,
}

impl Words<'_> {
    /// The separator at a place, and its length.
    fn separator(&self, at: usize) -> Option<(Separator, usize)> {
        let rest = self.line.bytes.get(at..)?;
        let character = &rest[..character_length(rest)];
        if character.is_empty() || self.line.escaped.binary_search(&at).is_ok() {
            return None;
        }
        let mut known = self.separators;
        while !known.is_empty() {
            let (first, others) = known.split_at(character_length(known));
            if first == character {
                let blank = matches!(character, b" " | b"\t" | b"\n");
                return Some((if blank { Separator::Blank } else { Separator::Mark }, character.len()));
            }
            known = others;
        }
        None
    }

    fn skip_blanks(&mut self) {
        while let Some((Separator::Blank, length)) = self.separator(self.at) {
            self.at += length;
        }
    }

    fn is_done(&self) -> bool {
        self.at >= self.line.bytes.len()
    }

    /// The next word; what separates it from the one after is passed too.
    fn next(&mut self) -> Bytes {
        self.skip_blanks();
        let start = self.at;
        while !self.is_done() && self.separator(self.at).is_none() {
            self.at += character_length(&self.line.bytes[self.at..]).max(1);
        }
        let word = Bytes::from(&self.line.bytes[start..self.at]);
        self.skip_blanks();
        if let Some((Separator::Mark, length)) = self.separator(self.at) {
            self.at += length;
            self.skip_blanks();
        }
        word
    }

    /// Everything that is left, without blanks at its end.
    fn rest(&self) -> Bytes {
        let mut end = self.line.bytes.len();
        while end > self.at && matches!(self.separator(end - 1), Some((Separator::Blank, _))) {
            end -= 1;
        }
        self.line.bytes[self.at..end].into()
    }
}

/// How many words are made between two looks whether to stop.
const SOME: usize = 4096;

/// All words, or as many as there is time for.
pub(super) fn all(line: &Line, separators: &[u8], stopped: impl Fn() -> bool) -> Vec<Bytes> {
    let mut words = Words { line, separators, at: 0 };
    let mut found = Vec::new();
    words.skip_blanks();
    while !(words.is_done() || found.len().is_multiple_of(SOME) && stopped()) {
        found.push(words.next());
    }
    found
}

/// So many words; the last is everything that is left, unless that is one word and what separates it.
pub(super) fn into(line: &Line, separators: &[u8], count: usize) -> Vec<Bytes> {
    let mut words = Words { line, separators, at: 0 };
    words.skip_blanks();
    let mut found: Vec<Bytes> =
        (1..count).map(|_| if words.is_done() { Bytes::new() } else { words.next() }).collect();
    let before = words.at;
    let only = words.next();
    if words.is_done() {
        found.push(only);
    } else {
        words.at = before;
        found.push(words.rest());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { bytes: text.into(), escaped: Vec::new() }
    }

    #[test]
    fn words_are_divided_among_names() {
        for (text, separators, count, expected) in [
            ("a b c", " \t\n", 2, &["a", "b c"][..]),
            ("  a  b  ", " \t\n", 1, &["a  b"]),
            (":a:b:", ":", 3, &["", "a", "b"]),
            ("a:b:c:", ":", 2, &["a", "b:c:"]),
            ("a:b:", ":", 2, &["a", "b"]),
            ("a b:c ", " :", 2, &["a", "b:c"]),
            ("a b", " \t\n", 3, &["a", "b", ""]),
            ("a b", "", 1, &["a b"]),
            ("a\u{b7}b", "\u{b7}", 2, &["a", "b"]),
        ] {
            let words: Vec<Bytes> = expected.iter().map(|word| (*word).into()).collect();
            assert_eq!(into(&line(text), separators.as_bytes(), count), words, "{text}");
        }
    }

    #[test]
    fn all_words() {
        let found = all(&line("a:b::c:"), b":", || false);
        assert_eq!(found, ["a", "b", "", "c"].map(Bytes::from));
        assert!(all(&line("  "), b" ", || false).is_empty());
        let escaped = Line { bytes: b"a b".to_vec(), escaped: vec![1] };
        assert_eq!(all(&escaped, b" ", || false), [Bytes::from("a b")]);
    }
}
