//! Key sequences as text, as in an inputrc file.

const ESCAPE: u8 = 0x1b;
const RUBOUT: u8 = 0x7f;
const META: u8 = 0x80;

/// Translates a key sequence: `\C-x`, `\M-x`, `\e`, octal and hexadecimal numbers. A Meta key is a byte with its highest bit set, or
/// an escape before the key if `convert_meta`.
pub(crate) fn translate(text: &[u8], convert_meta: bool) -> Vec<u8> {
    let mut keys = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (key, meta, length) = one_key(rest);
        match meta {
            true if convert_meta => keys.extend([ESCAPE, key]),
            true => keys.push(key | META),
            false => keys.push(key),
        }
        rest = &rest[length..];
    }
    keys
}

/// The key at the start of a text, whether it is a Meta key, and its length in the text.
fn one_key(text: &[u8]) -> (u8, bool, usize) {
    match text {
        [b'\\', b'C' | b'c', b'-', rest @ ..] if !rest.is_empty() => {
            let (key, meta, length) = one_key(rest);
            (control(key), meta, length + 3)
        }
        [b'\\', b'M' | b'm', b'-', rest @ ..] if !rest.is_empty() => {
            let (key, _, length) = one_key(rest);
            (key, true, length + 3)
        }
        [b'\\', rest @ ..] if !rest.is_empty() => {
            let (key, length) = escaped(rest);
            (key, false, length + 1)
        }
        [key, ..] => (*key, false, 1),
        [] => (0, false, 0),
    }
}

/// The character after a backslash, and its length.
fn escaped(text: &[u8]) -> (u8, usize) {
    let key = match text[0] {
        b'a' => 7,
        b'b' => 8,
        b'd' => RUBOUT,
        b'e' => ESCAPE,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => return number(text, 8, 3),
        b'x' => {
            let (key, length) = number(&text[1..], 16, 2);
            return if length == 0 { (b'x', 1) } else { (key, length + 1) };
        }
        other => other,
    };
    (key, 1)
}

fn number(text: &[u8], base: u32, most: usize) -> (u8, usize) {
    let digits: Vec<u32> =
        text.iter().take(most).map_while(|byte| char::from(*byte).to_digit(base)).collect();
    let value = digits.iter().fold(0, |value, digit| value * base + digit);
    (u8::try_from(value & 0xff).unwrap_or(0), digits.len())
}

fn control(key: u8) -> u8 {
    match key {
        b'?' => RUBOUT,
        key => key.to_ascii_uppercase() & 0x1f,
    }
}

/// Translates the name of a single key: `Control-u`, `Meta-Rubout`, `TAB`.
pub(crate) fn translate_name(text: &[u8], convert_meta: bool) -> Vec<u8> {
    let lower = text.to_ascii_lowercase();
    let has =
        |names: [&[u8]; 3]| names.iter().any(|name| lower.windows(name.len()).any(|part| part == *name));
    let start =
        text.iter().rposition(|byte| *byte == b'-').filter(|at| at + 1 < text.len()).map_or(0, |at| at + 1);
    let name = &lower[start..];
    let named: [(&[u8], u8); 9] = [
        (b"del", RUBOUT),
        (b"esc", ESCAPE),
        (b"escape", ESCAPE),
        (b"lfd", b'\n'),
        (b"newline", b'\n'),
        (b"ret", b'\r'),
        (b"return", b'\r'),
        (b"rubout", RUBOUT),
        (b"tab", b'\t'),
    ];
    let known = named.iter().find(|(known, _)| *known == name).map(|(_, key)| *key);
    let spaces: [&[u8]; 2] = [b"space", b"spc"];
    let mut key = known.unwrap_or_else(|| match spaces.contains(&name) {
        true => b' ',
        false => text.get(start).copied().unwrap_or(0),
    });
    if has([b"control-", b"ctrl-", b"c-"]) {
        key = control(key);
    }
    match has([b"meta-", b"m-", b"meta-"]) {
        true if convert_meta => vec![ESCAPE, key],
        true => vec![key | META],
        false => vec![key],
    }
}

/// Writes a key sequence as text.
pub(crate) fn written(keys: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for &key in keys {
        match key {
            ESCAPE => text.extend_from_slice(b"\\e"),
            RUBOUT => text.extend_from_slice(b"\\C-?"),
            0x1c => text.extend_from_slice(b"\\C-\\\\"),
            0..=0x1f => text.extend_from_slice(&[b'\\', b'C', b'-', (key | 0x40).to_ascii_lowercase()]),
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', key]),
            0x80.. => text.extend_from_slice(format!("\\{key:03o}").as_bytes()),
            key => text.push(key),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_sequences_are_translated_both_ways() {
        for (text, keys) in [
            ("\\C-a", b"\x01".as_slice()),
            ("\\C-x\\C-?", b"\x18\x7f"),
            ("\\e[1;5C", b"\x1b[1;5C"),
            ("a\\\"b\\\\", b"a\"b\\"),
            ("\\C-@", b"\0"),
            ("\\C-\\\\", b"\x1c"),
            ("\\200", b"\x80"),
        ] {
            assert_eq!(translate(text.as_bytes(), false), keys, "{text}");
            assert_eq!(written(keys), text.as_bytes(), "{text}");
        }
        assert_eq!(translate(b"\\M-x\\x41\\101\\t", false), b"\xf8AA\t");
        assert_eq!(translate(b"\\M-x\\C-\\M-q", true), b"\x1bx\x1b\x11");
        assert_eq!(translate_name(b"Control-u", false), b"\x15");
        assert_eq!(translate_name(b"Meta-Rubout", false), b"\xff");
        assert_eq!(translate_name(b"TAB", false), b"\t");
    }
}
