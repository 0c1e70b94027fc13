//! JSON schema of a command's parameters.

use serde_json::{Map, Value, json};

use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, JsonColumn, JsonKind, ParameterKind,
};

/// Returns the JSON schema of a command's parameters.
///
/// ```
/// let spawn = haft_commands::DESCRIPTORS.iter().find(|it| it.name == "spawn").unwrap();
/// let schema = haft_commands::schema(spawn);
/// assert_eq!(schema["required"], serde_json::json!(["command"]));
/// assert_eq!(schema["properties"]["timeout"]["type"], "integer");
/// ```
#[must_use]
pub fn schema(descriptor: &CommandDescriptor) -> Value {
    let mut properties = Map::new();
    for parameter in descriptor.parameters {
        properties.insert(parameter.name.to_owned(), property(parameter));
    }
    let mut required: Vec<&str> =
        descriptor.parameters.iter().filter(|it| it.required).map(|it| it.name).collect();
    if let Some(operands) = descriptor.style.operands() {
        let items = json!({"type": "array", "items": {"type": "string"}, "description": operands.join(" ")});
        properties.insert("operands".to_owned(), items);
        if matches!(descriptor.style, ArgumentStyle::Gnu(_)) {
            required.push("operands");
        }
    }
    json!({
        "type": "object",
        "description": descriptor.summary,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the JSON schema of what a command writes with `--json`. `None` if it does not have the option.
///
/// ```
/// let wc = haft_commands::GNU_GROUPS.iter().flat_map(|group| group.descriptors).find(|it| it.name == "wc").unwrap();
/// let schema = haft_commands::output_schema(wc).unwrap();
/// assert_eq!(schema["items"]["properties"]["lines"]["type"][0], "integer");
/// ```
#[must_use]
pub fn output_schema(descriptor: &CommandDescriptor) -> Option<Value> {
    let columns = descriptor.parameters.iter().map(CommandParameter::columns).find(|it| !it.is_empty())?;
    let member = |column: &JsonColumn| {
        let mut schema = match column.kind {
            JsonKind::Text => json!({"type": ["string", "null"]}),
            JsonKind::Number => json!({"type": ["integer", "null"]}),
            JsonKind::Boolean => json!({"type": ["boolean", "null"]}),
            JsonKind::Texts => json!({"type": ["array", "null"], "items": {"type": "string"}}),
            JsonKind::Numbers => json!({"type": ["array", "null"], "items": {"type": "integer"}}),
        };
        schema["description"] = column.summary.into();
        (column.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = columns.iter().map(member).collect();
    let required: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let items = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Some(json!({"type": "array", "items": items}))
}

fn property(parameter: &CommandParameter) -> Value {
    let mut property = match parameter.kind {
        ParameterKind::Flag => json!({"type": "boolean"}),
        ParameterKind::Text
        | ParameterKind::OptionalText
        | ParameterKind::Duration
        | ParameterKind::Signal => json!({"type": "string"}),
        ParameterKind::Name => json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}),
        ParameterKind::Integer(min) => json!({"type": "integer", "minimum": min}),
        ParameterKind::List => json!({"type": ["array", "string"], "items": {"type": "string"}}),
        ParameterKind::Object => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        ParameterKind::Halt => {
            json!({"type": "string", "pattern": "^(never|(soon|now)(,fail=[1-9][0-9]*)?)$"})
        }
    };
    property["description"] = parameter.summary.into();
    property
}
