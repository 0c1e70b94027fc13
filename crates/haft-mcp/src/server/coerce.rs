//! Converts arguments of a nearly right type: a number in quotes, or one string where a list is expected.

use haft_tools::exact::{self, large_integer};
use serde_json::{Map, Number, Value};

/// Converts values of an object to the types that its schema expects. Values that cannot be converted stay as they are;
/// validation reports them.
pub(crate) fn coerce(schema: &Value, value: &mut Value) {
    if !matches_type(schema, value)
        && let Some(converted) = converted(schema, value)
    {
        *value = converted;
    }
    if let (Value::String(text), Some(known)) = (&mut *value, schema.get("enum").and_then(Value::as_array)) {
        let same = |known: &&str| known.eq_ignore_ascii_case(text);
        if let Some(known) = known.iter().filter_map(Value::as_str).find(same) {
            known.clone_into(text);
        }
    }
    match value {
        Value::Object(fields) => coerce_fields(schema, fields),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| coerce(schema, item));
            }
        }
        _ => {}
    }
}

fn coerce_fields(schema: &Value, fields: &mut Map<String, Value>) {
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    fields.retain(|name, value| {
        let property = schema.get("properties").and_then(|known| known.get(name));
        !(value.is_null()
            && !required(name)
            && property.is_some_and(|property| !matches_type(property, value)))
    });
    for (name, value) in fields {
        let property = schema.get("properties").and_then(|known| known.get(name));
        if let Some(schema) = property.or_else(|| schema.get("additionalProperties")) {
            coerce(schema, value);
        }
    }
}

/// The types that a schema allows; none if it allows all.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn matches_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    let is_large = large_integer(value).is_some();
    types.is_empty()
        || types.iter().any(|name| match *name {
            "string" => value.is_string() && !is_large,
            "integer" => value.is_i64() || value.is_u64() || is_large,
            "number" => value.is_number() || is_large,
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => true,
        })
}

/// The value as one of the types that the schema allows.
fn converted(schema: &Value, value: &Value) -> Option<Value> {
    types(schema).into_iter().find_map(|name| match (name, value) {
        ("integer", Value::String(text)) => integer(text.trim()),
        ("integer", Value::Number(number)) => whole(number),
        ("number", Value::String(text)) => {
            integer(text.trim()).or_else(|| Number::from_f64(text.trim().parse().ok()?).map(Value::Number))
        }
        ("boolean", Value::String(text)) => text.trim().to_ascii_lowercase().parse().ok().map(Value::Bool),
        ("string", Value::String(_)) => large_integer(value).map(Value::from),
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
        ("array", Value::String(text)) => {
            Some(parsed(text).filter(Value::is_array).unwrap_or_else(|| Value::Array(vec![value.clone()])))
        }
        ("array", Value::Number(_) | Value::Bool(_) | Value::Object(_)) => {
            Some(Value::Array(vec![value.clone()]))
        }
        ("object", Value::String(text)) => parsed(text).filter(Value::is_object),
        _ => None,
    })
}

fn integer(text: &str) -> Option<Value> {
    text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<i64>().map(Value::from)).ok()
}

/// A number such as `2.0` as an integer.
fn whole(number: &Number) -> Option<Value> {
    let text = number.to_string();
    integer(text.strip_suffix(".0")?)
}

fn parsed(text: &str) -> Option<Value> {
    exact::parse(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "count": { "type": "integer" },
                "seconds": { "type": "number" },
                "all": { "type": "boolean" },
                "name": { "type": "string" },
                "names": { "type": "array", "items": { "type": "string" } },
                "lines": { "type": "array", "items": { "type": "integer" } },
                "mode": { "type": "string", "enum": ["kill", "background"] },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "port": { "type": ["integer", "string"] },
            },
            "required": ["name"],
        })
    }

    #[test]
    fn nearly_right_values_are_converted() {
        let cases = [
            (json!({ "count": "2" }), json!({ "count": 2 })),
            (json!({ "count": 2.0 }), json!({ "count": 2 })),
            (json!({ "seconds": "1.5" }), json!({ "seconds": 1.5 })),
            (json!({ "seconds": " 3 " }), json!({ "seconds": 3 })),
            (json!({ "all": "True" }), json!({ "all": true })),
            (json!({ "name": 7 }), json!({ "name": "7" })),
            (json!({ "names": "one" }), json!({ "names": ["one"] })),
            (json!({ "names": "[\"one\", \"two\"]" }), json!({ "names": ["one", "two"] })),
            (json!({ "lines": ["1", 2] }), json!({ "lines": [1, 2] })),
            (json!({ "mode": "KILL" }), json!({ "mode": "kill" })),
            (json!({ "env": "{\"A\": 1}" }), json!({ "env": { "A": "1" } })),
            (json!({ "port": "8080" }), json!({ "port": "8080" })),
            (json!({ "count": null }), json!({})),
        ];
        for (given, expected) in cases {
            let mut value = given.clone();
            coerce(&schema(), &mut value);
            assert_eq!(value, expected, "{given}");
        }
    }

    #[test]
    fn large_integers_stay_exact() {
        let given = r#"{"count":100000000000000000001,"name":100000000000000000002}"#;
        let mut value = exact::parse(given).unwrap();
        coerce(&schema(), &mut value);
        let expected = r#"{"count":100000000000000000001,"name":"100000000000000000002"}"#;
        assert_eq!(exact::to_text(&value), expected);
    }

    #[test]
    fn other_values_stay_as_they_are() {
        for given in [
            json!({ "count": "two" }),
            json!({ "count": 2.5 }),
            json!({ "all": "perhaps" }),
            json!({ "name": null }),
            json!({ "name": ["a"] }),
            json!({ "unknown": null }),
        ] {
            let mut value = given.clone();
            coerce(&schema(), &mut value);
            assert_eq!(value, given);
        }
    }
}
