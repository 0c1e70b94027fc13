//! Command-line arguments of tools: `key=value`, `--key value`, JSON words, or one JSON object.

use serde_json::{Map, Value};

use crate::envelope::CallError;
use crate::exact;
use crate::schema::Schema;
use crate::text;
use crate::tool::Tool;

/// One word of a tool's command line.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentWord {
    /// Plain text.
    Text(String),
    /// A JSON word, `name=[…]` or `name={…}`, with its parsed value.
    Named(String, Value),
}

impl From<&str> for ArgumentWord {
    fn from(text: &str) -> ArgumentWord {
        ArgumentWord::Text(text.to_owned())
    }
}

impl Tool {
    /// Converts words to arguments, with types from the tool's schema.
    ///
    /// ```
    /// # use haft_tools::core_tools;
    /// # use haft_config::{Directories, trust::TrustStore};
    /// # let options = haft_tools::RegistryOptions { natives: core_tools(&Default::default()), ..Default::default() };
    /// # let registry = haft_tools::Registry::open(haft_process::Host::plain(), &Directories::default(), TrustStore::open(None), options);
    /// let tool = registry.find("file_read").unwrap();
    /// let words = ["path=src/main.rs".into(), "--limit".into(), "10".into()];
    /// assert_eq!(tool.arguments(&words).unwrap(), serde_json::json!({"path": "src/main.rs", "limit": 10}));
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorCode::InvalidParams`](crate::ErrorCode::InvalidParams) with the parameter, the value
    /// and the expected type.
    pub fn arguments(&self, words: &[ArgumentWord]) -> Result<Value, CallError> {
        let schema = self.parameters();
        read(schema, words).map_err(|error| schema.invalid(&error))
    }
}

fn read(schema: &Schema, words: &[ArgumentWord]) -> Result<Value, String> {
    if let [ArgumentWord::Text(only)] = words
        && only.trim_start().starts_with('{')
    {
        return exact::parse(only)
            .map_err(|error| format!("not JSON at byte {}: {error}", text::byte_of(only, &error)));
    }
    let mut arguments = Map::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word {
            ArgumentWord::Named(name, value) => set_parameter(&mut arguments, schema, name, value.clone())?,
            ArgumentWord::Text(text) => match text.strip_prefix("--").filter(|rest| !rest.is_empty()) {
                Some(option) => {
                    let following = match words.peek() {
                        Some(ArgumentWord::Text(next))
                            if !option.contains('=') && !next.starts_with("--") =>
                        {
                            Some(next.as_str())
                        }
                        _ => None,
                    };
                    if read_option(&mut arguments, schema, option, following)? {
                        words.next();
                    }
                }
                None => read_pair(&mut arguments, schema, text)?,
            },
        }
    }
    Ok(Value::Object(arguments))
}

fn read_pair(arguments: &mut Map<String, Value>, schema: &Schema, word: &str) -> Result<(), String> {
    let Some((name, value)) = word.split_once('=') else {
        if let Some(property) = schema.property(word) {
            return Err(format!(
                "parameter '{word}' has no value; expected {}",
                expected_type(Some(property))
            ));
        }
        let names: Vec<&str> = schema.names().collect();
        return Err(format!(
            "unknown parameter '{word}'; write NAME=VALUE with one of: {}",
            names.join(", ")
        ));
    };
    let name = parameter_name(schema, name)?;
    let value = typed(schema.property(&name), &name, value)?;
    set_parameter(arguments, schema, &name, value)
}

/// Parses `--key=value`, `--key value`, `--flag` or `--no-flag`. Returns true if it used the following word.
fn read_option(
    arguments: &mut Map<String, Value>,
    schema: &Schema,
    option: &str,
    following: Option<&str>,
) -> Result<bool, String> {
    if let Some((name, value)) = option.split_once('=') {
        let name = parameter_name(schema, name)?;
        let value = typed(schema.property(&name), &name, value)?;
        return set_parameter(arguments, schema, &name, value).map(|()| false);
    }
    if let Some(name) = option.strip_prefix("no-").and_then(|name| parameter_name(schema, name).ok())
        && allows(schema.property(&name), "boolean")
    {
        return set_parameter(arguments, schema, &name, Value::Bool(false)).map(|()| false);
    }
    let name = parameter_name(schema, option)?;
    let property = schema.property(&name);
    let flag = allows(property, "boolean");
    match following {
        Some(value) if !flag || matches!(value, "true" | "false") => {
            let value = typed(property, &name, value)?;
            set_parameter(arguments, schema, &name, value).map(|()| true)
        }
        _ if flag => set_parameter(arguments, schema, &name, Value::Bool(true)).map(|()| false),
        _ => Err(format!("parameter '{name}' has no value; expected {}", expected_type(property))),
    }
}

/// Finds a parameter by name. `-` and `_` are equivalent.
fn parameter_name(schema: &Schema, name: &str) -> Result<String, String> {
    let underscored = name.replace('-', "_");
    if schema.property(name).is_some() || (schema.is_open() && schema.property(&underscored).is_none()) {
        return Ok(name.to_owned());
    }
    if schema.property(&underscored).is_some() {
        Ok(underscored)
    } else {
        Err(schema.unknown_parameter(name))
    }
}

/// Sets a parameter. Repeated values of an array parameter are appended.
fn set_parameter(
    arguments: &mut Map<String, Value>,
    schema: &Schema,
    name: &str,
    value: Value,
) -> Result<(), String> {
    let name = parameter_name(schema, name)?;
    match arguments.get_mut(&name) {
        None => {
            arguments.insert(name, value);
            Ok(())
        }
        Some(Value::Array(all)) if allows(schema.property(&name), "array") => {
            match value {
                Value::Array(more) => all.extend(more),
                one => all.push(one),
            }
            Ok(())
        }
        Some(_) => Err(format!("parameter '{name}' is given twice")),
    }
}

/// Converts text to a value of the type that the schema requires.
fn typed(schema: Option<&Value>, name: &str, text: &str) -> Result<Value, String> {
    let json = || exact::parse(text).ok();
    let fits = |value: &Value| types(schema).iter().any(|wanted| is_of(&exact::rounded(value), wanted));
    let allowed = types(schema);
    if allowed.is_empty() {
        return Ok(json().unwrap_or_else(|| Value::String(text.to_owned())));
    }
    let accepts_string = ["string"].iter().any(|wanted| allowed.contains(wanted));
    let scalar_only = allowed.iter().all(|wanted| matches!(*wanted, "string" | "null"));
    if accepts_string && scalar_only {
        return Ok(Value::String(text.to_owned()));
    }
    if let Some(value) = json().filter(|value| fits(value)) {
        return Ok(value);
    }
    if accepts_string {
        return Ok(Value::String(text.to_owned()));
    }
    if allowed.contains(&"array") {
        let item = typed(schema.and_then(|schema| schema.get("items")), name, text)?;
        return Ok(Value::Array(vec![item]));
    }
    Err(format!("parameter '{name}': expected {}, got '{}'", expected_type(schema), text::shorten(text, 80)))
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// The types that a schema lists in `type`; empty if it uses another keyword.
fn types(schema: Option<&Value>) -> Vec<&str> {
    match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn allows(schema: Option<&Value>, wanted: &str) -> bool {
    types(schema).contains(&wanted)
}

fn expected_type(schema: Option<&Value>) -> String {
    let types = types(schema);
    if types.is_empty() { "a value".to_owned() } else { types.join(" or ") }
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
                "limit": {"type": "integer"},
                "ratio": {"type": "number"},
                "all_of_it": {"type": "boolean"},
                "names": {"type": "array", "items": {"type": "string"}},
                "options": {"type": "object"},
                "either": {"type": ["integer", "string"]},
                "any": {},
            },
        }))
    }

    fn words(texts: &[&str]) -> Vec<ArgumentWord> {
        texts.iter().map(|text| ArgumentWord::from(*text)).collect()
    }

    #[test]
    fn words_are_typed_by_the_schema() {
        let cases: &[(&[&str], Value)] = &[
            (&[], json!({})),
            (&["path=10", "limit=10", "ratio=1.5"], json!({"path": "10", "limit": 10, "ratio": 1.5})),
            (&["--path", "a=b", "--limit=3"], json!({"path": "a=b", "limit": 3})),
            (&["--all-of-it", "path=x"], json!({"all_of_it": true, "path": "x"})),
            (&["--no-all-of-it"], json!({"all_of_it": false})),
            (&["--all_of_it", "false"], json!({"all_of_it": false})),
            (&["names=a", "names=b"], json!({"names": ["a", "b"]})),
            (&["names=[\"a\",\"b\"]", "--names", "c"], json!({"names": ["a", "b", "c"]})),
            (&["options={\"a\": [1]}"], json!({"options": {"a": [1]}})),
            (&["either=1", "any=null"], json!({"either": 1, "any": null})),
            (&["either=x", "any=text"], json!({"either": "x", "any": "text"})),
            (&["{\"limit\": 2}"], json!({"limit": 2})),
            (&["path="], json!({"path": ""})),
            (&["--limit", "-1"], json!({"limit": -1})),
        ];
        for (given, expected) in cases {
            assert_eq!(read(&schema(), &words(given)).as_ref(), Ok(expected), "{given:?}");
        }
    }

    #[test]
    fn json_words_keep_their_values() {
        let given =
            [ArgumentWord::Named("names".to_owned(), json!(["a", "b c"])), ArgumentWord::from("limit=1")];
        assert_eq!(read(&schema(), &given), Ok(json!({"names": ["a", "b c"], "limit": 1})));
    }

    #[test]
    fn invalid_words_are_errors_with_a_reason() {
        let cases: &[(&[&str], &str)] = &[
            (&["limit=ten"], "parameter 'limit': expected integer, got 'ten'"),
            (&["limitt=1"], "unknown parameter 'limitt' (did you mean 'limit'?)"),
            (&["--pathh", "x"], "unknown parameter 'pathh' (did you mean 'path'?)"),
            (&["--path"], "parameter 'path' has no value; expected string"),
            (&["path=a", "path=b"], "parameter 'path' is given twice"),
            (&["{oops"], "not JSON at byte 1: "),
            (&["path"], "parameter 'path' has no value; expected string"),
            (&["x"], "unknown parameter 'x'; write NAME=VALUE with one of: path, limit"),
        ];
        for (given, expected) in cases {
            let error = read(&schema(), &words(given)).expect_err("invalid words");
            assert!(error.starts_with(expected), "{given:?}: {error}");
        }
    }
}
