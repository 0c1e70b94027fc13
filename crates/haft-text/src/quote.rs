//! Quoting of text so that a shell reads it back unchanged.
//!
//! bash has several styles, one for each of these places:
//!
//! | place | plain text | text that needs quotes | unprintable characters |
//! |---|---|---|---|
//! | `${x@Q}` ([`reusable`]) | `'text'` | `'two words'` | `$'a\nb'` |
//! | `printf %q` ([`escaped`]) | `text` | `two\ words` | `$'a\nb'` |
//! | `declare -p` ([`declared`]) | `"text"` | `"two words"` | `$'a\nb'` |
//! | `set` ([`listed`]) | `text` | `'two words'` | `$'a\nb'` |
//! | `set -x` ([`traced`]) | `text` | `'two words'` | `$'\001'` |
//! | `trap -p`, `alias` ([`single`]) | `'text'` | `'two words'` | unchanged |
//!
//! In a locale where every byte is a character, only ASCII characters are printable.

use crate::encoding::Encoding;

/// Quotes text as `${x@Q}` does.
#[must_use]
pub fn reusable(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) { ansi(text, encoding) } else { single(text) }
}

/// Quotes text as `printf %q` does.
#[must_use]
pub fn escaped(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if text.is_empty() {
        b"''".to_vec()
    } else if needs_ansi(text, encoding) {
        ansi(text, encoding)
    } else {
        backslashed(text)
    }
}

/// Quotes a value as `declare -p` does.
#[must_use]
pub fn declared(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) { ansi(text, encoding) } else { double(text) }
}

/// Quotes a key of an associative array as `declare -p` does.
#[must_use]
pub fn declared_key(key: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(key, encoding) {
        ansi(key, encoding)
    } else if has_metacharacters(key) || matches!(key, b"" | b"@" | b"*") {
        double(key)
    } else {
        key.to_vec()
    }
}

/// Quotes a value as `set` without arguments does.
#[must_use]
#[inline]
pub fn listed(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) {
        ansi(text, encoding)
    } else if has_metacharacters(text) {
        single(text)
    } else {
        text.to_vec()
    }
}

/// Quotes a word as the trace of `set -x` does.
#[must_use]
#[inline]
pub fn traced(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if text.is_empty() { b"''".to_vec() } else { traced_value(text, encoding) }
}

/// Quotes the value of an assignment as the trace of `set -x` does.
#[must_use]
pub fn traced_value(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if has_metacharacters(text) { single(text) } else { listed(text, encoding) }
}

/// Puts text in single quotes, whether it needs them or not.
#[must_use]
pub fn single(text: &[u8]) -> Vec<u8> {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'\'');
    for (index, character) in text.split(|byte| *byte == b'\'').enumerate() {
        if index > 0 {
            quoted.extend_from_slice(b"'\\''");
        }
        quoted.extend_from_slice(character);
    }
    quoted.push(b'\'');
    quoted
}

/// Puts text in double quotes, whether it needs them or not.
#[must_use]
pub fn double(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'"');
    let special = |byte: &u8| matches!(byte, b'$' | b'`' | b'"' | b'\\');
    let mut rest = text;
    while let Some(at) = rest.iter().position(special) {
        quoted.extend_from_slice(&rest[..at]);
        quoted.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    quoted.extend_from_slice(rest);
    quoted.push(b'"');
    quoted
}

/// Quotes text as `$'…'`.
#[must_use]
pub fn ansi(text: &[u8], encoding: Encoding) -> Vec<u8> {
    let mut quoted = b"$'".to_vec();
    for character in encoding.characters(text) {
        let name = match character {
            [0x07] => b'a',
            [0x08] => b'b',
            [0x1b] => b'E',
            [0x0c] => b'f',
            b"\n" => b'n',
            b"\r" => b'r',
            b"\t" => b't',
            [0x0b] => b'v',
            b"\\" => b'\\',
            b"'" => b'\'',
            _ if is_printable(character) => {
                quoted.extend_from_slice(character);
                continue;
            }
            _ => {
                for byte in character {
                    quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                }
                continue;
            }
        };
        quoted.extend_from_slice(&[b'\\', name]);
    }
    quoted.push(b'\'');
    quoted
}

/// Quotes text with backslashes.
#[must_use]
fn backslashed(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len() + 8);
    for (index, &byte) in text.iter().enumerate() {
        let escape = match byte {
            b' ' | b'!' | b'"' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b',' | b';' | b'<' | b'>'
            | b'?' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' => true,
            b'#' => index == 0,
            b'~' => index == 0 || matches!(text[index - 1], b':' | b'='),
            _ => false,
        };
        if escape {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted
}

/// Tells whether a shell would treat any character of the text specially.
#[must_use]
pub fn has_metacharacters(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(index, &byte)| match byte {
        b' ' | b'\t' | b'\n' | b'!' | b'"' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b';' | b'<'
        | b'>' | b'?' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' => true,
        b'#' => index == 0 || matches!(text[index - 1], b' ' | b'\t' | b'\n'),
        b'~' => index == 0 || matches!(text[index - 1], b':' | b'='),
        _ => false,
    })
}

/// Tells whether the text has characters that only `$'…'` can show.
#[must_use]
pub fn needs_ansi(text: &[u8], encoding: Encoding) -> bool {
    if text.is_ascii() {
        // A fold without an early exit is vectorized.
        return text
            .chunks(1024)
            .any(|chunk| chunk.iter().fold(false, |any, byte| any | byte.is_ascii_control()));
    }
    encoding.characters(text).any(|character| !is_printable(character))
}

/// Tells whether a character is printable. An invalid byte is not.
fn is_printable(character: &[u8]) -> bool {
    match std::str::from_utf8(character).ok().and_then(|text| text.chars().next()) {
        Some(letter) if letter.is_ascii() => !letter.is_ascii_control(),
        Some(letter) => {
            is_assigned(letter) && !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}')
        }
        None => false,
    }
}

/// Tells whether a character is assigned in Unicode. The table behind [`str::escape_debug`] decides; it also escapes spaces, format
/// characters and private-use characters, which are assigned and listed here.
fn is_assigned(letter: char) -> bool {
    const ASSIGNED_BUT_ESCAPED: &[(u32, u32)] = &[
        (0xa0, 0xa0),
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x8e2, 0x8e2),
        (0x1680, 0x1680),
        (0x180e, 0x180e),
        (0x2000, 0x200f),
        (0x202a, 0x202f),
        (0x205f, 0x2064),
        (0x2066, 0x206f),
        (0x3000, 0x3000),
        (0xe000, 0xf8ff),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x1_10bd, 0x1_10bd),
        (0x1_d173, 0x1_d17a),
        (0xe_0001, 0xe_0001),
        (0xe_0020, 0xe_007f),
        (0xf_0000, 0xf_fffd),
        (0x10_0000, 0x10_fffd),
    ];
    let code = u32::from(letter);
    if ASSIGNED_BUT_ESCAPED.iter().any(|&(first, last)| (first..=last).contains(&code)) {
        return true;
    }
    let mut shown = String::from("a");
    shown.push(letter);
    !shown.escape_debug().any(|escape| escape == '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn each_style_matches_bash() {
        for (source, q, percent, declare, list) in [
            ("", "''", "''", "\"\"", ""),
            ("a", "'a'", "a", "\"a\"", "a"),
            ("a b", "'a b'", "a\\ b", "\"a b\"", "'a b'"),
            ("a,b", "'a,b'", "a\\,b", "\"a,b\"", "a,b"),
            ("'", "\\'", "\\'", "\"'\"", "\\'"),
            ("it's", "'it'\\''s'", "it\\'s", "\"it's\"", "'it'\\''s'"),
            ("$x`\\\"", "'$x`\\\"'", "\\$x\\`\\\\\\\"", "\"\\$x\\`\\\\\\\"\"", "'$x`\\\"'"),
            ("#a", "'#a'", "\\#a", "\"#a\"", "'#a'"),
            ("a#", "'a#'", "a#", "\"a#\"", "a#"),
            ("~", "'~'", "\\~", "\"~\"", "'~'"),
            ("a~", "'a~'", "a~", "\"a~\"", "a~"),
            ("a=~", "'a=~'", "a=\\~", "\"a=~\"", "'a=~'"),
            ("a\nb", "$'a\\nb'", "$'a\\nb'", "$'a\\nb'", "$'a\\nb'"),
            ("\u{1}'\u{1b}", "$'\\001\\'\\E'", "$'\\001\\'\\E'", "$'\\001\\'\\E'", "$'\\001\\'\\E'"),
            ("é", "'é'", "é", "\"é\"", "é"),
        ] {
            let bytes = source.as_bytes();
            assert_eq!(text(&reusable(bytes, Encoding::Utf8)), q, "@Q of {source:?}");
            assert_eq!(text(&escaped(bytes, Encoding::Utf8)), percent, "%q of {source:?}");
            assert_eq!(text(&declared(bytes, Encoding::Utf8)), declare, "declare -p of {source:?}");
            assert_eq!(text(&listed(bytes, Encoding::Utf8)), list, "set of {source:?}");
        }
    }

    #[test]
    fn unprintable_characters_are_written_in_octal() {
        assert_eq!(escaped(b"\xff", Encoding::Utf8), b"$'\\377'");
        assert_eq!(escaped("\u{2028}".as_bytes(), Encoding::Utf8), b"$'\\342\\200\\250'");
        assert_eq!(escaped("\u{378}".as_bytes(), Encoding::Utf8), b"$'\\315\\270'");
        for shown in ["\u{e000}", "\u{200b}", "\u{a0}", "\u{ad}", "\u{301}", "\u{1f600}", "\u{feff}"] {
            assert_eq!(escaped(shown.as_bytes(), Encoding::Utf8), shown.as_bytes(), "{shown:?}");
        }
    }

    #[test]
    fn non_ascii_bytes_are_unprintable_in_the_c_locale() {
        assert_eq!(escaped("é a".as_bytes(), Encoding::Bytes), b"$'\\303\\251 a'");
        assert_eq!(declared("é".as_bytes(), Encoding::Bytes), b"$'\\303\\251'");
    }

    #[test]
    fn keys_are_quoted_when_needed() {
        for (key, shown) in [("a", "a"), ("b c", "\"b c\""), ("@", "\"@\""), ("$", "\"\\$\""), ("a-b", "a-b")]
        {
            assert_eq!(text(&declared_key(key.as_bytes(), Encoding::Utf8)), shown);
        }
    }
}
