use std::str::from_utf8;

use serde::Serialize;

/// Bytes decoded as UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecodedText {
    /// The text, with U+FFFD for what is not UTF-8.
    pub text: String,
    /// Whether something was not UTF-8.
    pub lossy: bool,
}

impl DecodedText {
    /// Decodes bytes that are whole.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut decoder = Decoder::new();
        let mut text = String::with_capacity(bytes.len());
        decoder.push(bytes, &mut text);
        decoder.finish(&mut text);
        Self { text, lossy: decoder.lossy() }
    }

    /// Decodes bytes cut out of a stream: a character that was cut through at either side is left out.
    pub fn decode_cut(bytes: &[u8], cut_at_start: bool, cut_at_end: bool) -> Self {
        let start = if cut_at_start { first_boundary(bytes) } else { 0 };
        let end = if cut_at_end { last_boundary(&bytes[start..]) + start } else { bytes.len() };
        Self::decode(&bytes[start..end])
    }
}

/// Decodes a stream piece by piece: a character split between two pieces is decoded with the second.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    lossy: bool,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether something so far was not UTF-8.
    pub fn lossy(&self) -> bool {
        self.lossy
    }

    /// Decodes the next piece and appends its text.
    pub fn push(&mut self, mut bytes: &[u8], text: &mut String) {
        while !self.pending.is_empty() && !bytes.is_empty() {
            self.pending.push(bytes[0]);
            bytes = &bytes[1..];
            let pending = std::mem::take(&mut self.pending);
            self.decode(&pending, text);
        }
        self.decode(bytes, text);
    }

    /// Ends the stream: what is pending was no character.
    pub fn finish(&mut self, text: &mut String) {
        if !self.pending.is_empty() {
            self.pending.clear();
            self.replace(text);
        }
    }

    /// Keeps as pending only what may still become a character, which is at most three bytes.
    fn decode(&mut self, mut bytes: &[u8], text: &mut String) {
        loop {
            let error = match from_utf8(bytes) {
                Ok(valid) => return text.push_str(valid),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            text.push_str(from_utf8(valid).unwrap_or_default());
            let Some(invalid) = error.error_len() else {
                self.pending.extend_from_slice(rest);
                return;
            };
            self.replace(text);
            bytes = &rest[invalid..];
        }
    }

    fn replace(&mut self, text: &mut String) {
        self.lossy = true;
        text.push(char::REPLACEMENT_CHARACTER);
    }
}

/// The index after the rest of a character that began before the bytes.
pub(super) fn first_boundary(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
}

/// The index of a character that goes on after the bytes, or their length when none does.
pub(super) fn last_boundary(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(3)..];
    let Some(start) = last.iter().rposition(|byte| !is_continuation(*byte)) else { return bytes.len() };
    match from_utf8(&last[start..]) {
        Err(error) if error.error_len().is_none() => bytes.len() - last.len() + start,
        _ => bytes.len(),
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [&[u8]; 8] = [
        b"",
        b"plain",
        "grün ☃ 🦀 e\u{301}".as_bytes(),
        b"\xff\xfe",
        b"a\xc3",
        b"\xe2\x98",
        b"\xf0\x9f\xa6x\xc3\xa9\x80\x80",
        b"\xed\xa0\x80 \xc0\x80 \xf8\x88\x80\x80\x80",
    ];

    #[test]
    fn whole_bytes_decode_as_the_standard_library_does() {
        for sample in SAMPLES {
            let expected = String::from_utf8_lossy(sample);
            let text = DecodedText::decode(sample);
            assert_eq!(text.text, expected);
            assert_eq!(text.lossy, from_utf8(sample).is_err());
        }
    }

    #[test]
    fn pieces_decode_as_the_whole_does() {
        for sample in SAMPLES {
            for first in 0..=sample.len() {
                for second in first..=sample.len() {
                    let mut decoder = Decoder::new();
                    let mut text = String::new();
                    for piece in [&sample[..first], &sample[first..second], &sample[second..]] {
                        decoder.push(piece, &mut text);
                    }
                    decoder.finish(&mut text);
                    assert_eq!(DecodedText { text, lossy: decoder.lossy() }, DecodedText::decode(sample));
                }
            }
        }
    }

    #[test]
    fn a_character_cut_through_is_left_out_and_not_lossy() {
        let sample = "ä☃🦀".as_bytes();
        for start in 0..=sample.len() {
            for end in start..=sample.len() {
                let text = DecodedText::decode_cut(&sample[start..end], true, true);
                assert!(!text.lossy, "{start}..{end}: {text:?}");
                assert!("ä☃🦀".contains(&text.text));
            }
        }
    }
}
