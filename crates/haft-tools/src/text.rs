//! Formatting of values and texts for messages.

use haft_process::capture::DecodedText;
use haft_process::signal_name;
use serde_json::Value;

/// The JSON type of a value, with an article.
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

/// The byte offset of a JSON error.
pub(crate) fn byte_of(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before + error.column().saturating_sub(1)).min(text.len())
}

/// A value as one short line.
pub(crate) fn short(value: &Value) -> String {
    shorten(&value.to_string(), 80)
}

/// Truncates a text to a number of characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The last line that is not blank.
pub(crate) fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| shorten(line, 300))
}

/// Decodes bytes as UTF-8, replacing invalid sequences.
pub(crate) fn decode(bytes: &[u8]) -> String {
    DecodedText::decode(bytes).text
}

/// The name of a signal, such as `SIGTERM`, or its number if it has no name.
pub(crate) fn signal(number: i32) -> String {
    signal_name(number).map_or(number.to_string(), |name| format!("SIG{name}"))
}

/// Joins lines, each with a newline.
pub(crate) fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Appends a line of facts in brackets, if there are any.
pub(crate) fn push_facts(text: &mut String, facts: &[String]) {
    if facts.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[{}]\n", facts.join(" · ")));
}

/// The fact that files of a search could not be read.
pub(crate) fn unreadable(result: &Value) -> Option<String> {
    result["unreadable"].as_u64().map(|count| format!("{count} could not be read"))
}
