//! Edits a table of a TOML file. Everything else stays byte for byte.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

/// Adds a table with these lines, or replaces its lines with the same keys. Returns the new text; the old one if nothing
/// changes.
pub(super) fn set(text: &str, table: &str, entries: &[(&str, String)]) -> String {
    let Some(range) = find(text, table) else {
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let lines: String = entries.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        return format!("{text}{gap}[{table}]\n{lines}");
    };
    let mut body = text[range.clone()].to_owned();
    for (key, value) in entries {
        body = set_line(&body, key, value);
    }
    format!("{}{body}{}", &text[..range.start], &text[range.end..])
}

/// Removes a table with its subtables, and the empty line before it.
pub(super) fn remove(text: &str, table: &str) -> String {
    let mut text = text.to_owned();
    while let Some(range) = find(&text, table).or_else(|| find_below(&text, table)) {
        let mut start = range.start;
        if text[..start].ends_with("\n\n") {
            start -= 1;
        }
        text.replace_range(start..range.end, "");
    }
    text
}

/// Parses TOML. Numbers and dates become their text.
///
/// # Errors
/// Returns the reason.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let table = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
    Ok(table_value(table.into_inner()))
}

fn table_value(table: DeTable<'_>) -> Value {
    let entries = table.into_iter();
    let entries = entries.map(|(key, value)| (key.into_inner().into_owned(), value_of(value.into_inner())));
    Value::Object(entries.collect::<Map<String, Value>>())
}

fn value_of(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.into(),
        DeValue::Integer(number) => number.to_string().into(),
        DeValue::Float(number) => number.to_string().into(),
        DeValue::Boolean(flag) => flag.into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(list) => list.into_iter().map(|value| value_of(value.into_inner())).collect(),
        DeValue::Table(table) => table_value(table),
    }
}

/// Replaces the line of a key in a table, or adds one after the header.
fn set_line(body: &str, key: &str, value: &str) -> String {
    let line = format!("{key} = {value}");
    let is_key = |text: &str| text.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    if let Some(old) = body.lines().find(|text| is_key(text)) {
        // A comment at the end of the line stays.
        return if old.trim_start().starts_with(&line) {
            body.to_owned()
        } else {
            body.replacen(old, &line, 1)
        };
    }
    let header = body.find('\n').map_or(body.len(), |newline| newline + 1);
    let newline = if body[..header].ends_with('\n') { "" } else { "\n" };
    format!("{}{newline}{line}\n{}", &body[..header], &body[header..])
}

/// The lines of a table, from its header to the last line that is neither empty nor a comment.
fn find(text: &str, table: &str) -> Option<Range<usize>> {
    find_header(text, |name| name == table)
}

/// The lines of the first table below a table.
fn find_below(text: &str, table: &str) -> Option<Range<usize>> {
    find_header(text, |name| name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
}

fn find_header(text: &str, wanted: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let mut found = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let trimmed = line.trim();
        match (&mut found, header(trimmed)) {
            (None, Some(name)) if wanted(&name) => found = Some(at..end),
            (Some(_), Some(_)) => return found,
            (Some(range), None) if !trimmed.is_empty() && !trimmed.starts_with('#') => range.end = end,
            _ => {}
        }
        at = end;
    }
    found
}

/// The name in the header of a table, without blanks and quotes.
fn header(line: &str) -> Option<String> {
    let name = line.strip_prefix('[')?.split(']').next()?;
    let is_table = line.contains(']') && !name.contains(['=', ',']);
    is_table.then(|| {
        name.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect::<Vec<_>>().join(".")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "mcp_servers.haft";

    fn entries() -> [(&'static str, String); 2] {
        [("command", "\"haft\"".to_owned()), ("args", "[\"mcp\"]".to_owned())]
    }

    #[test]
    fn a_table_is_added_and_removed_without_another_change() {
        for text in [
            "",
            "model = \"x\" # mine\n",
            "# top\n[mcp_servers.other]\ncommand = \"y\"\n\n# last words\n",
            "[projects.\"/a.b\"]\ntrust_level = \"trusted\"\n",
        ] {
            let new = set(text, TABLE, &entries());
            assert!(
                new.starts_with(text)
                    && new.ends_with("[mcp_servers.haft]\ncommand = \"haft\"\nargs = [\"mcp\"]\n")
            );
            assert_eq!(set(&new, TABLE, &entries()), new, "it is idempotent");
            assert_eq!(remove(&new, TABLE), text, "{new}");
        }
    }

    #[test]
    fn other_keys_and_comments_of_the_table_stay() {
        let old = "[mcp_servers.haft] # here\ncommand = \"/old\"\ntool_timeout_sec = 600\n\n# next\n[mcp_servers.x]\n";
        let new = set(old, TABLE, &entries());
        assert_eq!(
            new,
            "[mcp_servers.haft] # here\nargs = [\"mcp\"]\ncommand = \"haft\"\ntool_timeout_sec = 600\n\n# next\n[mcp_servers.x]\n"
        );
        assert_eq!(remove(&new, TABLE), "\n# next\n[mcp_servers.x]\n");
        let below = "a = 1\n\n[mcp_servers.haft]\nb = 1\n\n[mcp_servers.haft.env]\nC = \"d\"\n\n[z]\n";
        assert_eq!(remove(below, TABLE), "a = 1\n\n[z]\n");
    }
}
