//! Syntax errors.

use std::fmt;

use crate::Bytes;
use crate::ast::{LineIndex, Span};
use crate::excerpt::SourceExcerpt;
use crate::expected::Expected;

/// A syntax error: what the parser found, what it expected, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The position at which the parser noticed the error.
    pub span: Span,
    /// The token found there, in quotes, or `end of input`.
    pub found: String,
    /// The expected token or construct.
    pub expected: Option<Expected>,
    /// The construct that is still open.
    pub opened: Option<Opened>,
    /// The delimiter and the place of a here-document without an end, which is the likely cause.
    pub here_document: Option<Box<(Bytes, Span)>>,
    /// A suggestion for fixing the error.
    pub hint: Option<String>,
    /// Whether more input could complete the text. An interactive reader then reads another line.
    pub incomplete: bool,
}

/// The kind of a [`SyntaxError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An unexpected token.
    Unexpected,
    /// A quote, substitution or bracket was never closed.
    Unclosed,
    /// The text is nested deeper than [`MAX_NESTING_DEPTH`](crate::MAX_NESTING_DEPTH).
    TooDeep,
    /// The text is longer than 4 GiB.
    TooLong,
    /// A command has more here-documents than bash allows.
    TooManyHereDocuments,
    /// An invalid arithmetic expression.
    Arithmetic,
    /// Parsing was cancelled: see [`ParseOptions::cancel`](crate::ParseOptions::cancel).
    Cancelled,
}

impl ErrorKind {
    /// Whether parsing must stop. Such an error says nothing about the text, so the parser tries no
    /// alternative.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::TooDeep | Self::Cancelled | Self::TooManyHereDocuments)
    }
}

/// An open construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The token that opened it: `if`, `$(`, `"`.
    pub what: &'static str,
    /// The position of that token.
    pub span: Span,
}

impl Opened {
    /// Whether a line after the text could close the construct: whether it contains the closing token. This is cheaper than
    /// parsing the text again. It does not hold if aliases are expanded.
    #[must_use]
    pub fn may_end_in(&self, line: &[u8]) -> bool {
        let is_word = |closer: &[u8]| {
            memchr::memmem::find_iter(line, closer).any(|at| {
                let before = at.checked_sub(1).map(|before| line[before]);
                let after = line.get(at + closer.len()).copied();
                [before, after].into_iter().flatten().all(ends_word)
            })
        };
        let joins_lines = || memchr::memmem::find(line, b"\\\n").is_some();
        match self.what {
            "if" => is_word(b"fi") || joins_lines(),
            "case" => is_word(b"esac") || joins_lines(),
            "for" | "select" | "until" | "while" => is_word(b"done") || joins_lines(),
            "{" => is_word(b"}") || joins_lines(),
            "(" => line.contains(&b')'),
            _ => true,
        }
    }
}

/// Whether a byte separates words: a metacharacter, or a backquote.
fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b";&|()<>`".contains(&byte)
}

impl SyntaxError {
    /// Returns the message on one line, without the location: lower case, no period.
    #[must_use]
    pub fn message(&self) -> String {
        let found = &self.found;
        match (self.kind, &self.expected, &self.opened) {
            (ErrorKind::TooDeep, ..) => "nested too deeply".to_owned(),
            (ErrorKind::Cancelled, ..) => "parsing was cancelled".to_owned(),
            (ErrorKind::TooManyHereDocuments, ..) => "maximum here-document count exceeded".to_owned(),
            (ErrorKind::TooLong, ..) => "the text is too long".to_owned(),
            (ErrorKind::Unclosed, _, Some(opened)) if quote_name(opened.what).is_some() => {
                format!("unterminated {}", quote_name(opened.what).unwrap_or_default())
            }
            (_, Some(expected), Some(opened)) => {
                format!("expected {expected} to close \"{}\", found {found}", opened.what)
            }
            (_, Some(expected), None) => format!("expected {expected}, found {found}"),
            (_, None, _) => format!("unexpected {found}"),
        }
    }

    /// Whether bash only skips the line and goes on with the next one: after an error in the list of an array assignment.
    #[must_use]
    pub fn skips_line(&self) -> bool {
        self.expected == Some(Expected::ArrayElement) && !self.incomplete
    }

    /// Whether the error is in `[[ ]]`. Bash ends a script there as if the text ended: with the status of the last command.
    #[must_use]
    pub fn is_in_conditional(&self, source: &[u8]) -> bool {
        let in_test = match self.expected {
            Some(Expected::Test | Expected::UnaryOperand | Expected::BinaryOperand) => true,
            Some(Expected::TestOperator | Expected::Token("]]")) => true,
            Some(Expected::Token(")")) => self.span.of(source) == b"]]",
            _ => false,
        };
        in_test && !self.incomplete
    }

    /// The message of bash for an error in `[[ ]]` at a token. Empty if bash is silent.
    fn conditional_message(&self, token: &[u8]) -> String {
        let is_word = token != b"]]" && !token.iter().any(|byte| ends_word(*byte));
        let shown = match token {
            b"\n" => "newline".into(),
            token => String::from_utf8_lossy(token),
        };
        match self.expected {
            Some(Expected::Test) if token == b"]]" => String::new(),
            Some(Expected::Test) => format!("unexpected token `{shown}' in conditional command"),
            Some(Expected::UnaryOperand) => {
                format!("unexpected argument `{shown}' to conditional unary operator")
            }
            Some(Expected::BinaryOperand) => {
                format!("unexpected argument `{shown}' to conditional binary operator")
            }
            Some(Expected::TestOperator) if is_word => "conditional binary operator expected".to_owned(),
            Some(Expected::TestOperator) => {
                format!("unexpected token `{shown}', conditional binary operator expected")
            }
            Some(Expected::Token(")")) => format!("unexpected token `{shown}', expected `)'"),
            _ if is_word => "syntax error in conditional expression".to_owned(),
            _ => format!("syntax error in conditional expression: unexpected token `{shown}'"),
        }
    }

    /// Returns the message of bash, without the location, and the offset of the line that bash names.
    #[must_use]
    pub fn bash_message(&self, source: &[u8]) -> (String, u32) {
        let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
        let opened = self.opened.map_or("", |opened| opened.what);
        let token = self.span.of(source);
        match (self.kind, self.expected, self.opened) {
            (
                ErrorKind::TooDeep
                | ErrorKind::TooLong
                | ErrorKind::Cancelled
                | ErrorKind::TooManyHereDocuments
                | ErrorKind::Arithmetic,
                ..,
            ) => (self.message(), self.span.start),
            (_, Some(Expected::Token(closer)), Some(at))
                if self.incomplete
                    && (self.kind == ErrorKind::Unclosed || opened.ends_with('(') && opened != "(") =>
            {
                let is_command = matches!(opened, "$(" | "<(" | ">(");
                let message = format!("unexpected EOF while looking for matching `{closer}'");
                (message, if is_command { end } else { at.span.start })
            }
            (_, Some(Expected::ExpressionSeparator), _) if !self.incomplete => {
                ("syntax error: arithmetic expression required".to_owned(), self.span.start)
            }
            (_, Some(Expected::ExpressionsEnd), _) if token == b";" => {
                ("syntax error: `;' unexpected".to_owned(), self.span.start)
            }
            _ if self.is_in_conditional(source) => (self.conditional_message(token), self.span.start),
            _ if self.incomplete => ("syntax error: unexpected end of file".to_owned(), end),
            _ if token == b"\n" => {
                ("syntax error near unexpected token `newline'".to_owned(), self.span.start)
            }
            _ => {
                let token = String::from_utf8_lossy(token);
                (format!("syntax error near unexpected token `{token}'"), self.span.start)
            }
        }
    }

    /// Returns the second line of the message of bash, which shows the text at fault. `line` is the line of the first one.
    #[must_use]
    pub fn bash_excerpt(&self, source: &[u8], line: u32) -> Option<String> {
        let text = source.split(|byte| *byte == b'\n').nth(line.saturating_sub(1) as usize)?;
        let text = String::from_utf8_lossy(text);
        if !self.incomplete
            && matches!(self.expected, Some(Expected::ExpressionSeparator | Expected::ExpressionsEnd))
        {
            let start = text.find("((")?;
            let end = text[start..].find("))")? + start + 2;
            return Some(format!("syntax error: `{}'", &text[start..end]));
        }
        self.bash_message(source).0.contains("near unexpected token").then(|| format!("`{text}'"))
    }

    /// Returns the full report: the message, the location, the source line with a caret, the opening token,
    /// and the hint.
    ///
    /// `name` is the file name to show, `source` the text that was parsed. The report ends with a newline.
    #[must_use]
    pub fn render(&self, name: &str, source: &[u8]) -> String {
        let excerpt = SourceExcerpt { name, source, lines: &LineIndex::new(source) };
        let mut report = format!("error: {}\n", self.message());
        // The end of the input is a useless location if the opening token is known.
        if !(self.incomplete && self.opened.is_some()) {
            excerpt.append_to(&mut report, self.span, "");
        }
        if let Some(opened) = &self.opened {
            let note = match quote_name(opened.what) {
                Some(_) => "opened here".to_owned(),
                None => format!("\"{}\" was opened here", opened.what),
            };
            excerpt.append_to(&mut report, opened.span, &note);
        }
        if let Some(hint) = &self.hint {
            report.push_str(&format!("hint: {hint}\n"));
        }
        report
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}

impl std::error::Error for SyntaxError {}

/// The name of a quotation mark, because a quotation mark in quotes is hard to read.
fn quote_name(what: &str) -> Option<&'static str> {
    match what {
        "\"" => Some("double-quoted string"),
        "'" => Some("single-quoted string"),
        "$'" => Some("$'…' string"),
        "`" => Some("backquoted command substitution"),
        _ => None,
    }
}
