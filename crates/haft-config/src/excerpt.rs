//! Source excerpts for error messages.

use std::fmt::Write as _;

use crate::source::SourceLocation;

/// Number of characters shown on either side of the first caret.
const CONTEXT_CHARS: usize = 60;

/// Line and column of a byte offset, both starting at 1. Columns count characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Formats `--> name:line:column` and the line with carets under the location. The text has no final newline.
pub(crate) fn show(location: &SourceLocation, note: &str) -> String {
    let text = &location.source.text;
    let (line, column) = position(text, location.start);
    let content = text.lines().nth(line - 1).unwrap_or_default();
    let caret = column - 1;
    let from = caret.saturating_sub(CONTEXT_CHARS);
    let shown: String =
        content.chars().skip(from).take(caret - from + CONTEXT_CHARS).map(printable).collect();
    let marked =
        text.get(location.start..location.end).unwrap_or_default().lines().next().unwrap_or_default();
    let carets = "^".repeat(marked.chars().count().clamp(1, CONTEXT_CHARS));
    let gutter = " ".repeat(line.to_string().len());
    let indent = " ".repeat(caret - from);
    let space = if note.is_empty() { "" } else { " " };
    let mut excerpt = format!("{gutter}--> {}:{line}:{column}\n{gutter} |\n", location.source.name);
    let _ = writeln!(excerpt, "{line} | {}", shown.trim_end());
    let _ = write!(excerpt, "{gutter} | {indent}{carets}{space}{note}");
    excerpt
}

/// Replaces characters that would move the cursor by a space.
fn printable(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}
