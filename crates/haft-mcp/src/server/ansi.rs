//! Terminal output without its control sequences, as it comes.

/// Takes escape sequences and carriage returns out of a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct AnsiStripper {
    state: AnsiState,
}

#[derive(Clone, Copy, Debug, Default)]
enum AnsiState {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// In a control sequence, which a letter ends.
    Control,
    /// In a string for the terminal, which a bell or an escape sequence ends.
    String,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

impl AnsiStripper {
    /// Appends what is left of these bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], plain: &mut Vec<u8>) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (_, ESCAPE) => AnsiState::Escape,
                (AnsiState::Text, b'\r') => AnsiState::Text,
                (AnsiState::Text, _) => {
                    plain.push(byte);
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

/// Whether there is something in the text that only a terminal makes sense of.
pub(crate) fn has_controls(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, ESCAPE | b'\r' | 0x08))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_taken_out_wherever_they_are_cut() {
        let stream = b"\x1b[1;32mok\x1b[0m\r\n\x1b]0;title\x07text\x1b]8;;x\x1b\\link\x1b(B!";
        for cut in 0..stream.len() {
            let (mut plain, mut out) = (AnsiStripper::default(), Vec::new());
            plain.push(&stream[..cut], &mut out);
            plain.push(&stream[cut..], &mut out);
            assert_eq!(out, b"ok\ntextlink!");
        }
    }
}
