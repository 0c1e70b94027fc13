//! The field separators of `IFS`, for word splitting.

use haft_text::encoding;

/// The field separators of a value of `IFS`.
#[derive(Clone, Debug)]
pub(crate) struct Separators {
    /// The class of each byte, unless `own` overrides it.
    kinds: &'static [u8; 256],
    own: Option<Box<[u8; 256]>>,
    /// The value of `IFS`, if it has a multibyte separator.
    long: Option<Box<[u8]>>,
    /// The first character of `IFS`, which joins `"$*"`.
    first: [u8; 4],
    first_length: usize,
}

/// Classes of bytes: IFS whitespace, another separator, the first byte of a multibyte separator; and a flag for pattern operators.
const WHITESPACE_SEPARATOR: u8 = 1;
const OTHER_SEPARATOR: u8 = 2;
const MULTIBYTE_SEPARATOR: u8 = 3;
const SEPARATOR_MASK: u8 = 3;
const PATTERN_OPERATOR: u8 = 4;

static DEFAULT: [u8; 256] = {
    let mut kinds = NONE;
    kinds[b' ' as usize] = WHITESPACE_SEPARATOR;
    kinds[b'\t' as usize] = WHITESPACE_SEPARATOR;
    kinds[b'\n' as usize] = WHITESPACE_SEPARATOR;
    kinds
};

const NONE: [u8; 256] = {
    let mut kinds = [0; 256];
    kinds[b'*' as usize] = PATTERN_OPERATOR;
    kinds[b'?' as usize] = PATTERN_OPERATOR;
    kinds[b'[' as usize] = PATTERN_OPERATOR;
    kinds[b'(' as usize] = PATTERN_OPERATOR;
    kinds
};

impl Separators {
    /// Returns the separators of a value of `IFS`; `None` means unset.
    pub(crate) fn new(ifs: Option<&[u8]>) -> Self {
        let ifs = match ifs {
            None | Some(b" \t\n") => {
                return Self {
                    kinds: &DEFAULT,
                    own: None,
                    long: None,
                    first: [b' ', 0, 0, 0],
                    first_length: 1,
                };
            }
            Some(ifs) => ifs,
        };
        let mut kinds = NONE;
        let mut long = None;
        for character in encoding::characters(ifs) {
            kinds[usize::from(character[0])] |= match character {
                b" " | b"\t" | b"\n" => WHITESPACE_SEPARATOR,
                [_] => OTHER_SEPARATOR,
                _ => {
                    long = Some(ifs.into());
                    MULTIBYTE_SEPARATOR
                }
            };
        }
        let mut first = [0; 4];
        let first_length = encoding::characters(ifs).next().map_or(0, |character| {
            first[..character.len()].copy_from_slice(character);
            character.len()
        });
        Self { kinds: &DEFAULT, own: Some(Box::new(kinds)), long, first, first_length }
    }

    /// Returns the text that joins the elements of `"$*"`.
    pub(crate) fn join(&self) -> &[u8] {
        &self.first[..self.first_length]
    }

    /// Tells whether a separator is not IFS whitespace.
    #[inline]
    pub(crate) fn is_hard(&self, separator: u8) -> bool {
        self.class(separator) & SEPARATOR_MASK > WHITESPACE_SEPARATOR
    }

    /// Tells whether a text, which must not be empty, is one field without pattern operators.
    pub(crate) fn leaves_whole(&self, text: &[u8]) -> bool {
        text.iter().all(|byte| self.class(*byte) == 0) && !text.is_empty()
    }

    /// Returns the length of the text before the first separator, the length of the separator (0 if there is none), and whether the
    /// text has pattern operators.
    #[inline]
    pub(crate) fn next(&self, text: &[u8]) -> (usize, usize, bool) {
        let kinds = self.own.as_deref().unwrap_or(self.kinds);
        if let Some(ifs) = &self.long {
            let (end, length) = self.find_long(ifs, text).unwrap_or((text.len(), 0));
            return (
                end,
                length,
                text[..end].iter().any(|byte| kinds[usize::from(*byte)] & PATTERN_OPERATOR != 0),
            );
        }
        let mut seen = 0;
        for (at, byte) in text.iter().enumerate() {
            let kind = kinds[usize::from(*byte)];
            if kind & SEPARATOR_MASK != 0 {
                return (at, 1, seen & PATTERN_OPERATOR != 0);
            }
            seen |= kind;
        }
        (text.len(), 0, seen & PATTERN_OPERATOR != 0)
    }

    fn find_long(&self, ifs: &[u8], text: &[u8]) -> Option<(usize, usize)> {
        let mut at = 0;
        for character in encoding::characters(text) {
            let separates = match self.class(character[0]) & SEPARATOR_MASK {
                0 => false,
                MULTIBYTE_SEPARATOR => encoding::characters(ifs).any(|separator| separator == character),
                _ => character.len() == 1,
            };
            if separates {
                return Some((at, character.len()));
            }
            at += character.len();
        }
        None
    }

    #[inline]
    fn class(&self, byte: u8) -> u8 {
        self.own.as_deref().unwrap_or(self.kinds)[usize::from(byte)]
    }
}
