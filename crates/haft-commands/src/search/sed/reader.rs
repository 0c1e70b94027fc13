//! Reads the characters of a script.

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;

/// A part of a script: the value of `-e`, or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptPart {
    pub(super) text: Bytes,
    pub(super) origin: PartOrigin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartOrigin {
    /// The number of the expression, from 1.
    Expression(usize),
    File(Bytes),
}

/// A cursor over one part.
pub(super) struct PartReader<'a> {
    part: &'a ScriptPart,
    pub(super) at: usize,
    /// Whether it is the first part of the script.
    pub(super) is_first: bool,
}

impl<'a> PartReader<'a> {
    pub(super) fn new(part: &'a ScriptPart) -> Self {
        Self { part, at: 0, is_first: false }
    }

    /// The next byte. `None` at the end.
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.part.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The next byte that is not a blank.
    pub(super) fn next_nonblank(&mut self) -> Option<u8> {
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                other => return other,
            }
        }
    }

    /// Reads a byte again that [`next`](Self::next) returned.
    pub(super) fn back(&mut self, byte: Option<u8>) {
        self.at -= usize::from(byte.is_some());
    }

    /// The whole part.
    pub(super) fn text(&self) -> &'a [u8] {
        &self.part.text
    }

    /// Whether the next byte is this one.
    pub(super) fn is_at(&self, byte: u8) -> bool {
        self.part.text.get(self.at) == Some(&byte)
    }

    /// The part, for messages about something that is missing in it.
    pub(super) fn place(&self) -> String {
        match &self.part.origin {
            PartOrigin::Expression(number) => format!("-e expression #{number}, char 0"),
            PartOrigin::File(name) => {
                let line = self.part.text[..self.at].iter().filter(|byte| **byte == b'\n').count() + 1;
                format!("file {} line {line}", String::from_utf8_lossy(name))
            }
        }
    }

    /// A message with the position.
    pub(super) fn message(&self, problem: &str) -> String {
        match &self.part.origin {
            PartOrigin::Expression(number) => {
                format!("-e expression #{number}, char {}: {problem}", self.at)
            }
            PartOrigin::File(_) => format!("{}: {problem}", self.place()),
        }
    }

    /// A number whose first digit was read. 0 if that is not a digit.
    pub(super) fn number(&mut self, first: Option<u8>) -> u64 {
        let (mut number, mut next) = (0u64, first);
        while let Some(digit @ b'0'..=b'9') = next {
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            next = self.next();
        }
        self.back(next);
        number
    }

    /// The rest of the line, without blanks before it: the name of a file.
    pub(super) fn file_name(&mut self) -> Bytes {
        let mut name = Vec::new();
        let mut next = self.next_nonblank();
        while let Some(byte) = next.filter(|byte| *byte != b'\n') {
            name.push(byte);
            next = self.next();
        }
        Bytes::from(name)
    }

    /// A label: up to blanks, a semicolon or a brace.
    pub(super) fn label(&mut self) -> Bytes {
        let mut name = Vec::new();
        let mut next = self.next_nonblank();
        while let Some(byte) = next.filter(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'}'))
        {
            name.push(byte);
            next = self.next();
        }
        self.back(next);
        Bytes::from(name)
    }

    /// Checks that the delimiter that was read last is not the first byte of a longer character.
    pub(super) fn check_delimiter(&self, encoding: Encoding) -> Result<(), String> {
        match encoding.character_length(&self.part.text[self.at - 1..]) > 1 {
            true => Err("delimiter character is not a single-byte character".to_owned()),
            false => Ok(()),
        }
    }

    /// The text up to a delimiter. `None` if the delimiter is missing.
    pub(super) fn delimited(&mut self, delimiter: u8, is_regex: bool) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut bracket = BracketState::Outside;
        loop {
            let byte = self.next()?;
            if byte == b'\n' {
                self.back(Some(byte));
                return None;
            }
            if byte == delimiter && matches!(bracket, BracketState::Outside) {
                return Some(text);
            }
            if byte == b'\\' {
                match self.next()? {
                    b'n' if is_regex => text.push(b'\n'),
                    b'\n' => text.push(b'\n'),
                    next if next == delimiter && (is_regex || next != b'&') => text.push(next),
                    next => text.extend([b'\\', next]),
                }
                bracket = bracket.after_escape();
                continue;
            }
            text.push(byte);
            if is_regex {
                bracket = bracket.step(byte, self.part.text.get(self.at).copied());
            }
        }
    }
}

/// The position within a bracket expression. A delimiter within one is a character.
enum BracketState {
    Outside,
    /// After `[`.
    Start,
    /// After `[^`.
    Negated,
    Inside,
    /// In `[:…`, `[.…` or `[=…`.
    Symbol(u8),
    /// After the mark that may end a symbol.
    SymbolEnd,
}

impl BracketState {
    fn step(self, byte: u8, next: Option<u8>) -> Self {
        match (self, byte) {
            (Self::Outside, b'[') => Self::Start,
            (Self::Outside, _) => Self::Outside,
            (Self::Start, b'^') => Self::Negated,
            (Self::Inside, b']') => Self::Outside,
            (Self::Start | Self::Negated | Self::Inside, b'[') => match next {
                Some(mark @ (b':' | b'.' | b'=')) => Self::Symbol(mark),
                _ => Self::Inside,
            },
            (Self::Start | Self::Negated | Self::Inside, _) => Self::Inside,
            (Self::Symbol(mark), byte) if byte == mark && next == Some(b']') => Self::SymbolEnd,
            (Self::Symbol(mark), _) => Self::Symbol(mark),
            (Self::SymbolEnd, _) => Self::Inside,
        }
    }

    /// The state after an escape.
    fn after_escape(self) -> Self {
        match self {
            Self::Start | Self::Negated => Self::Inside,
            other => other,
        }
    }
}
