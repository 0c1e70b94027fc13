use super::VirtualTerminal;

/// Lets through to the terminal what it can do in linear time.
///
/// A few bytes can ask for a lot: erase the whole screen, repeat a character 65,535 times. Each sequence is charged with
/// the cells it may touch, each byte earns some; a sequence that would go into debt is cancelled before its last byte.
/// Programs that draw what they erase never come near that.
pub(super) struct Gate {
    cells: u64,
    columns: u64,
    line_feed_returns: bool,
    place: Place,
    credit: u64,
    refused: bool,
}

/// Where in the grammar of the terminal the last byte was, as far as it matters here.
#[derive(Clone, Copy)]
enum Place {
    Text,
    /// After an escape character.
    Escape,
    /// In a control sequence: its first number, and how many there are.
    Control {
        number: u64,
        count: u64,
        in_first: bool,
    },
}

/// A part of what a terminal gets.
pub(super) enum Part<'a> {
    Text(&'a str),
    Control(&'a [u8]),
}

/// What a stream has to begin with, and the most it can save up.
const CREDIT: u64 = 32 << 20;
/// What each byte earns.
const EARNED: u64 = 128;
/// What drawing a character costs, compared with erasing one.
const DRAWN: u64 = 32;
/// Ends a sequence without effect.
const CANCEL: &[u8] = b"\x18";

impl Gate {
    pub(super) fn new(terminal: VirtualTerminal) -> Self {
        Self {
            cells: terminal.cells(),
            columns: u64::from(terminal.columns.get()),
            line_feed_returns: terminal.line_feed_returns,
            place: Place::Text,
            credit: CREDIT,
            refused: false,
        }
    }

    pub(super) fn resize(&mut self, terminal: VirtualTerminal) {
        self.cells = terminal.cells();
        self.columns = u64::from(terminal.columns.get());
        self.line_feed_returns = terminal.line_feed_returns;
    }

    /// Whether something was not let through.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Hands on the bytes in parts: text, and what belongs to control sequences or moves the cursor.
    pub(super) fn pass<'a>(&mut self, text: &'a str, mut onward: impl FnMut(Part<'a>)) {
        let bytes = text.as_bytes();
        self.credit = CREDIT.min(self.credit + EARNED * bytes.len() as u64);
        let mut index = 0;
        while index < bytes.len() {
            if matches!(self.place, Place::Text) {
                let length = memchr::memchr2(b'\x1b', b'\n', &bytes[index..]).unwrap_or(bytes.len() - index);
                onward(Part::Text(&text[index..index + length]));
                index += length;
                if index == bytes.len() {
                    break;
                }
            }
            if bytes[index] == b'\n' && self.line_feed_returns {
                onward(Part::Control(b"\r"));
            }
            let affordable = self.affords(bytes[index]);
            onward(Part::Control(if affordable { &bytes[index..=index] } else { CANCEL }));
            index += 1;
        }
    }

    /// Follows the grammar by one byte, and says whether what that byte would set off can be paid.
    fn affords(&mut self, byte: u8) -> bool {
        let mut cost = 0;
        self.place = match (self.place, byte) {
            (_, b'\x1b') => Place::Escape,
            (_, b'\x18' | b'\x1a') | (Place::Text, _) => Place::Text,
            (Place::Escape, b'[') => Place::Control { number: 0, count: 1, in_first: true },
            (Place::Escape, b'c') => {
                cost = self.cells;
                Place::Text
            }
            (Place::Escape, 0x30..=0x7e) => Place::Text,
            (Place::Control { number, count, .. }, b';' | b':') => {
                Place::Control { number, count: count + 1, in_first: false }
            }
            (Place::Control { number, count, in_first: true }, digit @ b'0'..=b'9') => {
                let number = (number * 10 + u64::from(digit - b'0')).min(u64::from(u16::MAX));
                Place::Control { number, count, in_first: true }
            }
            (Place::Control { number, count, .. }, 0x40..=0x7e) => {
                cost = self.cost(byte, number, count);
                Place::Text
            }
            (place, _) => place,
        };
        let affordable = cost <= self.credit;
        self.credit = self.credit.saturating_sub(if affordable { cost } else { 0 });
        self.refused |= !affordable;
        affordable
    }

    /// The cells a control sequence may touch, at most.
    fn cost(&self, last: u8, number: u64, count: u64) -> u64 {
        match last {
            b'b' => number.max(1) * DRAWN,
            b'J' | b'L' | b'M' | b'S' | b'T' => self.cells,
            b'@' | b'K' | b'P' | b'X' => self.columns,
            b'h' | b'l' => self.cells * count,
            _ => 1,
        }
    }
}
