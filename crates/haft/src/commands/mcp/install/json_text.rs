//! Edits JSON with comments and trailing commas. Everything outside of the edited member stays byte for byte.

use std::ops::Range;

use serde_json::Value;

/// A member of an object.
struct Member {
    key: String,
    key_start: usize,
    value: Range<usize>,
    /// The position of the comma that follows.
    comma: Option<usize>,
}

/// An object in a text.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

impl Object {
    fn find(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|member| member.key == key)
    }
}

/// Sets `section.name` to a value. Returns the new text; the old one if nothing changes.
///
/// # Errors
/// Returns the reason if the text is not a JSON object, or the section is not one.
pub(crate) fn set(text: &str, section: &str, name: &str, value: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        let whole = serde_json::json!({ section: { name: value } });
        return Ok(pretty(&whole, "  ", "") + "\n");
    }
    let root = parse_object(text, skip_blank(text, 0))?;
    let indent = indentation(text, &root).unwrap_or_else(|| "  ".to_owned());
    let Some(index) = root.find(section) else {
        let inner = serde_json::json!({ name: value });
        return Ok(insert(text, &root, section, &inner, &indent));
    };
    let inner = parse_object(text, root.members[index].value.start)
        .map_err(|_| format!("'{section}' is not an object"))?;
    let Some(index) = inner.find(name) else { return Ok(insert(text, &inner, name, value, &indent)) };
    let existing = inner.members[index].value.clone();
    if parse(&text[existing.clone()]).as_ref() == Ok(value) {
        return Ok(text.to_owned());
    }
    let outer = line_indentation(text, inner.members[index].key_start).unwrap_or_default();
    Ok(replaced(text, existing, &pretty(value, &indent, outer)))
}

/// Removes `section.name`, and the section if nothing else is in it. Returns the old text if it is not there.
///
/// # Errors
/// Returns the reason if the text is not a JSON object.
pub(crate) fn remove(text: &str, section: &str, name: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse_object(text, skip_blank(text, 0))?;
    let Some(index) = root.find(section) else { return Ok(text.to_owned()) };
    let Ok(inner) = parse_object(text, root.members[index].value.start) else { return Ok(text.to_owned()) };
    let Some(place) = inner.find(name) else { return Ok(text.to_owned()) };
    let shorter = without(text, &inner, place);
    let root = parse_object(&shorter, skip_blank(&shorter, 0))?;
    let left = root.find(section).map(|index| root.members[index].value.clone());
    match left {
        Some(value) if shorter[value.clone()].trim_matches(['{', '}']).trim().is_empty() => {
            Ok(without(&shorter, &root, index))
        }
        _ => Ok(shorter),
    }
}

/// Parses JSON with comments and trailing commas.
///
/// # Errors
/// Returns the reason.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let mut plain = String::new();
    let mut at = 0;
    while at < text.len() {
        let next = skip_blank(text, at);
        if next > at {
            plain.push(' ');
            at = next;
            continue;
        }
        let rest = &text[at..];
        if rest.starts_with('"') {
            let end = string_end(text, at)?;
            plain.push_str(&text[at..end]);
            at = end;
            continue;
        }
        if rest.starts_with(['}', ']']) {
            let kept = plain.trim_end().trim_end_matches(',').len();
            plain.truncate(kept);
        }
        let Some(letter) = rest.chars().next() else { break };
        plain.push(letter);
        at += letter.len_utf8();
    }
    serde_json::from_str(&plain).map_err(|error| error.to_string())
}

/// Inserts a member at the end of an object, with the line endings of the text.
fn insert(text: &str, object: &Object, key: &str, value: &Value, indent: &str) -> String {
    let new = inserted(text, object, key, value, indent);
    if text.contains("\r\n") { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new }
}

fn inserted(text: &str, object: &Object, key: &str, value: &Value, indent: &str) -> String {
    let inside = &text[object.open..=object.close];
    let key = Value::from(key);
    let outer = line_indentation(text, object.open).unwrap_or_default();
    let own = object.members.last().and_then(|last| line_indentation(text, last.key_start));
    let own = own.map_or_else(|| format!("{outer}{indent}"), str::to_owned);
    let Some(last) = object.members.last() else {
        let rest = &text[object.open + 1..];
        let ends_line = rest[..object.close - object.open - 1].contains('\n');
        let end = if ends_line { String::new() } else { format!("\n{outer}") };
        let rest = if ends_line { rest } else { rest.trim_start_matches(' ') };
        let member = format!("\n{own}{key}: {}{end}", pretty(value, indent, &own));
        return format!("{}{member}{rest}", &text[..=object.open]);
    };
    let member = if inside.contains('\n') {
        format!("\n{own}{key}: {}", pretty(value, indent, &own))
    } else {
        format!(" {key}: {value}")
    };
    match last.comma {
        Some(comma) => {
            let at = line_comment_end(text, comma + 1);
            format!("{}{member},{}", &text[..at], &text[at..])
        }
        None => {
            let at = line_comment_end(text, last.value.end);
            format!("{},{}{member}{}", &text[..last.value.end], &text[last.value.end..at], &text[at..])
        }
    }
}

/// The text without a member of an object.
fn without(text: &str, object: &Object, index: usize) -> String {
    let member = &object.members[index];
    let before = text[..member.key_start].trim_end_matches([' ', '\t']);
    let mut start = match before.strip_suffix('\n') {
        Some(line) => line.len(),
        None if index > 0 => before.len(),
        None => member.key_start,
    };
    if text[..start].ends_with('\r') {
        start -= 1;
    }
    let end = member.comma.map_or(member.value.end, |comma| comma + 1);
    let mut shorter = format!("{}{}", &text[..start], &text[end..]);
    let previous = index.checked_sub(1).and_then(|previous| object.members[previous].comma);
    if let Some(comma) = previous.filter(|_| member.comma.is_none()) {
        shorter.remove(comma);
    }
    if object.members.len() == 1 {
        let close = object.close - (end - start);
        if shorter[object.open + 1..close].trim().is_empty() {
            shorter.replace_range(object.open + 1..close, "");
        }
    }
    shorter
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// The indentation of the first member that starts a line.
fn indentation(text: &str, object: &Object) -> Option<String> {
    let outer = line_indentation(text, object.open).unwrap_or_default();
    let own = object.members.iter().find_map(|member| line_indentation(text, member.key_start))?;
    own.strip_prefix(outer).filter(|indent| !indent.is_empty()).map(str::to_owned)
}

/// The blanks before a position, if they start the line; for an object after a key, those before the key.
pub(super) fn line_indentation(text: &str, at: usize) -> Option<&str> {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    let blanks = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    let starts_line = blanks.len() == line.len() && text[..at].contains('\n');
    let follows_key = text[at..].starts_with('{') && line[blanks.len()..].starts_with('"');
    (starts_line || follows_key).then_some(blanks)
}

/// The end of the comments that follow on the same line.
fn line_comment_end(text: &str, at: usize) -> usize {
    let line = &text[at..at + text[at..].find('\n').unwrap_or(text.len() - at)];
    let comment = line.trim_start();
    let is_whole =
        comment.starts_with("//") || (comment.starts_with("/*") && comment.trim_end().ends_with("*/"));
    if is_whole { at + line.trim_end().len() } else { at }
}

/// JSON on several lines. `outer` indents all lines but the first.
pub(super) fn pretty(value: &Value, indent: &str, outer: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written = serde::Serialize::serialize(value, &mut serializer);
    let text = written.ok().and_then(|()| String::from_utf8(bytes).ok());
    text.unwrap_or_default().replace('\n', &format!("\n{outer}"))
}

/// The value of a member of the object at a position.
pub(super) fn member_value(text: &str, open: usize, key: &str) -> Option<Range<usize>> {
    let object = parse_object(text, open).ok()?;
    object.find(key).map(|index| object.members[index].value.clone())
}

fn parse_object(text: &str, open: usize) -> Result<Object, String> {
    if !text[open..].starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    let mut object = Object { open, close: open, members: Vec::new() };
    let mut at = skip_blank(text, open + 1);
    loop {
        if text[at..].starts_with('}') {
            object.close = at;
            return Ok(object);
        }
        let key_end = string_end(text, at)?;
        let key = serde_json::from_str(&text[at..key_end]).map_err(|error| error.to_string())?;
        let colon = skip_blank(text, key_end);
        if !text[colon..].starts_with(':') {
            return Err(unexpected(text, colon));
        }
        let start = skip_blank(text, colon + 1);
        let end = value_end(text, start)?;
        let next = skip_blank(text, end);
        let comma = text[next..].starts_with(',').then_some(next);
        object.members.push(Member { key, key_start: at, value: start..end, comma });
        at = comma.map_or(next, |comma| skip_blank(text, comma + 1));
        if comma.is_none() && !text[at..].starts_with('}') {
            return Err(unexpected(text, at));
        }
    }
}

/// The position after blanks and comments.
pub(super) fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']);
        at = text.len() - rest.len();
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

/// The position after a string.
fn string_end(text: &str, at: usize) -> Result<usize, String> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'"') {
        return Err(unexpected(text, at));
    }
    let mut next = at + 1;
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'"' => return Ok(next + 1),
            b'\\' => next += 2,
            _ => next += 1,
        }
    }
    Err("a string is not closed".to_owned())
}

/// The position after a value.
pub(super) fn value_end(text: &str, start: usize) -> Result<usize, String> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        at = if depth > 0 { skip_blank(text, at) } else { at };
        match text.as_bytes().get(at) {
            None => return Err("the end is missing".to_owned()),
            Some(b'"') => at = string_end(text, at)?,
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                depth = depth.checked_sub(1).ok_or_else(|| unexpected(text, at))?;
                at += 1;
            }
            Some(b',' | b':') if depth > 0 => {
                at += 1;
                continue;
            }
            Some(_) => {
                let ends = |byte: char| ",:{}[]\"/".contains(byte) || byte.is_whitespace();
                let length = text[at..].find(ends).unwrap_or(text.len() - at);
                if length == 0 {
                    return Err(unexpected(text, at));
                }
                at += length;
            }
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

fn unexpected(text: &str, at: usize) -> String {
    let line = text[..at].matches('\n').count() + 1;
    format!("not valid JSON at line {line}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server() -> Value {
        json!({ "command": "haft", "args": ["mcp"] })
    }

    /// Adds the server, checks the result, and removes it again.
    fn added(text: &str) -> String {
        let new = set(text, "mcpServers", "haft", &server()).unwrap();
        assert_eq!(parse(&new).unwrap()["mcpServers"]["haft"], server(), "{new}");
        assert_eq!(set(&new, "mcpServers", "haft", &server()).unwrap(), new, "it is idempotent");
        assert_eq!(remove(&new, "mcpServers", "haft").unwrap(), text, "{new}");
        new
    }

    #[test]
    fn a_member_is_added_and_removed_without_another_change() {
        for text in [
            "{}",
            "{}\n",
            "{\n  \"theme\": \"dark\"\n}\n",
            "// mine\n{\n    \"theme\": \"dark\", // at night\n    /* last */ \"size\": 12 // points\n}\n",
            "{\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" },\n\t},\n}\n",
            "{\"theme\": \"dark\"}",
            "{ \"mcpServers\": { \"other\": {} }, \"b\": [1, 2, {\"c\": \"}\"}] }",
            "{\r\n  \"theme\": \"dark\"\r\n}\r\n",
        ] {
            added(text);
        }
    }

    #[test]
    fn the_indentation_of_the_file_is_kept() {
        let new = added("{\n    \"theme\": \"dark\" // at night\n}\n");
        assert_eq!(
            new,
            "{\n    \"theme\": \"dark\", // at night\n    \"mcpServers\": {\n        \"haft\": {\n            \"command\": \"haft\",\n\
             \x20           \"args\": [\n                \"mcp\"\n            ]\n        }\n    }\n}\n"
        );
    }

    #[test]
    fn another_value_is_replaced() {
        let old = "{\"mcpServers\": {\"haft\": {\"command\": \"old\"}, \"x\": {}}} // end";
        let new = set(old, "mcpServers", "haft", &server()).unwrap();
        assert_eq!(parse(&new).unwrap()["mcpServers"], json!({ "haft": server(), "x": {} }));
        assert!(new.ends_with(" // end"), "{new}");
    }

    #[test]
    fn files_that_are_not_objects_are_rejected() {
        for text in ["[]", "{", "{\"a\" 1}", "{\"a\": }", "{\"mcpServers\": 1}", "{\"a\": \"", "nothing"] {
            assert!(set(text, "mcpServers", "haft", &server()).is_err(), "{text}");
        }
    }
}
