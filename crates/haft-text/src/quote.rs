//! Text quoted so that a shell reads it back as it was.
//!
//! bash has several ways to do so and uses each in certain places:
//!
//! | place | plain text | needs quotes | has characters that cannot be shown |
//! |---|---|---|---|
//! | `${x@Q}` ([`reusable`]) | `'text'` | `'two words'` | `$'a\nb'` |
//! | `printf %q` ([`escaped`]) | `text` | `two\ words` | `$'a\nb'` |
//! | `declare -p` ([`declared`]) | `"text"` | `"two words"` | `$'a\nb'` |
//! | `set` ([`listed`]) | `text` | `'two words'` | `$'a\nb'` |
//! | `set -x` ([`traced`]) | `text` | `'two words'` | `$'\001'` |
//! | `trap -p`, `alias` ([`single`]) | `'text'` | `'two words'` | as it is |
//!
//! Where a character is a byte, only those of ASCII can be shown.

use crate::encoding::Encoding;

/// `${x@Q}`.
#[must_use]
pub fn reusable(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) { ansi(text, encoding) } else { single(text) }
}

/// `printf %q`.
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

/// A value in `declare -p`.
#[must_use]
pub fn declared(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) { ansi(text, encoding) } else { double(text) }
}

/// A key of an associative array in `declare -p`.
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

/// A value in the list that `set` writes.
#[must_use]
pub fn listed(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if needs_ansi(text, encoding) {
        ansi(text, encoding)
    } else if has_metacharacters(text) {
        single(text)
    } else {
        text.to_vec()
    }
}

/// A word in the trace of `set -x`.
#[must_use]
pub fn traced(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if text.is_empty() { b"''".to_vec() } else { traced_value(text, encoding) }
}

/// A value in the trace of an assignment.
#[must_use]
pub fn traced_value(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if has_metacharacters(text) { single(text) } else { listed(text, encoding) }
}

/// In single quotes, whatever it is.
#[must_use]
pub fn single(text: &[u8]) -> Vec<u8> {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'\'');
    for (index, piece) in text.split(|byte| *byte == b'\'').enumerate() {
        if index > 0 {
            quoted.extend_from_slice(b"'\\''");
        }
        quoted.extend_from_slice(piece);
    }
    quoted.push(b'\'');
    quoted
}

/// In double quotes, whatever it is.
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

/// As `$'…'`.
#[must_use]
pub fn ansi(text: &[u8], encoding: Encoding) -> Vec<u8> {
    let mut quoted = b"$'".to_vec();
    for piece in encoding.characters(text) {
        let name = match piece {
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
            _ if is_printable(piece) => {
                quoted.extend_from_slice(piece);
                continue;
            }
            _ => {
                for byte in piece {
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

/// With backslashes.
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

/// Whether a shell would read anything but the text itself.
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

/// Whether only `$'…'` can show the text.
#[must_use]
pub fn needs_ansi(text: &[u8], encoding: Encoding) -> bool {
    if text.is_ascii() {
        // Without a way out in the middle, this goes many bytes at a time.
        return text
            .chunks(1024)
            .any(|some| some.iter().fold(false, |any, byte| any | byte.is_ascii_control()));
    }
    encoding.characters(text).any(|piece| !is_printable(piece))
}

/// Whether a character can be shown; a byte that is part of none cannot.
fn is_printable(piece: &[u8]) -> bool {
    match std::str::from_utf8(piece).ok().and_then(|text| text.chars().next()) {
        Some(letter) if letter.is_ascii() => !letter.is_ascii_control(),
        Some(letter) => {
            is_assigned(letter) && !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}')
        }
        None => false,
    }
}

/// Whether Unicode gives a character a meaning. The escapes of [`str`]'s debug form are the only table of that at hand; they
/// count as unprintable also spaces, formatting characters and private ones, which are told apart here.
fn is_assigned(letter: char) -> bool {
    const OTHERS: &[(u32, u32)] = &[
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
    if OTHERS.iter().any(|&(first, last)| (first..=last).contains(&code)) {
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
    fn each_place_quotes_in_its_own_way() {
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
    fn what_cannot_be_shown_is_written_in_octal() {
        assert_eq!(escaped(b"\xff", Encoding::Utf8), b"$'\\377'");
        assert_eq!(escaped("\u{2028}".as_bytes(), Encoding::Utf8), b"$'\\342\\200\\250'");
        assert_eq!(escaped("\u{378}".as_bytes(), Encoding::Utf8), b"$'\\315\\270'");
        for shown in ["\u{e000}", "\u{200b}", "\u{a0}", "\u{ad}", "\u{301}", "\u{1f600}", "\u{feff}"] {
            assert_eq!(escaped(shown.as_bytes(), Encoding::Utf8), shown.as_bytes(), "{shown:?}");
        }
    }

    #[test]
    fn bytes_beyond_ascii_cannot_be_shown_where_they_are_characters() {
        assert_eq!(escaped("é a".as_bytes(), Encoding::Bytes), b"$'\\303\\251 a'");
        assert_eq!(declared("é".as_bytes(), Encoding::Bytes), b"$'\\303\\251'");
    }

    #[test]
    fn keys_are_quoted_when_they_must() {
        for (key, shown) in [("a", "a"), ("b c", "\"b c\""), ("@", "\"@\""), ("$", "\"\\$\""), ("a-b", "a-b")]
        {
            assert_eq!(text(&declared_key(key.as_bytes(), Encoding::Utf8)), shown);
        }
    }
}
