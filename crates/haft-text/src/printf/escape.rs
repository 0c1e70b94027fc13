//! Backslash escapes of a `printf` format, of `%b`, and of `echo -e`.

/// The context in which escapes are expanded. Each context has escapes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeContext {
    /// The format of `printf`.
    Format,
    /// An argument of `%b`.
    Argument,
    /// `echo -e`.
    Echo,
}

/// Appends text with its escapes expanded. Returns false after `\c`, which ends the output; a format has no such escape.
pub fn expand(text: &[u8], context: EscapeContext, output: &mut Vec<u8>) -> bool {
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
            b'\'' | b'"' | b'?' if context == EscapeContext::Format => output.push(letter),
            b'c' if context != EscapeContext::Format => return false,
            _ => rest = &escape[expand_number(escape, context, output)..],
        }
    }
    output.extend_from_slice(rest);
    true
}

/// Returns the error messages for escapes without the digits they need. `printf` writes such escapes unchanged.
#[must_use]
pub fn missing_digits(text: &[u8]) -> Vec<Vec<u8>> {
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

/// Appends the byte or character of a numeric escape, or the backslash alone. Returns the length of the escape.
fn expand_number(escape: &[u8], context: EscapeContext, output: &mut Vec<u8>) -> usize {
    let (skip, radix, max_digits) = match (escape.first(), context) {
        (Some(b'0'), EscapeContext::Argument | EscapeContext::Echo) => (0, 8, 4),
        (Some(b'0'..=b'7'), EscapeContext::Format | EscapeContext::Argument) => (0, 8, 3),
        (Some(b'x'), _) => (1, 16, 2),
        (Some(b'u'), _) => (1, 16, 4),
        (Some(b'U'), _) => (1, 16, 8),
        _ => {
            output.push(b'\\');
            return 0;
        }
    };
    let digits = escape[skip..].iter().take(max_digits).map_while(|byte| char::from(*byte).to_digit(radix));
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

/// Appends a character as UTF-8. Codes beyond Unicode are encoded in the same way, in up to six bytes, as in bash.
fn encode(code: u32, output: &mut Vec<u8>) {
    // Larger numbers have no such form.
    if code > 0x7fff_ffff {
        return;
    }
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

    fn at(context: EscapeContext, text: &str) -> Vec<u8> {
        let mut output = Vec::new();
        expand(text.as_bytes(), context, &mut output);
        output
    }

    #[test]
    fn octal_escapes_depend_on_the_context() {
        for (text, format, argument, echo) in [
            ("\\123", &b"S"[..], &b"S"[..], &b"\\123"[..]),
            ("\\0123", b"\n3", b"S", b"S"),
            ("\\1", b"\x01", b"\x01", b"\\1"),
            ("\\777", b"\xff", b"\xff", b"\\777"),
            ("\\'\\\"\\?", b"'\"?", b"\\'\\\"\\?", b"\\'\\\"\\?"),
            ("a\\cb", b"a\\cb", b"a", b"a"),
            ("\\8\\z\\", b"\\8\\z\\", b"\\8\\z\\", b"\\8\\z\\"),
        ] {
            assert_eq!(at(EscapeContext::Format, text), format, "{text}");
            assert_eq!(at(EscapeContext::Argument, text), argument, "{text}");
            assert_eq!(at(EscapeContext::Echo, text), echo, "{text}");
        }
    }

    #[test]
    fn hexadecimal_and_unicode_escapes() {
        for (text, bytes) in [
            ("\\x414", &b"A4"[..]),
            ("\\x", b"\\x"),
            ("\\u", b"\\u"),
            ("\\u00e91", b"\xc3\xa91"),
            ("\\U1f600", b"\xf0\x9f\x98\x80"),
            ("\\ud800", b"\xed\xa0\x80"),
            ("\\U7fffffff", b"\xfd\xbf\xbf\xbf\xbf\xbf"),
        ] {
            assert_eq!(at(EscapeContext::Echo, text), bytes, "{text}");
        }
    }
}
