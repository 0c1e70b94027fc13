//! ANSI-C quoting: `$'…'`.

use crate::ast::{Bytes, PartKind, WordFlags};

use super::builder::WordBuilder;
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses `$'…'`. `start` is the position of the dollar sign; the next byte is the quote.
    pub(super) fn ansi_quoted(&mut self, start: usize, builder: &mut WordBuilder) -> Result<()> {
        let first = self.input.at + 1;
        let mut at = first;
        loop {
            while at >= self.input.limit() {
                if !self.input.refill() {
                    return Err(self.unclosed("'", "$'", start));
                }
            }
            match self.input.slice(at, at + 1)[0] {
                b'\'' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        let text = decode(self.input.slice(first, at));
        self.input.at = at + 1;
        let kind = PartKind::AnsiQuoted(Bytes::from(text.as_slice()));
        builder.push(kind, self.span_from(start), WordFlags::QUOTED);
        Ok(())
    }
}

/// Decodes the text of `$'…'`. A NUL ends it, as in bash.
fn decode(mut text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(at) = memchr::memchr(b'\\', text) {
        decoded.extend_from_slice(&text[..at]);
        let before = decoded.len();
        let length = escape(&text[at + 1..], &mut decoded);
        if decoded.get(before) == Some(&0) {
            decoded.truncate(before);
            return decoded;
        }
        text = &text[at + 1 + length..];
    }
    decoded.extend_from_slice(text);
    decoded
}

/// Decodes the escape sequence after a backslash. Returns its length.
fn escape(text: &[u8], decoded: &mut Vec<u8>) -> usize {
    let Some(first) = text.first() else {
        decoded.push(b'\\');
        return 0;
    };
    let simple = match first {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => *first,
        b'0'..=b'7' => return octal(text, decoded),
        b'x' => return hexadecimal(text, decoded),
        b'u' => return unicode(text, 4, decoded),
        b'U' => return unicode(text, 8, decoded),
        b'c' => return control(text, decoded),
        _ => {
            decoded.extend_from_slice(&[b'\\', *first]);
            return 1;
        }
    };
    decoded.push(simple);
    1
}

fn octal(text: &[u8], decoded: &mut Vec<u8>) -> usize {
    let (value, length) = digits(text, 8, 3);
    decoded.push(low_byte(value));
    length
}

fn hexadecimal(text: &[u8], decoded: &mut Vec<u8>) -> usize {
    let braced = text.get(1) == Some(&b'{');
    let skipped = 1 + usize::from(braced);
    let (value, length) = digits(&text[skipped..], 16, if braced { 8 } else { 2 });
    if length == 0 && !braced {
        decoded.extend_from_slice(b"\\x");
        return 1;
    }
    // Braces without digits are a NUL.
    decoded.push(low_byte(value));
    let closed = braced && text.get(skipped + length) == Some(&b'}');
    skipped + length + usize::from(closed)
}

fn unicode(text: &[u8], max: usize, decoded: &mut Vec<u8>) -> usize {
    let (value, length) = digits(&text[1..], 16, max);
    if length == 0 {
        decoded.extend_from_slice(&[b'\\', text[0]]);
        return 1;
    }
    push_code_point(value, decoded);
    length + 1
}

/// Appends the UTF-8 form of a number. As in bash, it may be beyond Unicode.
fn push_code_point(value: u32, decoded: &mut Vec<u8>) {
    if let Some(character) = char::from_u32(value) {
        return decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let (lead, following) = match value {
        0..=0xffff => (0xe0, 2),
        0x1_0000..=0x1f_ffff => (0xf0, 3),
        0x20_0000..=0x3ff_ffff => (0xf8, 4),
        0x400_0000..=0x7fff_ffff => (0xfc, 5),
        _ => return,
    };
    decoded.push(lead | low_byte(value >> (6 * following)));
    decoded.extend((0..following).rev().map(|place| 0x80 | low_byte(value >> (6 * place)) & 0x3f));
}

fn control(text: &[u8], decoded: &mut Vec<u8>) -> usize {
    match text.get(1) {
        Some(b'\\') if text.get(2) == Some(&b'\\') => {
            decoded.push(b'\\' & 0x1f);
            3
        }
        Some(b'?') => {
            decoded.push(0x7f);
            2
        }
        Some(byte) => {
            decoded.push(byte & 0x1f);
            2
        }
        None => {
            decoded.extend_from_slice(b"\\c");
            1
        }
    }
}

/// Returns the value of up to `max` digits, and their number.
fn digits(text: &[u8], base: u32, max: usize) -> (u32, usize) {
    let digit = |byte: &u8| char::from(*byte).to_digit(base);
    let values = text.iter().take(max).map_while(digit);
    values
        .fold((0u32, 0), |(value, length), digit| (value.wrapping_mul(base).wrapping_add(digit), length + 1))
}

fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}
