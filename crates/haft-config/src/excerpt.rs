//! The line that an error is about, with carets under it.

use std::fmt::Write as _;

use crate::source::SourceLocation;

/// The most characters of a line that are shown on either side of the first caret.
const REACH: usize = 60;

/// The line and column of an offset, both from 1; columns count characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// `--> name:line:column` and the line with the location underlined. Ends without a newline.
pub(crate) fn show(location: &SourceLocation, note: &str) -> String {
    let text = &location.source.text;
    let (line, column) = position(text, location.start);
    let content = text.lines().nth(line - 1).unwrap_or_default();
    let caret = column - 1;
    let from = caret.saturating_sub(REACH);
    let shown: String = content.chars().skip(from).take(caret - from + REACH).map(printable).collect();
    let marked =
        text.get(location.start..location.end).unwrap_or_default().lines().next().unwrap_or_default();
    let carets = "^".repeat(marked.chars().count().clamp(1, REACH));
    let gutter = " ".repeat(line.to_string().len());
    let indent = " ".repeat(caret - from);
    let space = if note.is_empty() { "" } else { " " };
    let mut excerpt = format!("{gutter}--> {}:{line}:{column}\n{gutter} |\n", location.source.name);
    let _ = writeln!(excerpt, "{line} | {}", shown.trim_end());
    let _ = write!(excerpt, "{gutter} | {indent}{carets}{space}{note}");
    excerpt
}

/// What would move the caret or the terminal's cursor is shown as a blank.
fn printable(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}
