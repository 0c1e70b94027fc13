//! Characters within bytes.

/// The length in bytes of the character that `bytes` begins with: that of a UTF-8 sequence, or 1 for a byte that
/// begins none; 0 if there is nothing.
#[must_use]
pub fn character_length(bytes: &[u8]) -> usize {
    let Some(&first) = bytes.first() else { return 0 };
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return 1,
    };
    match bytes.get(..length) {
        Some(sequence) if std::str::from_utf8(sequence).is_ok() => length,
        _ => 1,
    }
}

/// The characters of `bytes`, each as its bytes.
pub fn characters(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (character, after) = rest.split_at(character_length(rest));
        rest = after;
        (!character.is_empty()).then_some(character)
    })
}

/// What a character is, as the locale says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// A sequence of UTF-8, or a byte that is part of none.
    #[default]
    Utf8,
    /// A byte.
    Bytes,
}

impl Encoding {
    /// The encoding that the name of a locale stands for: only those that say so have UTF-8.
    #[must_use]
    pub fn of_locale(name: &[u8]) -> Self {
        let codeset = memchr::memchr(b'.', name).map_or(&[][..], |at| &name[at + 1..]);
        let codeset = &codeset[..memchr::memchr(b'@', codeset).unwrap_or(codeset.len())];
        match codeset.eq_ignore_ascii_case(b"utf-8") || codeset.eq_ignore_ascii_case(b"utf8") {
            true => Self::Utf8,
            false => Self::Bytes,
        }
    }

    /// The length in bytes of the character that `bytes` begins with; 0 if there is nothing.
    #[must_use]
    pub fn character_length(self, bytes: &[u8]) -> usize {
        match self {
            Self::Utf8 => character_length(bytes),
            Self::Bytes => bytes.len().min(1),
        }
    }

    /// The characters of `bytes`, each as its bytes.
    pub fn characters(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let (character, after) = rest.split_at(self.character_length(rest));
            rest = after;
            (!character.is_empty()).then_some(character)
        })
    }

    /// How many characters `bytes` has.
    #[must_use]
    pub fn count(self, bytes: &[u8]) -> usize {
        if self == Self::Bytes { bytes.len() } else { character_count(bytes) }
    }

    /// `bytes` in lower case.
    #[must_use]
    pub fn lower(self, bytes: &[u8]) -> Vec<u8> {
        if self == Self::Bytes || bytes.is_ascii() {
            return bytes.to_ascii_lowercase();
        }
        map_characters(bytes, |letter| single(letter, letter.to_lowercase()))
    }

    /// `bytes` in upper case.
    #[must_use]
    pub fn upper(self, bytes: &[u8]) -> Vec<u8> {
        if self == Self::Bytes || bytes.is_ascii() {
            return bytes.to_ascii_uppercase();
        }
        map_characters(bytes, |letter| single(letter, letter.to_uppercase()))
    }

    /// `bytes` in lower case, but for the first character, which is in upper case.
    #[must_use]
    pub fn capital(self, bytes: &[u8]) -> Vec<u8> {
        let (first, rest) = bytes.split_at(self.character_length(bytes));
        [self.upper(first), self.lower(rest)].concat()
    }
}

/// How many characters `bytes` has.
#[must_use]
pub fn character_count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() { bytes.len() } else { characters(bytes).count() }
}

/// The one letter that case conversion yields; a letter with no single counterpart stays as it is.
fn single(letter: char, mut converted: impl Iterator<Item = char>) -> char {
    match (converted.next(), converted.next()) {
        (Some(only), None) => only,
        _ => letter,
    }
}

fn map_characters(bytes: &[u8], convert: impl Fn(char) -> char) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    for character in characters(bytes) {
        match std::str::from_utf8(character).ok().and_then(|text| text.chars().next()) {
            Some(letter) => result.extend_from_slice(convert(letter).encode_utf8(&mut [0; 4]).as_bytes()),
            None => result.extend_from_slice(character),
        }
    }
    result
}
/// Whether a file is no script: a zero byte in its first line tells.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.iter().take(80).any(|byte| *byte == 0)
}
