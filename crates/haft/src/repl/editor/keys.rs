//! Decodes keys from the bytes of a terminal.
//!
//! It reads no byte beyond the key: input typed ahead belongs to the program that runs next.

use std::io;
use std::time::Duration;

use super::terminal::KeyInput;

/// A key, or another event of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditorKey {
    /// A character.
    Character(char),
    /// Ctrl with a letter, in lower case, or with one of `@[\]^_`.
    Control(char),
    /// Alt with a character.
    Alt(char),
    /// Alt with Enter.
    AltEnter,
    /// Alt with Backspace.
    AltBackspace,
    Enter,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    WordLeft,
    WordRight,
    DeleteWord,
    /// Removes the whole line.
    DeleteLine,
    /// Searches the history backward for entries that begin like the text before the cursor.
    PrefixUp,
    /// The same, forward.
    PrefixDown,
    /// Runs a shell command that can change the text.
    Run(String),
    /// Keys that stand for others, which come next.
    Replayed,
    /// Pasted text (bracketed paste).
    Paste(String),
    /// The window size has changed.
    Resized,
    /// An unknown escape sequence.
    Unknown,
    /// The terminal has hung up.
    Gone,
}

/// How long the rest of an escape sequence may take.
pub(super) const SEQUENCE_TIMEOUT: Duration = Duration::from_millis(60);

/// Reads the next key.
pub(crate) fn read(input: &KeyInput<'_>) -> io::Result<EditorKey> {
    let Some(byte) = input.byte(None)? else { return Ok(other_event(input)) };
    Ok(match byte {
        Byte::End => EditorKey::Gone,
        Byte::Is(0x1b) => escape(input)?,
        Byte::Is(first) => plain(input, first)?,
    })
}

/// The event that interrupted the wait for a key.
pub(super) fn other_event(input: &KeyInput<'_>) -> EditorKey {
    match () {
        () if input.events.is_hung_up() => EditorKey::Gone,
        () if input.events.take_interrupted() => EditorKey::Control('c'),
        () => EditorKey::Resized,
    }
}

/// A byte, or the end of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Byte {
    Is(u8),
    End,
}

fn plain(input: &KeyInput<'_>, first: u8) -> io::Result<EditorKey> {
    Ok(match first {
        b'\r' | b'\n' => EditorKey::Enter,
        b'\t' => EditorKey::Tab,
        0x08 | 0x7f => EditorKey::Backspace,
        0 => EditorKey::Control('@'),
        1..=0x1a => EditorKey::Control((first | 0x60) as char),
        0x1b..=0x1f => EditorKey::Control((first | 0x40) as char),
        _ => character(input, first)?.map_or(EditorKey::Unknown, EditorKey::Character),
    })
}

/// Reads the rest of the character that begins with this byte; `None` if it is not valid UTF-8.
fn character(input: &KeyInput<'_>, first: u8) -> io::Result<Option<char>> {
    let length = match first {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Ok(None),
    };
    let mut bytes = [first, 0, 0, 0];
    for place in bytes.iter_mut().take(length).skip(1) {
        match input.byte(Some(SEQUENCE_TIMEOUT))? {
            Some(Byte::Is(next)) => *place = next,
            _ => return Ok(None),
        }
    }
    Ok(std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next()))
}

fn escape(input: &KeyInput<'_>) -> io::Result<EditorKey> {
    let Some(Byte::Is(next)) = input.byte(Some(SEQUENCE_TIMEOUT))? else {
        return Ok(EditorKey::Control('['));
    };
    Ok(match next {
        b'[' => bracket(input)?,
        b'O' => match input.byte(Some(SEQUENCE_TIMEOUT))? {
            Some(Byte::Is(end)) => sequence(&[], end),
            _ => EditorKey::Alt('O'),
        },
        b'\r' | b'\n' => EditorKey::AltEnter,
        0x08 | 0x7f => EditorKey::AltBackspace,
        _ => character(input, next)?.map_or(EditorKey::Unknown, EditorKey::Alt),
    })
}

/// Decodes what follows `ESC [`: parameters, then the final byte.
fn bracket(input: &KeyInput<'_>) -> io::Result<EditorKey> {
    let mut numbers = Vec::new();
    loop {
        let Some(Byte::Is(byte)) = input.byte(Some(SEQUENCE_TIMEOUT))? else { return Ok(EditorKey::Unknown) };
        match byte {
            b'0'..=b'9' | b';' | b':' | b'<'..=b'?' | b' '..=b'/' if numbers.len() < 32 => {
                numbers.push(byte);
            }
            b'~' if numbers == b"200" => return pasted(input),
            end => return Ok(sequence(&numbers, end)),
        }
    }
}

fn sequence(numbers: &[u8], end: u8) -> EditorKey {
    let mut parts = numbers.split(|byte| *byte == b';');
    let first = parts.next().unwrap_or_default();
    // The modifier is one more than the sum of 1 for shift, 2 for alt, 4 for control.
    let by_word = parts.next().and_then(|part| std::str::from_utf8(part).ok()?.parse::<u8>().ok());
    let by_word = by_word.is_some_and(|modifier| modifier.saturating_sub(1) & 0b110 != 0);
    match (first, end) {
        (_, b'A') => EditorKey::Up,
        (_, b'B') => EditorKey::Down,
        (_, b'C') if by_word => EditorKey::WordRight,
        (_, b'C') => EditorKey::Right,
        (_, b'D') if by_word => EditorKey::WordLeft,
        (_, b'D') => EditorKey::Left,
        (_, b'H') | (b"1" | b"7", b'~') => EditorKey::Home,
        (_, b'F') | (b"4" | b"8", b'~') => EditorKey::End,
        (_, b'Z') => EditorKey::BackTab,
        (b"3", b'~') if by_word => EditorKey::DeleteWord,
        (b"3", b'~') => EditorKey::Delete,
        _ => EditorKey::Unknown,
    }
}

/// Reads pasted text up to its end marker, without control characters.
fn pasted(input: &KeyInput<'_>) -> io::Result<EditorKey> {
    const END_MARKER: &[u8] = b"\x1b[201~";
    let mut bytes = Vec::new();
    while !bytes.ends_with(END_MARKER) {
        match input.byte(None)? {
            Some(Byte::Is(byte)) => bytes.push(byte),
            Some(Byte::End) => return Ok(EditorKey::Gone),
            None => {}
        }
    }
    bytes.truncate(bytes.len() - END_MARKER.len());
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
    Ok(EditorKey::Paste(text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_decoded() {
        for (numbers, end, key) in [
            ("", b'A', EditorKey::Up),
            ("1;5", b'C', EditorKey::WordRight),
            ("1;3", b'D', EditorKey::WordLeft),
            ("3", b'~', EditorKey::Delete),
            ("3;5", b'~', EditorKey::DeleteWord),
            ("1", b'~', EditorKey::Home),
            ("99", b'~', EditorKey::Unknown),
        ] {
            assert_eq!(sequence(numbers.as_bytes(), end), key, "{numbers}{}", end as char);
        }
    }
}
