//! Syntax errors: what was found, what was expected, what that would have closed, and where.

use std::fmt;

use crate::ast::{LineIndex, Span};
use crate::excerpt::SourceExcerpt;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where it was noticed.
    pub span: Span,
    /// What stands there: a token in quotes, or `end of input`.
    pub found: String,
    /// What should have stood there.
    pub expected: Option<String>,
    /// What was opened before and is not closed.
    pub opened: Option<Opened>,
    /// What may help.
    pub hint: Option<String>,
    /// Whether more input could still make the text right, which tells an interactive reader to go on reading.
    pub incomplete: bool,
}

/// The kinds of syntax errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something else was expected.
    Unexpected,
    /// A quote, substitution or bracket was never closed.
    Unclosed,
    /// Things are nested more deeply than the parser is willing to follow.
    TooDeep,
    /// The text is longer than offsets of 32 bits reach.
    TooLong,
    /// An arithmetic expression is wrong.
    Arithmetic,
    /// The text was not read to its end, because nobody wants it any more: see [`ParseOptions::cancel`](crate::ParseOptions::cancel).
    Cancelled,
}

impl ErrorKind {
    /// Whether it says nothing about the text, so that no other reading of it is to be tried.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::TooDeep | Self::Cancelled)
    }
}

/// Something that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// What opened it: `if`, `$(`, `"`.
    pub what: &'static str,
    /// Where.
    pub span: Span,
}

impl SyntaxError {
    /// The message in one line, without a place: lower case, no period.
    #[must_use]
    pub fn message(&self) -> String {
        let found = &self.found;
        match (self.kind, &self.expected, &self.opened) {
            (ErrorKind::TooDeep, ..) => "too deeply nested".to_owned(),
            (ErrorKind::Cancelled, ..) => "not read to its end".to_owned(),
            (ErrorKind::TooLong, ..) => "the text is too long".to_owned(),
            (ErrorKind::Unclosed, _, Some(opened)) if quote_name(opened.what).is_some() => {
                format!("the {} is never closed", quote_name(opened.what).unwrap_or_default())
            }
            (_, Some(expected), Some(opened)) => {
                format!("expected {expected} to close \"{}\", found {found}", opened.what)
            }
            (_, Some(expected), None) => format!("expected {expected}, found {found}"),
            (_, None, _) => format!("unexpected {found}"),
        }
    }

    /// The whole report: message, place, the line with a caret under it, where things were opened, and the hint.
    ///
    /// `name` is what the source is called, `source` the text that was parsed. Ends with a newline.
    #[must_use]
    pub fn render(&self, name: &str, source: &[u8]) -> String {
        let excerpt = SourceExcerpt { name, source, lines: &LineIndex::new(source) };
        let mut report = format!("error: {}\n", self.message());
        // The end of the input is no place to look at if it is known what should have ended before it.
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

/// What a quotation mark is called, since it cannot well be shown in quotes.
fn quote_name(what: &str) -> Option<&'static str> {
    match what {
        "\"" => Some("double quote"),
        "'" => Some("single quote"),
        "$'" => Some("quote that \"$'\" begins"),
        "`" => Some("backquote"),
        _ => None,
    }
}
