//! The modes that an output sets on a terminal and does not reset.

use std::collections::BTreeSet;

/// Modes that are on by default: automatic wrap, visible cursor.
const DEFAULT_MODES: [u16; 2] = [7, 25];
/// The longest list of modes in a sequence.
const MAX_SEQUENCE_BYTES: usize = 256;

/// Finds the sequences that set and reset private modes, also if they are split.
#[derive(Debug, Default)]
pub(super) struct TerminalModes {
    /// A sequence that has begun, without its escape character.
    sequence: Option<Vec<u8>>,
    /// The modes that differ from the default.
    changed: BTreeSet<u16>,
    has_application_keypad: bool,
}

impl TerminalModes {
    /// Looks at the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.take(byte);
        }
    }

    fn take(&mut self, byte: u8) {
        if byte == 0x1b {
            self.sequence = Some(Vec::new());
            return;
        }
        let Some(sequence) = &mut self.sequence else { return };
        sequence.push(byte);
        let goes_on = match sequence.as_slice() {
            [b'['] | [b'[', b'?'] => true,
            [b'[', b'?', .., b'0'..=b'9' | b';'] => sequence.len() < MAX_SEQUENCE_BYTES,
            _ => false,
        };
        if !goes_on && let Some(sequence) = self.sequence.take() {
            self.apply(&sequence);
        }
    }

    fn apply(&mut self, sequence: &[u8]) {
        match sequence {
            b"=" => self.has_application_keypad = true,
            b">" => self.has_application_keypad = false,
            [b'[', b'?', list @ .., end @ (b'h' | b'l')] => {
                let list = String::from_utf8_lossy(list);
                for mode in list.split(';').filter_map(|mode| mode.parse().ok()) {
                    let is_set = *end == b'h';
                    if is_set == DEFAULT_MODES.contains(&mode) {
                        self.changed.remove(&mode);
                    } else {
                        self.changed.insert(mode);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the bytes that bring a terminal back to its defaults: modes, colours, character set.
    pub(super) fn reset(&self) -> String {
        let mut text = String::from("\x1b[0m\x1b(B");
        for mode in &self.changed {
            let end = if DEFAULT_MODES.contains(mode) { 'h' } else { 'l' };
            text.push_str(&format!("\x1b[?{mode}{end}"));
        }
        if self.has_application_keypad {
            text.push_str("\x1b>");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reset_after(parts: &[&str]) -> String {
        let mut modes = TerminalModes::default();
        parts.iter().for_each(|part| modes.push(part.as_bytes()));
        modes.reset().split_off("\x1b[0m\x1b(B".len())
    }

    #[test]
    fn modes_that_stay_set_are_reset() {
        assert_eq!(reset_after(&["\x1b[?1049h\x1b[2J\x1b[?25l", "text\x1b[?25h"]), "\x1b[?1049l");
        assert_eq!(reset_after(&["\x1b[?25l\x1b[?1000;1006h\x1b="]), "\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b>");
        assert_eq!(reset_after(&["\x1b[?1049h", "\x1b[?1049l\x1b=\x1b>"]), "");
    }

    #[test]
    fn sequences_may_be_split_and_broken() {
        assert_eq!(reset_after(&["\x1b", "[", "?", "20", "04", "h"]), "\x1b[?2004l");
        assert_eq!(reset_after(&["\x1b[?\x1b[?7l", "\x1b[?x5h", "\x1b[?99999999h", "\x1b[31m"]), "\x1b[?7h");
    }
}
