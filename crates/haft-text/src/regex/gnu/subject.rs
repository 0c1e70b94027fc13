//! The text that is searched.

use super::char_set::{CharSet, decode};
use super::options::GnuRegexOptions;
use super::tree::Assertion;

/// A subject with the options of the expression.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) text: &'a [u8],
    pub(super) options: GnuRegexOptions,
}

impl Subject<'_> {
    /// The length of the character at an index, if it is in the set.
    pub(super) fn step(&self, at: usize, set: &CharSet) -> Option<usize> {
        let (code, length) = decode(&self.text[at..], self.options.encoding);
        (length > 0 && set.contains(code)).then_some(length)
    }

    /// Whether a position is as asserted.
    pub(super) fn holds(&self, at: usize, assertion: Assertion) -> bool {
        let (text, is_multi_line) = (self.text, self.options.multi_line);
        match assertion {
            Assertion::BufferStart => at == 0,
            Assertion::BufferEnd => at == text.len(),
            Assertion::LineStart => at == 0 || (is_multi_line && text[at - 1] == b'\n'),
            Assertion::LineEnd => at == text.len() || (is_multi_line && text[at] == b'\n'),
            Assertion::WordStart => !self.is_word_before(at) && self.is_word_after(at),
            Assertion::WordEnd => self.is_word_before(at) && !self.is_word_after(at),
            Assertion::WordBoundary => self.is_word_before(at) != self.is_word_after(at),
            Assertion::NotAfterWord => !self.is_word_before(at),
            Assertion::NotBeforeWord => !self.is_word_after(at),
            Assertion::NotWordBoundary => self.is_word_before(at) == self.is_word_after(at),
        }
    }

    fn is_word_after(&self, at: usize) -> bool {
        let (code, length) = decode(&self.text[at..], self.options.encoding);
        length > 0 && is_word(code)
    }

    fn is_word_before(&self, at: usize) -> bool {
        const LONGEST_CHARACTER: usize = 4;
        let lengths = 1..=LONGEST_CHARACTER.min(at);
        let codes =
            lengths.map(|length| (decode(&self.text[at - length..at], self.options.encoding), length));
        { codes }.find(|((_, found), length)| found == length).is_some_and(|((code, _), _)| is_word(code))
    }
}

fn is_word(code: u32) -> bool {
    char::from_u32(code).is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
}
