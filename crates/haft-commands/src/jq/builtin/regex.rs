//! Regular expressions of Oniguruma, on the engine of `fancy-regex`.

use fancy_regex::{Captures, Regex, RegexBuilder};

use super::{Entry, Failure, Returned, type_error};
use crate::jq::value::Value;

pub(super) const TABLE: &[Entry] = &[("_match_impl", 3, |services, input, [pattern, flags, test]| {
    services.check()?;
    find_matches(&input, &pattern, &flags, test.is_true())
})];

/// How much backtracking a match may need.
const BACKTRACK_LIMIT: usize = 1_000_000;

#[derive(Clone, Copy, Default)]
struct MatchFlags {
    global: bool,
    ignore_case: bool,
    extended: bool,
    dot_matches_newline: bool,
    not_empty: bool,
}

fn read_flags(flags: &Value) -> Result<MatchFlags, Value> {
    let mut read = MatchFlags::default();
    let text = match flags {
        Value::Null => return Ok(read),
        Value::String(text) => text,
        other => return Err(type_error(other, "is not a string")),
    };
    for letter in text.chars() {
        match letter {
            'g' => read.global = true,
            'i' => read.ignore_case = true,
            'x' => read.extended = true,
            'm' | 'p' => read.dot_matches_newline = true,
            'n' => read.not_empty = true,
            's' | 'l' => {}
            _ => return Err(format!("{text} is not a valid modifier string").into()),
        }
    }
    Ok(read)
}

fn find_matches(input: &Value, pattern: &Value, flags: &Value, only_test: bool) -> Returned {
    let Some(text) = input.as_text() else {
        return Err(type_error(input, "cannot be matched, as it is not a string").into());
    };
    let Some(pattern) = pattern.as_text() else { return Err(type_error(pattern, "is not a string").into()) };
    let flags = read_flags(flags)?;
    let regex = compile(pattern, flags)?;
    let mut matches = Vec::new();
    let mut start = 0;
    while start <= text.len() {
        let found = regex.captures_from_pos(text, start);
        let found = found.map_err(|error| Failure::from(format!("Regex failure: {error}")))?;
        let Some(found) = found else { break };
        let Some(whole) = found.get(0) else { break };
        let is_empty = whole.start() == whole.end();
        if is_empty && flags.not_empty {
            start = next_position(text, whole.end());
            continue;
        }
        if only_test {
            return Ok(true.into());
        }
        matches.push(describe(text, &regex, &found));
        start = if is_empty { next_position(text, whole.end()) } else { whole.end() };
        if !flags.global {
            break;
        }
    }
    Ok(if only_test { false.into() } else { matches.into() })
}

fn next_position(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

fn compile(pattern: &str, flags: MatchFlags) -> Result<Regex, Failure> {
    let mut builder = RegexBuilder::new(&translated(pattern, flags.extended));
    builder
        .case_insensitive(flags.ignore_case)
        .dot_matches_new_line(flags.dot_matches_newline)
        .ignore_whitespace(flags.extended)
        .backtrack_limit(BACKTRACK_LIMIT);
    builder.build().map_err(|error| format!("Regex failure: {error}").into())
}

/// Writes what Oniguruma means by `^`, `$`, `\h` and `\Z` in the syntax of the engine.
fn translated(pattern: &str, extended: bool) -> String {
    let mut result = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut class_depth = 0_usize;
    let mut in_comment = false;
    while let Some(letter) = letters.next() {
        if in_comment {
            in_comment = letter != '\n';
            result.push(letter);
            continue;
        }
        match letter {
            '\\' => match letters.next() {
                Some('h') if class_depth > 0 => result.push_str("0-9a-fA-F"),
                Some('h') => result.push_str("[0-9a-fA-F]"),
                Some('H') if class_depth == 0 => result.push_str("[^0-9a-fA-F]"),
                Some('Z') if class_depth == 0 => result.push_str("(?=\\n?\\z)"),
                Some(next) => result.extend([letter, next]),
                None => result.push(letter),
            },
            '[' => {
                class_depth += 1;
                result.push(letter);
                if letters.peek() == Some(&'^') {
                    result.extend(letters.next());
                }
                if letters.peek() == Some(&']') {
                    letters.next();
                    result.push_str("\\]");
                }
            }
            ']' if class_depth > 0 => {
                class_depth -= 1;
                result.push(letter);
            }
            '^' if class_depth == 0 => result.push_str("(?m:^)"),
            '$' if class_depth == 0 => result.push_str("(?=\\n?\\z)"),
            '#' if extended && class_depth == 0 => {
                in_comment = true;
                result.push(letter);
            }
            _ => result.push(letter),
        }
    }
    result
}

/// A match as an object.
fn describe(text: &str, regex: &Regex, found: &Captures<'_, str>) -> Value {
    let whole = found.get(0);
    let (start, end) = whole.map_or((0, 0), |whole| (whole.start(), whole.end()));
    let offset = text[..start].chars().count();
    let is_empty = start == end;
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let captures = (1..found.len()).map(|index| {
        let name = names.get(index).copied().flatten().map_or(Value::Null, Value::from);
        let (offset, content) = match found.get(index) {
            _ if is_empty => (offset as f64, Value::from("")),
            Some(part) => (text[..part.start()].chars().count() as f64, Value::from(part.as_str())),
            None => (-1.0, Value::Null),
        };
        capture(offset, content, name, is_empty)
    });
    Value::object([
        ("offset", offset.into()),
        ("length", text[start..end].chars().count().into()),
        ("string", text[start..end].into()),
        ("captures", captures.collect::<Vec<_>>().into()),
    ])
}

/// A group of a match. The order of the members differs as in `jq`.
fn capture(offset: f64, content: Value, name: Value, is_empty: bool) -> Value {
    let length = Value::from(content.as_text().map_or(0, |text| text.chars().count()));
    let is_blank = content.as_text().is_none_or(str::is_empty);
    match is_empty || is_blank {
        true => Value::object([
            ("offset", offset.into()),
            ("string", content),
            ("length", length),
            ("name", name),
        ]),
        false => Value::object([
            ("offset", offset.into()),
            ("length", length),
            ("string", content),
            ("name", name),
        ]),
    }
}
