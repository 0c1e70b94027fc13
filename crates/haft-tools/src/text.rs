//! Small words about values and texts.

use haft_process::capture::DecodedText;
use serde_json::Value;

/// What a value is, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The byte at which reading JSON failed.
pub(crate) fn byte_of(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before + error.column().saturating_sub(1)).min(text.len())
}

/// A value in one short line.
pub(crate) fn short(value: &Value) -> String {
    shorten(&value.to_string(), 80)
}

/// The beginning of a text.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The last line of a text that is not blank.
pub(crate) fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| shorten(line, 300))
}

/// Bytes as text.
pub(crate) fn decode(bytes: &[u8]) -> String {
    DecodedText::decode(bytes).text
}
