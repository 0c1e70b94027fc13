//! The escapes of `sed`: `\t`, `\x41`, `\o101`, `\d065`, `\cA` and others.

/// The context in which escapes are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapeContext {
    Regex,
    Replacement,
    /// The text of `a`, `i` and `c`, and the strings of `y`.
    Text,
}

/// Replaces the escapes that stand for one character, and keeps all others.
pub(super) fn convert(text: &[u8], context: EscapeContext) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let Some(&next) = text.get(at + 1).filter(|_| byte == b'\\') else {
            result.push(byte);
            at += 1;
            continue;
        };
        if is_open_control(&text[at..]) {
            push_open_control(&mut result, context);
            break;
        }
        match character(next, &text[at + 2..]) {
            Some((code, length)) => {
                let is_special = match context {
                    EscapeContext::Replacement => matches!(code, b'&' | b'\\' | b'\n'),
                    EscapeContext::Regex => false,
                    EscapeContext::Text => code == b'\\',
                };
                if is_special {
                    result.push(b'\\');
                }
                result.push(code);
                at += 2 + length;
            }
            None => {
                result.extend([byte, next]);
                at += 2;
            }
        }
    }
    result
}

/// Whether a text is `\c` without the letter of the control character.
pub(super) fn is_open_control(text: &[u8]) -> bool {
    text == b"\\c"
}

/// GNU's `sed` drops the letter `c` then.
fn push_open_control(result: &mut Vec<u8>, context: EscapeContext) {
    result.extend_from_slice(match context {
        EscapeContext::Regex => b"\\".as_slice(),
        EscapeContext::Replacement => b"\\\\",
        EscapeContext::Text => b"\\c",
    });
}

/// Checks that no escape follows `\c`, except for a backslash.
pub(super) fn check_controls(text: &[u8]) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (is_control, after) = (rest.get(at + 1) == Some(&b'c'), rest.get(at + 2..).unwrap_or_default());
        if is_control && after.starts_with(b"\\") && after.get(1) != Some(&b'\\') {
            return Err("recursive escaping after \\c not allowed".to_owned());
        }
        rest = if is_control { after.get(2..).unwrap_or_default() } else { after };
    }
    Ok(())
}

/// The character of an escape, and how many bytes follow its letter. `None` if it is another escape.
fn character(letter: u8, rest: &[u8]) -> Option<(u8, usize)> {
    let code = match letter {
        b'a' => 0x07,
        b'f' => 0x0C,
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        b'c' => {
            let control = rest.first()?;
            let length = if rest.starts_with(b"\\\\") { 2 } else { 1 };
            return Some((control.to_ascii_uppercase() ^ 0x40, length));
        }
        b'd' => return Some(number(letter, rest, 10, 3)),
        b'o' => return Some(number(letter, rest, 8, 3)),
        b'x' => return Some(number(letter, rest, 16, 2)),
        _ => return None,
    };
    Some((code, 0))
}

/// A character by its number, or the letter itself if there are no digits.
fn number(letter: u8, rest: &[u8], base: u32, most: usize) -> (u8, usize) {
    let digits = rest.iter().take(most).map_while(|byte| char::from(*byte).to_digit(base));
    let (code, count) = digits.fold((0u32, 0), |(code, count), digit| (code * base + digit, count + 1));
    if count == 0 { (letter, 0) } else { ((code & 0xFF) as u8, count) }
}

/// Removes the backslashes of the text of `a`, `i` and `c`.
pub(super) fn plain_text(text: &[u8]) -> Vec<u8> {
    let converted = convert(text, EscapeContext::Text);
    let mut result = Vec::with_capacity(converted.len());
    let mut bytes = converted.into_iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => result.push(b'\n'),
                other => result.extend(other),
            },
            _ => result.push(byte),
        }
    }
    result
}
