//! File names and values in messages, quoted as GNU's tools quote them.

use haft_text::encoding::Encoding;

/// A file name for a message. It is quoted if a shell would not take it as one word.
pub(crate) fn quoted(name: &[u8]) -> String {
    if name.is_empty() {
        return "''".to_owned();
    }
    let special = name.iter().enumerate().any(|(index, &byte)| is_special(byte, index, name.len()));
    let printable = !name.iter().any(u8::is_ascii_control) && std::str::from_utf8(name).is_ok();
    match (special, printable) {
        (false, true) => String::from_utf8_lossy(name).into_owned(),
        (_, true) if !name.contains(&b'\'') => format!("'{}'", String::from_utf8_lossy(name)),
        (_, true) if name.iter().all(|byte| *byte == b'\'' || *byte == b' ' || is_plain(*byte)) => {
            format!("\"{}\"", String::from_utf8_lossy(name))
        }
        _ => escaped(name),
    }
}

/// A value for a message, in the quotes of the locale, with escapes of C.
pub(crate) fn quoted_value(value: &[u8], encoding: Encoding) -> String {
    let (open, close) = match encoding {
        Encoding::Utf8 => ('\u{2018}', '\u{2019}'),
        Encoding::Bytes => ('\'', '\''),
    };
    let mut text = String::from(open);
    for chunk in value.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                '\'' if encoding == Encoding::Bytes => text.push_str("\\'"),
                _ if encoding == Encoding::Bytes && !letter.is_ascii() => push_octal(letter, &mut text),
                _ => text.push_str(&escape(letter).unwrap_or_else(|| letter.to_string())),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\{byte:03o}")));
    }
    text.push(close);
    text
}

fn push_octal(letter: char, text: &mut String) {
    for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
        text.push_str(&format!("\\{byte:03o}"));
    }
}

/// A file name for a message, always in quotes.
pub(crate) fn quoted_always(value: &[u8]) -> String {
    let text = quoted(value);
    if text.starts_with(['\'', '"']) { text } else { format!("'{text}'") }
}

/// Whether a byte means the same in all quotes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"%+,-./:]_@".contains(&byte)
}

/// Whether a byte must be quoted in a shell.
fn is_special(byte: u8, index: usize, length: usize) -> bool {
    match byte {
        b'#' | b'~' => index == 0,
        b'{' | b'}' => length == 1,
        b' ' | b'\t' | b'\n' => true,
        _ => b"!\"$&'()*;<=>?[\\^`|".contains(&byte),
    }
}

/// Single quotes, with `$'…'` around characters that cannot be shown.
fn escaped(name: &[u8]) -> String {
    let mut text = String::from("'");
    let mut in_escape = false;
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let escape = escape(letter);
            if escape.is_some() != in_escape {
                text.push_str(if in_escape { "''" } else { "'$'" });
                in_escape = !in_escape;
            }
            match (escape, letter) {
                (Some(escape), _) => text.push_str(&escape),
                (None, '\'') => text.push_str("'\\''"),
                (None, letter) => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            if !in_escape {
                text.push_str("'$'");
                in_escape = true;
            }
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    text.push('\'');
    text
}

/// The escape sequence of a character that cannot be shown.
fn escape(letter: char) -> Option<String> {
    Some(match letter {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\x07' => "\\a".to_owned(),
        '\x08' => "\\b".to_owned(),
        '\x0b' => "\\v".to_owned(),
        '\x0c' => "\\f".to_owned(),
        control if control.is_ascii_control() => format!("\\{:03o}", u32::from(control)),
        _ => return None,
    })
}
