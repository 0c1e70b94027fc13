//! The characters that separate fields.

use haft_text::encoding;

/// What `IFS` says.
#[derive(Clone, Debug)]
pub(crate) struct Separators {
    /// What each byte is, unless `own` says it.
    kinds: &'static [u8; 256],
    own: Option<Box<[u8; 256]>>,
    /// The value of `IFS`, if a separator of it is longer than a byte.
    long: Option<Box<[u8]>>,
    /// The first character of `IFS`, which joins `"$*"`.
    first: [u8; 4],
    first_length: usize,
}

/// What a byte is: white space that separates, another separator, or the first byte of a longer one; and whether it makes a
/// pattern of its field.
const SPACE: u8 = 1;
const HARD: u8 = 2;
const LONG: u8 = 3;
const SEPARATES: u8 = 3;
const GLOB: u8 = 4;

static DEFAULT: [u8; 256] = {
    let mut kinds = NONE;
    kinds[b' ' as usize] = SPACE;
    kinds[b'\t' as usize] = SPACE;
    kinds[b'\n' as usize] = SPACE;
    kinds
};

const NONE: [u8; 256] = {
    let mut kinds = [0; 256];
    kinds[b'*' as usize] = GLOB;
    kinds[b'?' as usize] = GLOB;
    kinds[b'[' as usize] = GLOB;
    kinds[b'(' as usize] = GLOB;
    kinds
};

impl Separators {
    /// What a value of `IFS` says; `None` is an unset one.
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
                b" " | b"\t" | b"\n" => SPACE,
                [_] => HARD,
                _ => {
                    long = Some(ifs.into());
                    LONG
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

    /// What joins the elements of `"$*"`.
    pub(crate) fn join(&self) -> &[u8] {
        &self.first[..self.first_length]
    }

    /// Whether a separator is no white space.
    #[inline]
    pub(crate) fn is_hard(&self, separator: u8) -> bool {
        self.kind(separator) & SEPARATES > SPACE
    }

    /// Whether a text, not empty, is one field and no pattern.
    pub(crate) fn leaves_whole(&self, text: &[u8]) -> bool {
        text.iter().all(|byte| self.kind(*byte) == 0) && !text.is_empty()
    }

    /// How long the text before the first separator is, how long that is (0 if there is none), and whether the text is a
    /// pattern.
    #[inline]
    pub(crate) fn next(&self, text: &[u8]) -> (usize, usize, bool) {
        let kinds = self.own.as_deref().unwrap_or(self.kinds);
        if let Some(ifs) = &self.long {
            let (end, length) = self.find_long(ifs, text).unwrap_or((text.len(), 0));
            return (end, length, text[..end].iter().any(|byte| kinds[usize::from(*byte)] & GLOB != 0));
        }
        let mut seen = 0;
        for (at, byte) in text.iter().enumerate() {
            let kind = kinds[usize::from(*byte)];
            if kind & SEPARATES != 0 {
                return (at, 1, seen & GLOB != 0);
            }
            seen |= kind;
        }
        (text.len(), 0, seen & GLOB != 0)
    }

    fn find_long(&self, ifs: &[u8], text: &[u8]) -> Option<(usize, usize)> {
        let mut at = 0;
        for character in encoding::characters(text) {
            let separates = match self.kind(character[0]) & SEPARATES {
                0 => false,
                LONG => encoding::characters(ifs).any(|separator| separator == character),
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
    fn kind(&self, byte: u8) -> u8 {
        self.own.as_deref().unwrap_or(self.kinds)[usize::from(byte)]
    }
}
