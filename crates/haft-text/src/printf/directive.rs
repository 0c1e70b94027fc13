//! Parsing of a format into text and directives.

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatPiece<'a> {
    /// Text without directives, before backslash escapes are expanded.
    Text(&'a [u8]),
    Directive(Directive<'a>),
    /// An invalid directive. `text` is its last character, or everything from the `%` on if the format ended.
    Invalid {
        text: &'a [u8],
        ended: bool,
    },
    /// `%(…)` with another letter than `T` after it.
    InvalidTime {
        text: &'a [u8],
        letter: u8,
    },
}

/// A conversion such as `%-10.3s`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Directive<'a> {
    pub(super) flags: PrintfFlags,
    pub(super) width: Option<Count>,
    pub(super) precision: Option<Count>,
    /// The conversion letter.
    pub(super) conversion: u8,
    /// The text in the parentheses of `%(…)T`.
    pub(super) time: &'a [u8],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PrintfFlags {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    pub(super) alternate: bool,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Number(i64),
    /// `*`: the value of an argument.
    Argument,
}

/// Splits the first piece off a format, which must not be empty. Returns the piece and the rest.
pub(super) fn next_piece(format: &[u8]) -> (FormatPiece<'_>, &[u8]) {
    if format.first() != Some(&b'%') {
        let end = text_end(format);
        return (FormatPiece::Text(&format[..end]), &format[end..]);
    }
    let mut reader = DirectiveReader { format, index: 1 };
    let mut directive = Directive { flags: reader.flags(), ..Directive::default() };
    directive.width = reader.count();
    if reader.peek() == Some(b'.') {
        reader.index += 1;
        directive.precision = Some(reader.count().unwrap_or(Count::Number(0)));
    }
    while let Some(b'h' | b'j' | b'l' | b'L' | b't' | b'z') = reader.peek() {
        reader.index += 1;
    }
    reader.conversion(directive)
}

/// Returns the end of the text before the next directive. An escaped backslash or percent sign is text.
fn text_end(format: &[u8]) -> usize {
    let mut index = 0;
    while let Some(&byte) = format.get(index) {
        match byte {
            b'%' => return index,
            b'\\' if format.get(index + 1).is_some_and(|next| *next != b'%') => index += 2,
            _ => index += 1,
        }
    }
    format.len()
}

struct DirectiveReader<'a> {
    format: &'a [u8],
    index: usize,
}

impl<'a> DirectiveReader<'a> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.index).copied()
    }

    fn flags(&mut self) -> PrintfFlags {
        let mut flags = PrintfFlags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'-' => flags.left = true,
                b'+' => flags.plus = true,
                b' ' => flags.space = true,
                b'0' => flags.zero = true,
                b'#' => flags.alternate = true,
                b'\'' => {}
                _ => break,
            }
            self.index += 1;
        }
        flags
    }

    fn count(&mut self) -> Option<Count> {
        if self.peek() == Some(b'*') {
            self.index += 1;
            return Some(Count::Argument);
        }
        let mut number: Option<i64> = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let value = number.unwrap_or(0).saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            number = Some(value);
            self.index += 1;
        }
        number.map(Count::Number)
    }

    fn conversion(&mut self, mut directive: Directive<'a>) -> (FormatPiece<'a>, &'a [u8]) {
        let format = self.format;
        let Some(letter) = self.peek() else {
            return (FormatPiece::Invalid { text: format, ended: true }, &[]);
        };
        let start = self.index;
        self.index += 1;
        let known = match letter {
            b'(' => self.time(&mut directive),
            b'%' if start > 1 => false,
            b'%' | b'b' | b'c' | b'd' | b'i' | b'n' | b'o' | b'q' | b'Q' | b's' | b'u' | b'x' | b'X'
            | b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                directive.conversion = letter;
                true
            }
            _ => false,
        };
        if known {
            return (FormatPiece::Directive(directive), &format[self.index..]);
        }
        if letter == b'('
            && directive.conversion == b'T'
            && let Some(&letter) = format.get(self.index - 1)
        {
            let (text, rest) = format.split_at(self.index);
            return (FormatPiece::InvalidTime { text, letter }, rest);
        }
        (FormatPiece::Invalid { text: &format[start..=start], ended: false }, &[])
    }

    /// Reads `(…)T` up to the matching parenthesis.
    fn time(&mut self, directive: &mut Directive<'a>) -> bool {
        let format = self.format;
        let start = self.index;
        let mut depth = 1;
        while let Some(byte) = self.peek() {
            self.index += 1;
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                directive.time = &format[start..self.index - 1];
                directive.conversion = b'T';
                let closed = self.peek() == Some(b'T');
                self.index += 1;
                return closed;
            }
        }
        false
    }
}
