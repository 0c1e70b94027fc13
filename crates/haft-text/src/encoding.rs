//! Characters within bytes.

/// How many bytes of the first line [`is_binary`] looks at, as bash does.
const BINARY_CHECK_BYTES: usize = 80;

/// Returns the length in bytes of the first character: of a UTF-8 sequence, or 1 if the first byte starts no valid sequence. The
/// length is 0 if `bytes` is empty.
#[must_use]
#[inline]
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

/// Iterates over the characters of `bytes`, each as its bytes.
pub fn characters(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (character, after) = rest.split_at(character_length(rest));
        rest = after;
        (!character.is_empty()).then_some(character)
    })
}

/// The character encoding of a locale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// A character is a UTF-8 sequence; an invalid byte is a character of its own.
    #[default]
    Utf8,
    /// Every byte is a character.
    Bytes,
}

impl Encoding {
    /// Returns the encoding of a locale, such as `en_US.UTF-8`. Only a name with the codeset UTF-8 means UTF-8.
    #[must_use]
    pub fn of_locale(name: &[u8]) -> Self {
        let codeset = memchr::memchr(b'.', name).map_or(&[][..], |at| &name[at + 1..]);
        let codeset = &codeset[..memchr::memchr(b'@', codeset).unwrap_or(codeset.len())];
        match codeset.eq_ignore_ascii_case(b"utf-8") || codeset.eq_ignore_ascii_case(b"utf8") {
            true => Self::Utf8,
            false => Self::Bytes,
        }
    }

    /// Returns the length in bytes of the first character, or 0 if `bytes` is empty.
    #[must_use]
    #[inline]
    pub fn character_length(self, bytes: &[u8]) -> usize {
        match self {
            Self::Utf8 => character_length(bytes),
            Self::Bytes => bytes.len().min(1),
        }
    }

    /// Iterates over the characters of `bytes`, each as its bytes.
    pub fn characters(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let (character, after) = rest.split_at(self.character_length(rest));
            rest = after;
            (!character.is_empty()).then_some(character)
        })
    }

    /// Counts the characters of `bytes`.
    #[must_use]
    #[inline]
    pub fn count(self, bytes: &[u8]) -> usize {
        if self == Self::Bytes { bytes.len() } else { character_count(bytes) }
    }

    /// Converts `bytes` to lower case.
    #[must_use]
    #[inline]
    pub fn to_lowercase(self, bytes: &[u8]) -> Vec<u8> {
        if self == Self::Bytes || bytes.is_ascii() {
            return bytes.to_ascii_lowercase();
        }
        map_characters(bytes, |letter| single(letter, letter.to_lowercase()))
    }

    /// Converts `bytes` to upper case.
    #[must_use]
    #[inline]
    pub fn to_uppercase(self, bytes: &[u8]) -> Vec<u8> {
        if self == Self::Bytes || bytes.is_ascii() {
            return bytes.to_ascii_uppercase();
        }
        map_characters(bytes, |letter| single(letter, letter.to_uppercase()))
    }

    /// Converts the first character to upper case and the rest to lower case.
    #[must_use]
    pub fn capitalize(self, bytes: &[u8]) -> Vec<u8> {
        let (first, rest) = bytes.split_at(self.character_length(bytes));
        [self.to_uppercase(first), self.to_lowercase(rest)].concat()
    }
}

/// Counts the characters of `bytes`.
#[must_use]
#[inline]
pub fn character_count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() { bytes.len() } else { characters(bytes).count() }
}

/// Returns the letter that case conversion yields. A letter that converts to several letters stays unchanged.
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

/// Tells whether the content of a file is binary, so that it is not run as a script: its first line has a NUL byte.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.iter().take(BINARY_CHECK_BYTES).any(|byte| *byte == 0)
}
