//! Character classes.

/// Metacharacters, which end a word: blanks, newline, and the first characters of operators.
pub(super) const BREAK: u16 = 1;
/// Quotes and expansions: `\`, `'`, `"`, `$`, `` ` ``.
pub(super) const QUOTE: u16 = 1 << 1;
/// `*`, `?`, `[`, and the prefixes of extended globs `@`, `+`, `!`.
pub(super) const GLOB: u16 = 1 << 2;
/// `{`, `,`, `}`: braces.
pub(super) const BRACE: u16 = 1 << 3;
/// Can start a name.
pub(super) const NAME_START: u16 = 1 << 4;
/// Can continue a name.
pub(super) const NAME: u16 = 1 << 5;
/// `0` to `9`.
pub(super) const DIGIT: u16 = 1 << 6;
/// `}`.
pub(super) const CLOSE_BRACE: u16 = 1 << 7;
/// `/`.
pub(super) const SLASH: u16 = 1 << 8;
/// `(`, `)`, `|`.
pub(super) const GROUP: u16 = 1 << 9;
/// `[`, `]`.
pub(super) const BRACKET: u16 = 1 << 10;
/// `:`.
pub(super) const COLON: u16 = 1 << 11;
/// `=`.
pub(super) const EQUAL: u16 = 1 << 12;
/// Special inside double quotes: `\`, `"`, `$`, `` ` ``.
pub(super) const DOUBLE: u16 = 1 << 13;
/// Space, tab.
pub(super) const BLANK: u16 = 1 << 14;
/// Can start a reserved word.
pub(super) const RESERVED: u16 = 1 << 15;

const fn class(byte: u8) -> u16 {
    let reserved =
        matches!(byte, b'!' | b'[' | b']' | b'{' | b'}' | b'c'..=b'f' | b'i' | b's' | b't' | b'u' | b'w');
    let other = match byte {
        b' ' | b'\t' => BREAK | BLANK,
        b'\n' | b';' | b'&' | b'<' | b'>' => BREAK,
        b'|' | b'(' | b')' => BREAK | GROUP,
        b'\\' | b'"' | b'$' | b'`' => QUOTE | DOUBLE,
        b'\'' => QUOTE,
        b'*' | b'?' | b'@' | b'+' | b'!' => GLOB,
        b'[' => GLOB | BRACKET,
        b']' => BRACKET,
        b'{' | b',' => BRACE,
        b'}' => BRACE | CLOSE_BRACE,
        b'0'..=b'9' => NAME | DIGIT,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => NAME | NAME_START,
        b'/' => SLASH,
        b':' => COLON,
        b'=' => EQUAL,
        _ => 0,
    };
    if reserved { other | RESERVED } else { other }
}

static CLASSES: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
        let byte = index as u8;
        table[index] = class(byte);
        index += 1;
    }
    table
};

/// Whether `byte` belongs to any class in `mask`.
#[inline]
pub(super) fn is(byte: u8, mask: u16) -> bool {
    CLASSES[usize::from(byte)] & mask != 0
}

/// Returns the length of the prefix of `text` whose bytes belong to no class in `mask`.
#[inline]
pub(super) fn run(text: &[u8], mask: u16) -> usize {
    text.iter().position(|byte| is(*byte, mask)).unwrap_or(text.len())
}

/// Returns the length of the prefix of `text` whose bytes belong to a class in `mask`.
#[inline]
pub(super) fn run_of(text: &[u8], mask: u16) -> usize {
    text.iter().position(|byte| !is(*byte, mask)).unwrap_or(text.len())
}

/// Returns the length of the name at the start of `text`.
#[inline]
pub(super) fn name_length(text: &[u8]) -> usize {
    match text.first() {
        Some(first) if is(*first, NAME_START) => {
            text.iter().position(|byte| !is(*byte, NAME)).unwrap_or(text.len())
        }
        _ => 0,
    }
}

/// Whether `text` is a name.
pub(super) fn is_name(text: &[u8]) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}
