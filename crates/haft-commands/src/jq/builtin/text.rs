//! Functions on strings, and conversions.

use super::{Entry, Returned, format, operators, type_error};
use crate::jq::print::to_json;
use crate::jq::reader::parse_text;
use crate::jq::value::Value;

pub(super) const TABLE: &[Entry] = &[
    ("tojson", 0, |_, input, _| Ok(to_json(&input).into())),
    ("fromjson", 0, |_, input, _| match input.as_text() {
        Some(text) => Ok(parse_text(text.as_bytes())?),
        None => Err(type_error(&input, "only strings can be parsed").into()),
    }),
    ("tonumber", 0, |_, input, _| to_number(input)),
    ("tostring", 0, |_, input, _| Ok(to_text(input))),
    ("format", 1, |_, input, [name, ..]| format::apply(input, &name)),
    ("startswith", 1, |_, input, [part, ..]| match (input.as_text(), part.as_text()) {
        (Some(text), Some(part)) => Ok(text.starts_with(part).into()),
        _ => Err("startswith() requires string inputs".into()),
    }),
    ("endswith", 1, |_, input, [part, ..]| match (input.as_text(), part.as_text()) {
        (Some(text), Some(part)) => Ok(text.ends_with(part).into()),
        _ => Err("endswith() requires string inputs".into()),
    }),
    ("ltrimstr", 1, |_, input, [part, ..]| {
        let rest = part.as_text().and_then(|part| input.as_text()?.strip_prefix(part)).map(Value::from);
        Ok(rest.unwrap_or(input))
    }),
    ("rtrimstr", 1, |_, input, [part, ..]| {
        let rest = part.as_text().and_then(|part| input.as_text()?.strip_suffix(part)).map(Value::from);
        Ok(rest.unwrap_or(input))
    }),
    ("split", 1, |_, input, [separator, ..]| match (input.as_text(), separator.as_text()) {
        (Some(text), Some(separator)) => Ok(operators::split(text, separator)),
        _ => Err("split input and separator must be strings".into()),
    }),
    ("explode", 0, |_, input, _| match input.as_text() {
        Some(text) => Ok(text
            .chars()
            .map(|letter| Value::Number(f64::from(u32::from(letter))))
            .collect::<Vec<_>>()
            .into()),
        None => Err("explode input must be a string".into()),
    }),
    ("implode", 0, |_, input, _| implode(&input)),
    ("_strindices", 1, |_, input, [part, ..]| {
        let (text, part) = (input.as_text().unwrap_or_default(), part.as_text().unwrap_or_default());
        let (text, part) = (text.as_bytes(), part.as_bytes());
        let starts = (0..text.len()).filter(|start| !part.is_empty() && text[*start..].starts_with(part));
        Ok(starts.map(Value::from).collect::<Vec<_>>().into())
    }),
    ("utf8bytelength", 0, |_, input, _| match input.as_text() {
        Some(text) => Ok(text.len().into()),
        None => Err(type_error(&input, "only strings have UTF-8 byte length").into()),
    }),
];

/// A string as it is, and other values as JSON.
pub(super) fn to_text(value: Value) -> Value {
    match value {
        Value::String(_) => value,
        other => to_json(&other).into(),
    }
}

fn to_number(input: Value) -> Returned {
    if input.as_number().is_some() {
        return Ok(input);
    }
    if let Some(text) = input.as_text() {
        let parsed = parse_text(text.as_bytes())?;
        if parsed.as_number().is_some() {
            return Ok(parsed);
        }
    }
    Err(type_error(&input, "cannot be parsed as a number").into())
}

fn implode(input: &Value) -> Returned {
    let Some(codes) = input.as_array() else { return Err("implode input must be an array".into()) };
    let mut text = String::with_capacity(codes.len());
    for code in codes {
        let Some(number) = code.as_number().filter(|number| !number.is_nan()) else {
            return Err(type_error(code, "can't be imploded, unicode codepoint needs to be numeric").into());
        };
        let letter = u32::try_from(number as i64).ok().and_then(char::from_u32);
        text.push(letter.unwrap_or('\u{fffd}'));
    }
    Ok(text.into())
}
