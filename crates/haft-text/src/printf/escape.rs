//! Backslash escapes: of a `printf` format, of `%b`, of `echo -e`.

/// Where escapes are expanded; the places differ in a few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The format of `printf`.
    Format,
    /// An argument of `%b`.
    Argument,
    /// `echo -e`.
    Echo,
}

/// Appends text with its escapes expanded. Yields whether to go on: not after a `\c`, except in a format, which has
/// none.
pub fn expand(text: &[u8], place: Place, output: &mut Vec<u8>) -> bool {
    let mut rest = text;
    while let Some(start) = memchr::memchr(b'\\', rest) {
        output.extend_from_slice(&rest[..start]);
        let escape = &rest[start + 1..];
        let Some((&letter, after)) = escape.split_first() else {
            output.push(b'\\');
            return true;
        };
        rest = after;
        match letter {
            b'a' => output.push(0x07),
            b'b' => output.push(0x08),
            b'e' | b'E' => output.push(0x1b),
            b'f' => output.push(0x0c),
            b'n' => output.push(b'\n'),
            b'r' => output.push(b'\r'),
            b't' => output.push(b'\t'),
            b'v' => output.push(0x0b),
            b'\\' => output.push(b'\\'),
            b'\'' | b'"' | b'?' if place == Place::Format => output.push(letter),
            b'c' if place != Place::Format => return false,
            _ => rest = &escape[number(escape, place, output)..],
        }
    }
    output.extend_from_slice(rest);
    true
}

/// What `printf` says of escapes that lack the digits they need; it writes them as they are.
#[must_use]
pub fn complaints(text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = memchr::memchr(b'\\', rest) {
        let escape = &rest[start + 1..];
        let kind = match escape.first() {
            Some(b'x') => "hex",
            Some(b'u' | b'U') => "unicode",
            _ => "",
        };
        if !kind.is_empty() && !escape.get(1).is_some_and(u8::is_ascii_hexdigit) {
            found.push(format!("missing {kind} digit for \\{}", char::from(escape[0])).into_bytes());
        }
        rest = escape.get(1..).unwrap_or_default();
    }
    found
}

/// Appends what a number stands for, or the backslash alone. Yields how much of the escape was used.
fn number(escape: &[u8], place: Place, output: &mut Vec<u8>) -> usize {
    let (skip, radix, most) = match (escape.first(), place) {
        (Some(b'0'), Place::Argument | Place::Echo) => (0, 8, 4),
        (Some(b'0'..=b'7'), Place::Format | Place::Argument) => (0, 8, 3),
        (Some(b'x'), _) => (1, 16, 2),
        (Some(b'u'), _) => (1, 16, 4),
        (Some(b'U'), _) => (1, 16, 8),
        _ => {
            output.push(b'\\');
            return 0;
        }
    };
    let digits = escape[skip..].iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, count) =
        digits.fold((0u32, 0), |(value, count), digit| (value.wrapping_mul(radix) + digit, count + 1));
    if count == 0 {
        output.push(b'\\');
        return 0;
    }
    match escape.first() {
        Some(b'u' | b'U') => encode(value, output),
        _ => output.push(value.to_le_bytes()[0]),
    }
    skip + count
}

/// Appends a character as UTF-8; what is beyond Unicode goes on in the same way, up to six bytes.
fn encode(code: u32, output: &mut Vec<u8>) {
    if code < 0x80 {
        output.push(code.to_le_bytes()[0]);
        return;
    }
    let more = match code {
        0..0x800 => 1,
        0x800..0x1_0000 => 2,
        0x1_0000..0x20_0000 => 3,
        0x20_0000..0x400_0000 => 4,
        0x400_0000.. => 5,
    };
    let lead = (0xff00_u32 >> (more + 1)) & 0xff;
    output.push((lead | (code >> (6 * more))).to_le_bytes()[0]);
    for index in (0..more).rev() {
        output.push((0x80 | ((code >> (6 * index)) & 0x3f)).to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: Place, text: &str) -> Vec<u8> {
        let mut output = Vec::new();
        expand(text.as_bytes(), place, &mut output);
        output
    }

    #[test]
    fn each_place_has_its_own_octal_numbers() {
        for (text, format, argument, echo) in [
            ("\\123", &b"S"[..], &b"S"[..], &b"\\123"[..]),
            ("\\0123", b"\n3", b"S", b"S"),
            ("\\1", b"\x01", b"\x01", b"\\1"),
            ("\\777", b"\xff", b"\xff", b"\\777"),
            ("\\'\\\"\\?", b"'\"?", b"\\'\\\"\\?", b"\\'\\\"\\?"),
            ("a\\cb", b"a\\cb", b"a", b"a"),
            ("\\8\\z\\", b"\\8\\z\\", b"\\8\\z\\", b"\\8\\z\\"),
        ] {
            assert_eq!(at(Place::Format, text), format, "{text}");
            assert_eq!(at(Place::Argument, text), argument, "{text}");
            assert_eq!(at(Place::Echo, text), echo, "{text}");
        }
    }

    #[test]
    fn characters_by_their_number() {
        for (text, bytes) in [
            ("\\x414", &b"A4"[..]),
            ("\\x", b"\\x"),
            ("\\u", b"\\u"),
            ("\\u00e91", b"\xc3\xa91"),
            ("\\U1f600", b"\xf0\x9f\x98\x80"),
            ("\\ud800", b"\xed\xa0\x80"),
            ("\\U7fffffff", b"\xfd\xbf\xbf\xbf\xbf\xbf"),
        ] {
            assert_eq!(at(Place::Echo, text), bytes, "{text}");
        }
    }
}
