//! JSON Schemas of parameters and results.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use crate::envelope::CallError;
use crate::text::short;

/// Maximum number of validation errors in a message.
const MAX_REPORTED_ERRORS: usize = 5;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    /// `None` if compilation failed, which [`Schema::check`] rules out.
    validator: Option<Validator>,
}

impl Schema {
    /// Checks that a value is a valid schema. References must be local.
    ///
    /// # Errors
    /// Returns the position and the reason.
    pub fn check(value: &Value) -> Result<(), String> {
        let located = |error: &ValidationError<'_>| format!("{}: {error}", error.instance_path());
        if let Err(error) = jsonschema::meta::validate(value) {
            return Err(located(&error));
        }
        compile(value).map(drop).map_err(|error| located(&error))
    }

    /// Compiles a schema that [`check`](Schema::check) accepts. Other schemas accept all values.
    pub fn new(value: &Value) -> Schema {
        Schema { value: value.clone(), validator: compile(value).ok() }
    }

    /// The schema as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The schema of a property.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.value.get("properties")?.get(name)
    }

    /// The names of the properties, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.value
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
    }

    /// Returns true if unlisted properties are allowed.
    pub(crate) fn is_open(&self) -> bool {
        let allows = |value: &Value| *value != Value::Bool(false);
        self.value.get("additionalProperties").is_some_and(allows)
            || self.value.get("patternProperties").is_some()
    }

    /// Inserts the defaults of missing properties, also in nested objects.
    pub fn fill_defaults(&self, arguments: &mut Value) {
        fill(&self.value, arguments);
    }

    /// Validates a value.
    ///
    /// # Errors
    /// Returns the parameters that do not match, with the value and the expectation.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.validator else { return Ok(()) };
        if validator.is_valid(value) {
            return Ok(());
        }
        let errors: Vec<String> = validator
            .iter_errors(value)
            .take(MAX_REPORTED_ERRORS)
            .map(|error| self.describe(&error))
            .collect();
        Err(errors.join("; "))
    }

    fn describe(&self, error: &ValidationError<'_>) -> String {
        let path = format_pointer(error.instance_path().as_str());
        let given = short(error.instance());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let inside = if path.is_empty() { String::new() } else { format!(" in '{path}'") };
                format!("parameter '{name}' is missing{inside}{}", self.expected_type(&path, name))
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let all: Vec<String> = unexpected.iter().map(|name| self.unknown_parameter(name)).collect();
                all.join("; ")
            }
            _ if path.is_empty() => error.to_string(),
            _ => format!("parameter '{path}': expected {}, got {given}", expectation(error)),
        }
    }

    /// The message for an unknown parameter.
    pub(crate) fn unknown_parameter(&self, name: &str) -> String {
        let hint =
            haft_config::suggest(name, self.names()).map_or(String::new(), |hint| format!(" ({hint})"));
        format!("unknown parameter '{name}'{hint}")
    }

    /// The error of a call whose arguments do not match, with the parameters that are similar to an unknown one.
    pub(crate) fn invalid(&self, error: &str) -> CallError {
        let unknown = error.split("unknown parameter '").skip(1).filter_map(|rest| rest.split('\'').next());
        let nearest: Vec<&str> =
            unknown.flat_map(|name| haft_config::all_nearest(name, self.names())).collect();
        CallError::invalid(error).with_nearest(nearest)
    }

    fn expected_type(&self, path: &str, name: &str) -> String {
        let schema = if path.is_empty() { self.property(name) } else { None };
        let kind = schema.and_then(|schema| schema.get("type")).map(|kind| kind.to_string().replace('"', ""));
        kind.map_or(String::new(), |kind| format!("; expected {kind}"))
    }
}

fn compile(value: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(value)
}

/// Describes what the failed keyword expects.
fn expectation(error: &ValidationError<'_>) -> String {
    let kind = error.kind();
    match kind {
        ValidationErrorKind::Type { .. } => {
            let text = error.masked().to_string();
            let types =
                text.split_once(" of type").map_or("", |(_, types)| types.trim_start_matches('s').trim());
            types.replace('"', "")
        }
        ValidationErrorKind::Enum { options } => format!("one of {options}"),
        ValidationErrorKind::Constant { expected_value } => expected_value.to_string(),
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::Pattern { pattern } => format!("a match for '{pattern}'"),
        ValidationErrorKind::Format { format } => format!("the format '{format}'"),
        _ => format!("'{}' ({})", kind.keyword(), error.masked()),
    }
}

/// Formats a JSON pointer: `/items/0/name` becomes `items[0].name`.
fn format_pointer(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !path.is_empty() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    path
}

fn fill(schema: &Value, value: &mut Value) {
    let (Some(properties), Some(object)) =
        (schema.get("properties").and_then(Value::as_object), value.as_object_mut())
    else {
        return;
    };
    for (name, property) in properties {
        match object.get_mut(name) {
            Some(inner) => fill(property, inner),
            None => {
                if let Some(default) = property.get("default") {
                    object.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::new(&json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "default": 10},
                "mode": {"enum": ["a", "b"]},
                "rest": {"type": "object", "properties": {"deep": {"type": "boolean", "default": true}}},
                "list": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["path"],
            "additionalProperties": false,
        }))
    }

    #[test]
    fn errors_name_the_parameter_the_value_and_the_expectation() {
        let cases = [
            (json!({}), "parameter 'path' is missing; expected string"),
            (json!({"path": 1}), "parameter 'path': expected string, got 1"),
            (json!({"path": "x", "limit": 0}), "parameter 'limit': expected at least 1, got 0"),
            (json!({"path": "x", "mode": "c"}), "parameter 'mode': expected one of [\"a\",\"b\"], got \"c\""),
            (json!({"path": "x", "list": ["a", 2]}), "parameter 'list[1]': expected string, got 2"),
            (json!({"path": "x", "limits": 1}), "unknown parameter 'limits' (did you mean 'limit'?)"),
        ];
        for (arguments, expected) in cases {
            assert_eq!(schema().validate(&arguments), Err(expected.to_owned()));
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let mut arguments = json!({"path": "x", "rest": {}});
        schema().fill_defaults(&mut arguments);
        assert_eq!(arguments, json!({"path": "x", "rest": {"deep": true}, "limit": 10}));
    }
}
