//! Removes terminal control sequences from output.

/// Removes escape sequences and carriage returns from a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct AnsiStripper {
    state: AnsiState,
}

#[derive(Clone, Copy, Debug, Default)]
enum AnsiState {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// In a control sequence (CSI), which ends at a letter.
    Control,
    /// In a control string (OSC, DCS and others), which ends at BEL or the next escape sequence.
    String,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

impl AnsiStripper {
    /// Appends the remaining bytes to `stripped`. A sequence may span several calls.
    pub(crate) fn push(&mut self, bytes: &[u8], stripped: &mut Vec<u8>) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (_, ESCAPE) => AnsiState::Escape,
                (AnsiState::Text, b'\r') => AnsiState::Text,
                (AnsiState::Text, _) => {
                    stripped.push(byte);
                    AnsiState::Text
                }
                (AnsiState::Escape, b'[') => AnsiState::Control,
                (AnsiState::Escape, b']' | b'P' | b'X' | b'^' | b'_') => AnsiState::String,
                (AnsiState::Escape, 0x20..=0x2f) => AnsiState::Escape,
                (AnsiState::Control, 0x40..=0x7e) | (AnsiState::String, BELL) | (AnsiState::Escape, _) => {
                    AnsiState::Text
                }
                (state, _) => state,
            };
        }
    }
}

/// Whether the text contains control characters that only a terminal can render.
pub(crate) fn has_controls(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, ESCAPE | b'\r' | 0x08))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_removed_wherever_the_stream_is_split() {
        let stream = b"\x1b[1;32mok\x1b[0m\r\n\x1b]0;title\x07text\x1b]8;;x\x1b\\link\x1b(B!";
        for cut in 0..stream.len() {
            let (mut stripper, mut out) = (AnsiStripper::default(), Vec::new());
            stripper.push(&stream[..cut], &mut out);
            stripper.push(&stream[cut..], &mut out);
            assert_eq!(out, b"ok\ntextlink!");
        }
    }
}
