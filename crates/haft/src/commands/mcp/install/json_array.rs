//! Adds and removes elements of arrays in JSON with comments. Everything else stays byte for byte.

use std::ops::Range;

use serde_json::Value;

use super::json_text::{line_indentation, member_value, pretty, skip_blank, value_end};

/// An array in a text.
struct JsonArray {
    open: usize,
    close: usize,
    elements: Vec<Range<usize>>,
    /// The position of a comma after the last element.
    comma: Option<usize>,
}

/// Appends a value to the array `section.name`.
///
/// # Errors
/// Returns the reason if there is no such array.
pub(crate) fn push(text: &str, path: [&str; 2], value: &Value) -> Result<String, String> {
    let array = find(text, path)?;
    let Some(last) = array.elements.last() else {
        return Ok(format!("{}{value}{}", &text[..=array.open], &text[array.open + 1..]));
    };
    let own = line_indentation(text, last.start).filter(|_| text[array.open..last.start].contains('\n'));
    let element = match own {
        Some(own) => format!("\n{own}{}", pretty(value, indent_unit(own), own)),
        None => format!(" {value}"),
    };
    Ok(match array.comma {
        Some(comma) => format!("{}{element},{}", &text[..=comma], &text[comma + 1..]),
        None => format!("{},{element}{}", &text[..last.end], &text[last.end..]),
    })
}

/// Removes an element of the array `section.name`.
///
/// # Errors
/// Returns the reason if there is no such element.
pub(crate) fn remove(text: &str, path: [&str; 2], index: usize) -> Result<String, String> {
    let array = find(text, path)?;
    let element = array.elements.get(index).ok_or("there is no such element")?;
    let next = array.elements.get(index + 1);
    let (start, end) = match (index.checked_sub(1), next) {
        (_, Some(next)) => (element.start, next.start),
        (Some(previous), None) => match array.comma {
            // The comma after the previous element stays in place of the one that goes.
            Some(comma) => (comma_after(text, array.elements[previous].end) + 1, comma + 1),
            None => (array.elements[previous].end, element.end),
        },
        (None, None) => (array.open + 1, array.close),
    };
    Ok(format!("{}{}", &text[..start], &text[end..]))
}

fn comma_after(text: &str, at: usize) -> usize {
    skip_blank(text, at)
}

/// One level of indentation, guessed from that of an element, which is three levels deep.
fn indent_unit(own: &str) -> &str {
    &own[..(own.len() / 3).max(1).min(own.len())]
}

fn find(text: &str, [section, name]: [&str; 2]) -> Result<JsonArray, String> {
    let missing = || format!("'{section}.{name}' is not an array");
    let section = member_value(text, skip_blank(text, 0), section).ok_or_else(missing)?;
    let open = member_value(text, section.start, name).ok_or_else(missing)?.start;
    if !text[open..].starts_with('[') {
        return Err(missing());
    }
    let mut array = JsonArray { open, close: open, elements: Vec::new(), comma: None };
    let mut at = skip_blank(text, open + 1);
    while !text[at..].starts_with(']') {
        let end = value_end(text, at)?;
        array.elements.push(at..end);
        at = skip_blank(text, end);
        array.comma = text[at..].starts_with(',').then_some(at);
        match array.comma {
            Some(comma) => at = skip_blank(text, comma + 1),
            None if !text[at..].starts_with(']') => return Err(missing()),
            None => {}
        }
    }
    array.close = at;
    Ok(array)
}
