//! What a person presses, read from a terminal byte by byte.
//!
//! Not a byte more is taken than the key needs: what was typed ahead belongs to the program that runs next.

use std::io;
use std::time::Duration;

use super::terminal::Input;

/// A key, or what the terminal says of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Character(char),
    /// Ctrl with a letter, in lower case, or with one of `@[\]^_`.
    Control(char),
    /// Alt with a character.
    Alt(char),
    /// Alt with Enter.
    AltEnter,
    /// Alt with the key that deletes backward.
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
    /// Text that was pasted, as the terminal marks it.
    Paste(String),
    /// The window has another size now.
    Resized,
    /// A sequence that means nothing here.
    Unknown,
    /// The terminal is gone.
    Gone,
}

/// How long the rest of a sequence may take after the escape character.
const SEQUENCE: Duration = Duration::from_millis(60);

/// Reads the next key.
pub(crate) fn read(input: &Input<'_>) -> io::Result<Key> {
    let Some(byte) = input.byte(None)? else { return Ok(happened(input)) };
    Ok(match byte {
        Byte::End => Key::Gone,
        Byte::Is(0x1b) => escape(input)?,
        Byte::Is(first) => plain(input, first)?,
    })
}

/// What has happened other than a key.
fn happened(input: &Input<'_>) -> Key {
    match () {
        () if input.watch.is_gone() => Key::Gone,
        () if input.watch.take_interrupted() => Key::Control('c'),
        () => Key::Resized,
    }
}

/// A byte, or the end of all bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Byte {
    Is(u8),
    End,
}

fn plain(input: &Input<'_>, first: u8) -> io::Result<Key> {
    Ok(match first {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x08 | 0x7f => Key::Backspace,
        0 => Key::Control('@'),
        1..=0x1a => Key::Control((first | 0x60) as char),
        0x1b..=0x1f => Key::Control((first | 0x40) as char),
        _ => character(input, first)?.map_or(Key::Unknown, Key::Character),
    })
}

/// The character that begins with this byte; `None` if the bytes are no character.
fn character(input: &Input<'_>, first: u8) -> io::Result<Option<char>> {
    let length = match first {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Ok(None),
    };
    let mut bytes = [first, 0, 0, 0];
    for place in bytes.iter_mut().take(length).skip(1) {
        match input.byte(Some(SEQUENCE))? {
            Some(Byte::Is(next)) => *place = next,
            _ => return Ok(None),
        }
    }
    Ok(std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next()))
}

fn escape(input: &Input<'_>) -> io::Result<Key> {
    let Some(Byte::Is(next)) = input.byte(Some(SEQUENCE))? else { return Ok(Key::Control('[')) };
    Ok(match next {
        b'[' => bracket(input)?,
        b'O' => match input.byte(Some(SEQUENCE))? {
            Some(Byte::Is(end)) => sequence(&[], end),
            _ => Key::Alt('O'),
        },
        b'\r' | b'\n' => Key::AltEnter,
        0x08 | 0x7f => Key::AltBackspace,
        _ => character(input, next)?.map_or(Key::Unknown, Key::Alt),
    })
}

/// What follows `ESC [`: numbers, then the byte that says which key it is.
fn bracket(input: &Input<'_>) -> io::Result<Key> {
    let mut numbers = Vec::new();
    loop {
        let Some(Byte::Is(byte)) = input.byte(Some(SEQUENCE))? else { return Ok(Key::Unknown) };
        match byte {
            b'0'..=b'9' | b';' | b':' | b'<'..=b'?' | b' '..=b'/' if numbers.len() < 32 => {
                numbers.push(byte);
            }
            b'~' if numbers == b"200" => return pasted(input),
            end => return Ok(sequence(&numbers, end)),
        }
    }
}

fn sequence(numbers: &[u8], end: u8) -> Key {
    let mut parts = numbers.split(|byte| *byte == b';');
    let first = parts.next().unwrap_or_default();
    // The modifier is one more than the sum of 1 for shift, 2 for alt, 4 for control.
    let by_word = parts.next().and_then(|part| std::str::from_utf8(part).ok()?.parse::<u8>().ok());
    let by_word = by_word.is_some_and(|modifier| modifier.saturating_sub(1) & 0b110 != 0);
    match (first, end) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'C') if by_word => Key::WordRight,
        (_, b'C') => Key::Right,
        (_, b'D') if by_word => Key::WordLeft,
        (_, b'D') => Key::Left,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (_, b'Z') => Key::BackTab,
        (b"3", b'~') if by_word => Key::DeleteWord,
        (b"3", b'~') => Key::Delete,
        _ => Key::Unknown,
    }
}

/// Reads what is pasted, up to the mark of its end. What is no text is left out.
fn pasted(input: &Input<'_>) -> io::Result<Key> {
    const MARK: &[u8] = b"\x1b[201~";
    let mut bytes = Vec::new();
    while !bytes.ends_with(MARK) {
        match input.byte(None)? {
            Some(Byte::Is(byte)) => bytes.push(byte),
            Some(Byte::End) => return Ok(Key::Gone),
            None => {}
        }
    }
    bytes.truncate(bytes.len() - MARK.len());
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
    Ok(Key::Paste(text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_keys() {
        for (numbers, end, key) in [
            ("", b'A', Key::Up),
            ("1;5", b'C', Key::WordRight),
            ("1;3", b'D', Key::WordLeft),
            ("3", b'~', Key::Delete),
            ("3;5", b'~', Key::DeleteWord),
            ("1", b'~', Key::Home),
            ("99", b'~', Key::Unknown),
        ] {
            assert_eq!(sequence(numbers.as_bytes(), end), key, "{numbers}{}", end as char);
        }
    }
}
