//! Reserved words.

use crate::Expected;
use crate::error::Opened;

use super::bytes::{self, BREAK, RESERVED};
use super::{Parser, Result};

/// A reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    Bang,
    OpenBrace,
    CloseBrace,
    Conditional,
    CloseConditional,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    Select,
    Then,
    Time,
    Until,
    While,
}

impl Reserved {
    fn from_text(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"!" => Self::Bang,
            b"{" => Self::OpenBrace,
            b"}" => Self::CloseBrace,
            b"[[" => Self::Conditional,
            b"]]" => Self::CloseConditional,
            b"case" => Self::Case,
            b"coproc" => Self::Coproc,
            b"do" => Self::Do,
            b"done" => Self::Done,
            b"elif" => Self::Elif,
            b"else" => Self::Else,
            b"esac" => Self::Esac,
            b"fi" => Self::Fi,
            b"for" => Self::For,
            b"function" => Self::Function,
            b"if" => Self::If,
            b"in" => Self::In,
            b"select" => Self::Select,
            b"then" => Self::Then,
            b"time" => Self::Time,
            b"until" => Self::Until,
            b"while" => Self::While,
            _ => return None,
        })
    }

    /// Returns the spelling.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Bang => "!",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::Conditional => "[[",
            Self::CloseConditional => "]]",
            Self::Case => "case",
            Self::Coproc => "coproc",
            Self::Do => "do",
            Self::Done => "done",
            Self::Elif => "elif",
            Self::Else => "else",
            Self::Esac => "esac",
            Self::Fi => "fi",
            Self::For => "for",
            Self::Function => "function",
            Self::If => "if",
            Self::In => "in",
            Self::Select => "select",
            Self::Then => "then",
            Self::Time => "time",
            Self::Until => "until",
            Self::While => "while",
        }
    }

    /// Whether it ends a list instead of starting a command.
    pub(super) fn closes(self) -> bool {
        matches!(
            self,
            Self::CloseBrace
                | Self::CloseConditional
                | Self::Do
                | Self::Done
                | Self::Elif
                | Self::Else
                | Self::Esac
                | Self::Fi
                | Self::In
                | Self::Then
        )
    }
}

impl Parser<'_> {
    /// Returns the reserved word that comes next, and the position after it.
    pub(super) fn reserved_ahead(&mut self) -> Option<(Reserved, usize)> {
        let first = self.peek()?;
        if !bytes::is(first, RESERVED) {
            return None;
        }
        let extended = first == b'!' && self.options.extglob && self.input.ahead(1) == Some(b'(');
        if extended || self.no_reserved == Some(self.input.at) {
            return None;
        }
        let rest = self.input.remaining();
        // The longest reserved word is shorter.
        let rest = &rest[..rest.len().min(9)];
        let length = bytes::run(rest, BREAK);
        if length == rest.len() {
            // Either the input ends here, or the word is too long, unless it contains a line continuation.
            return if length < 9 || rest.contains(&b'\\') { self.reserved_slow() } else { None };
        }
        if rest[length] == b'\n' && length > 0 && rest[length - 1] == b'\\' {
            return self.reserved_slow();
        }
        if matches!(rest[length], b'<' | b'>') && self.input.ahead(length + 1) == Some(b'(') {
            // A process substitution continues the word.
            return None;
        }
        Reserved::from_text(&rest[..length]).map(|reserved| (reserved, self.input.at + length))
    }

    /// The slow path, for line continuations and the end of the input.
    #[cold]
    fn reserved_slow(&mut self) -> Option<(Reserved, usize)> {
        let start = self.input.at;
        let mut text = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| !bytes::is(*byte, BREAK)) {
            text.push(byte);
            self.input.at += 1;
            if text.len() > 8 {
                break;
            }
        }
        let end = std::mem::replace(&mut self.input.at, start);
        Reserved::from_text(&text).map(|reserved| (reserved, end))
    }

    /// Consumes a reserved word if it comes next.
    pub(super) fn eat_reserved(&mut self, reserved: Reserved) -> bool {
        match self.reserved_ahead() {
            Some((found, end)) if found == reserved => {
                self.input.at = end;
                true
            }
            _ => false,
        }
    }

    /// Consumes a reserved word that continues or closes the open construct. Fails if another token comes
    /// next.
    pub(super) fn expect_reserved(&mut self, reserved: Reserved, opened: Opened) -> Result<()> {
        if self.eat_reserved(reserved) {
            return Ok(());
        }
        Err(self.unexpected_in_list(Expected::Token(reserved.text()), opened))
    }
}

/// Whether the text is a reserved word.
pub(crate) fn is_reserved(text: &[u8]) -> bool {
    Reserved::from_text(text).is_some()
}
