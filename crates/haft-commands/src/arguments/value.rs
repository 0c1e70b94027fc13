//! Converts text and JSON to the type of a parameter.

use haft_kernel::Bytes;
use serde_json::Value;

use super::ArgumentValue;
use crate::descriptor::{CommandParameter, ParameterKind};
use crate::duration;
use crate::error::{Error, ErrorKind};
use crate::halt::Halt;

fn invalid_value(parameter: &CommandParameter, expected: &str, found: &str) -> Error {
    let name = parameter.name;
    Error::new(ErrorKind::Value, format_args!("invalid value '{found}' for '{name}': expected {expected}"))
}

/// Converts a value that was written as text.
pub(super) fn from_text(parameter: &CommandParameter, text: &[u8]) -> Result<ArgumentValue, Error> {
    let shown = String::from_utf8_lossy(text);
    let invalid = |expected: &str| invalid_value(parameter, expected, &shown);
    match parameter.kind {
        ParameterKind::Flag => match text {
            b"true" => Ok(ArgumentValue::Flag(true)),
            b"false" => Ok(ArgumentValue::Flag(false)),
            _ => Err(invalid("true or false")),
        },
        ParameterKind::Text | ParameterKind::OptionalText => Ok(ArgumentValue::Text(text.into())),
        ParameterKind::Name if haft_kernel::variables::is_name(text) => Ok(ArgumentValue::Text(text.into())),
        ParameterKind::Name => Err(invalid("a variable name")),
        ParameterKind::Integer(min) => match shown.parse::<u64>() {
            Ok(number) if number >= min => Ok(ArgumentValue::Number(number)),
            _ => Err(invalid(&format!("an integer of at least {min}"))),
        },
        ParameterKind::Duration => match duration::parse(text) {
            Some(duration) => Ok(ArgumentValue::Duration(duration)),
            None => Err(invalid("a duration such as 5, 0.5s, 2m or 1h")),
        },
        ParameterKind::Signal => match parse_signal(&shown) {
            Some(signal) => Ok(ArgumentValue::Number(signal)),
            None => Err(invalid("a signal name or number")),
        },
        ParameterKind::List => match parse_array(text) {
            Some(array) => from_json(parameter, &array),
            None => Ok(ArgumentValue::List(vec![text.into()])),
        },
        ParameterKind::Object => match serde_json::from_slice::<Value>(text) {
            Ok(value) => from_json(parameter, &value),
            Err(error) => Err(Error::new(
                ErrorKind::Value,
                format_args!("invalid JSON for '{}': {error}: '{shown}'", parameter.name),
            )
            .hint(format_args!("write {}={{\"NAME\": \"value\"}}", parameter.name))),
        },
        ParameterKind::Halt => match Halt::parse(&shown) {
            Some(halt) => Ok(ArgumentValue::Halt(halt)),
            None => Err(invalid("'never', 'soon' or 'now', optionally with ',fail=N'")),
        },
    }
}

/// A JSON array that is written as text.
fn parse_array(text: &[u8]) -> Option<Value> {
    let is_array = text.trim_ascii_start().starts_with(b"[");
    is_array.then(|| serde_json::from_slice(text).ok()).flatten().filter(Value::is_array)
}

/// Converts a value that was written as a JSON word.
pub(super) fn from_json(parameter: &CommandParameter, value: &Value) -> Result<ArgumentValue, Error> {
    let invalid = |expected: &str| invalid_value(parameter, expected, &value.to_string());
    match (parameter.kind, value) {
        (ParameterKind::List, Value::Array(items)) => {
            let items: Option<Vec<Bytes>> =
                items.iter().map(|item| Some(scalar_text(item)?.into())).collect();
            items.map(ArgumentValue::List).ok_or_else(|| invalid("an array of strings"))
        }
        (ParameterKind::Object, Value::Object(members)) => {
            let members: Option<Vec<_>> =
                members.iter().map(|(name, value)| Some((name.clone(), scalar_text(value)?))).collect();
            members.map(ArgumentValue::Object).ok_or_else(|| invalid("an object with string values"))
        }
        (ParameterKind::List, _) => Err(invalid("a string or an array of strings")),
        (ParameterKind::Object, _) => Err(invalid("an object")),
        _ => Err(invalid("text, not JSON")),
    }
}

/// A string, number or boolean as text.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The number of a signal, given by number or name. 0 is valid: it only tests whether a process exists.
fn parse_signal(text: &str) -> Option<u64> {
    const MAX_SIGNAL: i32 = 64;
    let number = match text.parse::<i32>() {
        Ok(number) if (0..=MAX_SIGNAL).contains(&number) => Some(number),
        Ok(_) => None,
        Err(_) => haft_process::signal_number(text),
    };
    number.and_then(|number| u64::try_from(number).ok())
}
