//! Shows the source line of an error or diagnostic, with carets under the relevant part.

use crate::ast::{LineIndex, Span};

/// Maximum number of bytes shown on each side of the first caret.
const EXCERPT_CONTEXT_BYTES: usize = 60;

/// A source text and its line index.
pub(crate) struct SourceExcerpt<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a [u8],
    pub(crate) lines: &'a LineIndex,
}

impl SourceExcerpt<'_> {
    /// Appends `--> name:line:column`, the source line with carets under the span, and a note after the
    /// carets.
    pub(crate) fn append_to(&self, report: &mut String, span: Span, note: &str) {
        let (line, column) = self.lines.position(span.start);
        let text = self.line(line);
        let caret = (column as usize - 1).min(text.len());
        let from = caret.saturating_sub(EXCERPT_CONTEXT_BYTES);
        let until = text.len().min(caret + EXCERPT_CONTEXT_BYTES);
        let length = (span.end.saturating_sub(span.start) as usize).max(1);
        let marked_end = caret.saturating_add(length).min(until);
        let before = printable(&text[from..caret]);
        let marked = printable(&text[caret..marked_end.max(caret)]);
        let after = printable(&text[marked_end.max(caret)..until]);
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let indent = " ".repeat(before.chars().count());
        let carets = "^".repeat(marked.chars().count().max(1));
        let space = if note.is_empty() { "" } else { " " };
        report.push_str(&format!("{gutter}--> {}:{line}:{column}\n{gutter} |\n", self.name));
        report.push_str(&format!("{number} | {before}{marked}{after}\n"));
        report.push_str(&format!("{gutter} | {indent}{carets}{space}{note}\n"));
    }

    fn line(&self, line: u32) -> &[u8] {
        let start = self.lines.start_of(line).unwrap_or(0) as usize;
        let rest = self.source.get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        &rest[..end]
    }
}

/// Replaces control characters, which would move the terminal's cursor, by spaces.
fn printable(text: &[u8]) -> String {
    let blank = |character: char| if character.is_control() { ' ' } else { character };
    String::from_utf8_lossy(text).chars().map(blank).collect()
}
