//! Word splitting of a line.

use haft_text::Bytes;
use haft_text::encoding::character_length;

use super::line::InputLine;

/// Iterates over the words of a line.
struct LineWords<'a> {
    line: &'a InputLine,
    separators: &'a [u8],
    at: usize,
}

/// A field separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldSeparator {
    /// IFS whitespace: adjacent ones count as one, and at the ends they are ignored.
    Blank,
    /// Any other character of `IFS`: each ends a word.
    Mark,
}

impl LineWords<'_> {
    /// Returns the separator at an index, and its length.
    fn separator(&self, at: usize) -> Option<(FieldSeparator, usize)> {
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
                return Some((
                    if blank { FieldSeparator::Blank } else { FieldSeparator::Mark },
                    character.len(),
                ));
            }
            known = others;
        }
        None
    }

    fn skip_blanks(&mut self) {
        while let Some((FieldSeparator::Blank, length)) = self.separator(self.at) {
            self.at += length;
        }
    }

    fn is_done(&self) -> bool {
        self.at >= self.line.bytes.len()
    }

    /// Returns the next word, and skips the separator after it.
    fn next(&mut self) -> Bytes {
        self.skip_blanks();
        let start = self.at;
        while !self.is_done() && self.separator(self.at).is_none() {
            self.at += character_length(&self.line.bytes[self.at..]).max(1);
        }
        let word = Bytes::from(&self.line.bytes[start..self.at]);
        self.skip_blanks();
        if let Some((FieldSeparator::Mark, length)) = self.separator(self.at) {
            self.at += length;
            self.skip_blanks();
        }
        word
    }

    /// Returns the rest of the line without trailing whitespace, escaped or not.
    fn rest(&self) -> Bytes {
        let mut end = self.line.bytes.len();
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n') && self.separators.contains(&byte);
        while end > self.at && is_blank(self.line.bytes[end - 1]) {
            end -= 1;
        }
        self.line.bytes[self.at..end].into()
    }
}

/// How many words are split between two checks for cancellation.
const WORDS_PER_CHECK: usize = 4096;

/// Returns all words, or those found before cancellation.
pub(super) fn all(line: &InputLine, separators: &[u8], stopped: impl Fn() -> bool) -> Vec<Bytes> {
    let mut words = LineWords { line, separators, at: 0 };
    let mut found = Vec::new();
    words.skip_blanks();
    while !(words.is_done() || found.len().is_multiple_of(WORDS_PER_CHECK) && stopped()) {
        found.push(words.next());
    }
    found
}

/// Splits into `count` words. The last is the rest of the line; if the rest is one word and a separator, the separator is dropped.
pub(super) fn into(line: &InputLine, separators: &[u8], count: usize) -> Vec<Bytes> {
    let mut words = LineWords { line, separators, at: 0 };
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

    fn line(text: &str) -> InputLine {
        InputLine { bytes: text.into(), escaped: Vec::new() }
    }

    #[test]
    fn the_last_name_gets_the_rest() {
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
    fn an_array_gets_all_words() {
        let found = all(&line("a:b::c:"), b":", || false);
        assert_eq!(found, ["a", "b", "", "c"].map(Bytes::from));
        assert!(all(&line("  "), b" ", || false).is_empty());
        let escaped = InputLine { bytes: b"a b".to_vec(), escaped: vec![1] };
        assert_eq!(all(&escaped, b" ", || false), [Bytes::from("a b")]);
    }
}
