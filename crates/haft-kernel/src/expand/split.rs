//! The characters that separate fields.

use crate::text;

/// What `IFS` says.
#[derive(Clone, Debug)]
pub(crate) struct Separators {
    /// For each byte: 0 none, 1 white space, 2 another separator, 3 the first byte of a longer separator.
    kinds: &'static [u8; 256],
    own: Option<Box<[u8; 256]>>,
    /// The value of `IFS`, if a separator of it is longer than a byte.
    long: Option<Box<[u8]>>,
    /// The first character of `IFS`, which joins `"$*"`.
    first: [u8; 4],
    first_length: usize,
}

static DEFAULT: [u8; 256] = {
    let mut kinds = [0; 256];
    kinds[b' ' as usize] = 1;
    kinds[b'\t' as usize] = 1;
    kinds[b'\n' as usize] = 1;
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
        let mut kinds = [0; 256];
        let mut long = None;
        for character in text::characters(ifs) {
            kinds[usize::from(character[0])] = match character {
                b" " | b"\t" | b"\n" => 1,
                [_] => 2,
                _ => {
                    long = Some(ifs.into());
                    3
                }
            };
        }
        let mut first = [0; 4];
        let first_length = text::characters(ifs).next().map_or(0, |character| {
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
        self.kind(separator) > 1
    }

    /// Whether a byte separates, or begins what may.
    #[inline]
    pub(crate) fn separates(&self, byte: u8) -> bool {
        self.kind(byte) != 0
    }

    /// Where the first separator of a text is, and how long it is.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        match &self.long {
            None => text.iter().position(|byte| self.separates(*byte)).map(|at| (at, 1)),
            Some(ifs) => self.find_long(ifs, text),
        }
    }

    fn find_long(&self, ifs: &[u8], text: &[u8]) -> Option<(usize, usize)> {
        let mut at = 0;
        for character in text::characters(text) {
            let separates = match self.kind(character[0]) {
                0 => false,
                3 => text::characters(ifs).any(|separator| separator == character),
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
        match &self.own {
            None => self.kinds[usize::from(byte)],
            Some(own) => own[usize::from(byte)],
        }
    }
}
