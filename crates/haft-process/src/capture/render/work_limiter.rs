use super::VirtualTerminal;

/// Limits the work that control sequences cause, so that rendering takes linear time.
///
/// A few bytes can cause much work: erase the whole screen, or repeat a character 65,535 times. Each byte earns credit, and each
/// sequence costs the number of cells that it may change. A sequence that exceeds the credit is cancelled before its last
/// byte. Programs that draw about as much as they erase never reach the limit.
pub(super) struct WorkLimiter {
    cells: u64,
    columns: u64,
    line_feed_returns: bool,
    state: ParseState,
    credit: u64,
    refused: bool,
}

/// The state of the control sequence parser after the last byte.
#[derive(Clone, Copy)]
enum ParseState {
    Text,
    /// After an escape character.
    Escape,
    /// In a control sequence: its first parameter, and the number of parameters.
    Control {
        number: u64,
        count: u64,
        in_first: bool,
    },
}

/// A part of the terminal's input.
pub(super) enum InputPart<'a> {
    Text(&'a str),
    Control(&'a [u8]),
}

/// Initial and maximum credit.
const MAX_CREDIT: u64 = 32 << 20;
/// Credit per byte.
const CREDIT_PER_BYTE: u64 = 128;
/// Cost of drawing a character, relative to erasing one.
const DRAW_COST: u64 = 32;
/// The control character that cancels a sequence.
const CANCEL: &[u8] = b"\x18";

impl WorkLimiter {
    pub(super) fn new(terminal: VirtualTerminal) -> Self {
        Self {
            cells: terminal.cells(),
            columns: u64::from(terminal.columns.get()),
            line_feed_returns: terminal.line_feed_returns,
            state: ParseState::Text,
            credit: MAX_CREDIT,
            refused: false,
        }
    }

    pub(super) fn resize(&mut self, terminal: VirtualTerminal) {
        self.cells = terminal.cells();
        self.columns = u64::from(terminal.columns.get());
        self.line_feed_returns = terminal.line_feed_returns;
    }

    /// Whether a sequence was cancelled.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Splits the input into text and control sequences, and passes them to `consume` with expensive sequences cancelled.
    pub(super) fn split<'a>(&mut self, text: &'a str, mut consume: impl FnMut(InputPart<'a>)) {
        let bytes = text.as_bytes();
        self.credit = MAX_CREDIT.min(self.credit + CREDIT_PER_BYTE * bytes.len() as u64);
        let mut index = 0;
        while index < bytes.len() {
            if matches!(self.state, ParseState::Text) {
                let length = memchr::memchr2(b'\x1b', b'\n', &bytes[index..]).unwrap_or(bytes.len() - index);
                consume(InputPart::Text(&text[index..index + length]));
                index += length;
                if index == bytes.len() {
                    break;
                }
            }
            if bytes[index] == b'\n' && self.line_feed_returns {
                consume(InputPart::Control(b"\r"));
            }
            let affordable = self.affords(bytes[index]);
            consume(InputPart::Control(if affordable { &bytes[index..=index] } else { CANCEL }));
            index += 1;
        }
    }

    /// Parses one byte. Returns whether the credit covers the sequence that it completes.
    fn affords(&mut self, byte: u8) -> bool {
        let mut cost = 0;
        self.state = match (self.state, byte) {
            (_, b'\x1b') => ParseState::Escape,
            (_, b'\x18' | b'\x1a') | (ParseState::Text, _) => ParseState::Text,
            (ParseState::Escape, b'[') => ParseState::Control { number: 0, count: 1, in_first: true },
            (ParseState::Escape, b'c') => {
                cost = self.cells;
                ParseState::Text
            }
            (ParseState::Escape, 0x30..=0x7e) => ParseState::Text,
            (ParseState::Control { number, count, .. }, b';' | b':') => {
                ParseState::Control { number, count: count + 1, in_first: false }
            }
            (ParseState::Control { number, count, in_first: true }, digit @ b'0'..=b'9') => {
                let number = (number * 10 + u64::from(digit - b'0')).min(u64::from(u16::MAX));
                ParseState::Control { number, count, in_first: true }
            }
            (ParseState::Control { number, count, .. }, 0x40..=0x7e) => {
                cost = self.cost(byte, number, count);
                ParseState::Text
            }
            (state, _) => state,
        };
        let affordable = cost <= self.credit;
        self.credit = self.credit.saturating_sub(if affordable { cost } else { 0 });
        self.refused |= !affordable;
        affordable
    }

    /// Returns the maximum number of cells that a control sequence changes.
    fn cost(&self, last: u8, number: u64, count: u64) -> u64 {
        match last {
            b'b' => number.max(1) * DRAW_COST,
            b'J' | b'L' | b'M' | b'S' | b'T' => self.cells,
            b'@' | b'K' | b'P' | b'X' => self.columns,
            b'h' | b'l' => self.cells * count,
            _ => 1,
        }
    }
}
