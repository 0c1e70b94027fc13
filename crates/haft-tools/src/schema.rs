//! JSON Schemas of arguments and results.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use crate::text::short;

/// So many faults are told at once.
const MOST_FAULTS: usize = 5;

/// A schema, compiled.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    /// `None` only if it could not be compiled, which [`Schema::check`] has ruled out.
    validator: Option<Validator>,
}

impl Schema {
    /// Whether a value is a schema. References lead nowhere but into the schema itself.
    ///
    /// # Errors
    /// A place in it, and what is wrong there.
    pub fn check(value: &Value) -> Result<(), String> {
        let told = |error: &ValidationError<'_>| format!("{}: {error}", error.instance_path());
        if let Err(error) = jsonschema::meta::validate(value) {
            return Err(told(&error));
        }
        compile(value).map(drop).map_err(|error| told(&error))
    }

    pub(crate) fn new(value: &Value) -> Schema {
        Schema { value: value.clone(), validator: compile(value).ok() }
    }

    /// The schema as data.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The schema of one of the properties.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.value.get("properties")?.get(name)
    }

    /// The names of the properties, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.value
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
    }

    /// Whether other properties than those named may be given.
    pub(crate) fn is_open(&self) -> bool {
        let allows = |value: &Value| *value != Value::Bool(false);
        self.value.get("additionalProperties").is_some_and(allows)
            || self.value.get("patternProperties").is_some()
    }

    /// Puts in what is not given and has a default, in objects within objects too.
    pub fn fill_defaults(&self, arguments: &mut Value) {
        fill(&self.value, arguments);
    }

    /// Looks whether a value fits.
    ///
    /// # Errors
    /// What does not fit: the parameter, what was given, what is wanted.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.validator else { return Ok(()) };
        if validator.is_valid(value) {
            return Ok(());
        }
        let faults: Vec<String> =
            validator.iter_errors(value).take(MOST_FAULTS).map(|error| self.tell(&error)).collect();
        Err(faults.join("; "))
    }

    fn tell(&self, error: &ValidationError<'_>) -> String {
        let place = parameter(error.instance_path().as_str());
        let given = short(error.instance());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let inside = if place.is_empty() { String::new() } else { format!(" in '{place}'") };
                format!("parameter '{name}' is missing{inside}{}", self.wanted(&place, name))
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let all: Vec<String> = unexpected.iter().map(|name| self.unknown(name)).collect();
                all.join("; ")
            }
            _ if place.is_empty() => error.to_string(),
            _ => format!("parameter '{place}': given {given}, wanted {}", wanted(error)),
        }
    }

    /// What is said of a parameter that there is not.
    pub(crate) fn unknown(&self, name: &str) -> String {
        let hint =
            haft_config::suggest(name, self.names()).map_or(String::new(), |hint| format!(" ({hint})"));
        format!("there is no parameter '{name}'{hint}")
    }

    fn wanted(&self, place: &str, name: &str) -> String {
        let schema = if place.is_empty() { self.property(name) } else { None };
        let kind = schema.and_then(|schema| schema.get("type")).map(|kind| kind.to_string().replace('"', ""));
        kind.map_or(String::new(), |kind| format!("; wanted: {kind}"))
    }
}

fn compile(value: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(value)
}

/// What would have been right, in the words of the keyword that failed.
fn wanted(error: &ValidationError<'_>) -> String {
    let kind = error.kind();
    match kind {
        ValidationErrorKind::Type { .. } => {
            let text = error.masked().to_string();
            let types =
                text.split_once(" of type").map_or("", |(_, types)| types.trim_start_matches('s').trim());
            format!("type {}", types.replace('"', ""))
        }
        ValidationErrorKind::Enum { options } => format!("one of {options}"),
        ValidationErrorKind::Constant { expected_value } => expected_value.to_string(),
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::Pattern { pattern } => format!("a match of '{pattern}'"),
        ValidationErrorKind::Format { format } => format!("the format '{format}'"),
        _ => format!("'{}' ({})", kind.keyword(), error.masked()),
    }
}

/// A JSON pointer as people write it: `/items/0/name` is `items[0].name`.
fn parameter(pointer: &str) -> String {
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
    fn faults_name_the_parameter_what_was_given_and_what_is_wanted() {
        let cases = [
            (json!({}), "parameter 'path' is missing; wanted: string"),
            (json!({"path": 1}), "parameter 'path': given 1, wanted type string"),
            (json!({"path": "x", "limit": 0}), "parameter 'limit': given 0, wanted at least 1"),
            (json!({"path": "x", "mode": "c"}), "parameter 'mode': given \"c\", wanted one of [\"a\",\"b\"]"),
            (json!({"path": "x", "list": ["a", 2]}), "parameter 'list[1]': given 2, wanted type string"),
            (json!({"path": "x", "limits": 1}), "there is no parameter 'limits' (did you mean \"limit\"?)"),
        ];
        for (arguments, expected) in cases {
            assert_eq!(schema().validate(&arguments), Err(expected.to_owned()));
        }
    }

    #[test]
    fn defaults_are_filled_in_where_nothing_is_given() {
        let mut arguments = json!({"path": "x", "rest": {}});
        schema().fill_defaults(&mut arguments);
        assert_eq!(arguments, json!({"path": "x", "rest": {"deep": true}, "limit": 10}));
    }
}
