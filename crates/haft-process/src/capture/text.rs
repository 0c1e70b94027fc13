use std::str::from_utf8;

use serde::Serialize;

/// Text decoded from UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecodedText {
    /// The text, with U+FFFD for invalid bytes.
    pub text: String,
    /// Whether there were invalid bytes.
    pub lossy: bool,
}

impl DecodedText {
    /// Decodes complete text.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut decoder = Decoder::new();
        let mut text = String::with_capacity(bytes.len());
        decoder.push(bytes, &mut text);
        decoder.finish(&mut text);
        Self { text, lossy: decoder.lossy() }
    }

    /// Decodes a part of a stream. Omits an incomplete character at a side that is cut.
    pub fn decode_cut(bytes: &[u8], cut_at_start: bool, cut_at_end: bool) -> Self {
        let start = if cut_at_start { first_boundary(bytes) } else { 0 };
        let end = if cut_at_end { last_boundary(&bytes[start..]) + start } else { bytes.len() };
        Self::decode(&bytes[start..end])
    }
}

/// Decodes a stream in pieces. A character that is split between two pieces is decoded with the second one.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    lossy: bool,
}

impl Decoder {
    /// Makes a decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there were invalid bytes so far.
    pub fn lossy(&self) -> bool {
        self.lossy
    }

    /// Decodes the next piece and appends its text to `text`.
    pub fn push(&mut self, mut bytes: &[u8], text: &mut String) {
        while !self.pending.is_empty() && !bytes.is_empty() {
            self.pending.push(bytes[0]);
            bytes = &bytes[1..];
            let pending = std::mem::take(&mut self.pending);
            self.decode(&pending, text);
        }
        self.decode(bytes, text);
    }

    /// Ends the stream. Replaces an incomplete character.
    pub fn finish(&mut self, text: &mut String) {
        if !self.pending.is_empty() {
            self.pending.clear();
            self.replace(text);
        }
    }

    /// Keeps an incomplete character, at most three bytes, as pending.
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

/// Returns the index of the first character that starts in the bytes.
pub(super) fn first_boundary(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
}

/// Returns the index of an incomplete character at the end, or the length if there is none.
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
    fn complete_text_decodes_as_in_the_standard_library() {
        for sample in SAMPLES {
            let expected = String::from_utf8_lossy(sample);
            let text = DecodedText::decode(sample);
            assert_eq!(text.text, expected);
            assert_eq!(text.lossy, from_utf8(sample).is_err());
        }
    }

    #[test]
    fn pieces_decode_like_the_whole() {
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
    fn incomplete_characters_at_a_cut_are_omitted() {
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
