//! The parameters of a command as a JSON schema.

use serde_json::{Map, Value, json};

use crate::descriptor::{Descriptor, Kind, Parameter, Style};

/// The JSON schema of a command's parameters.
///
/// ```
/// let spawn = haft_commands::DESCRIPTORS.iter().find(|it| it.name == "spawn").unwrap();
/// let schema = haft_commands::schema(spawn);
/// assert_eq!(schema["required"], serde_json::json!(["command"]));
/// assert_eq!(schema["properties"]["timeout"]["type"], "integer");
/// ```
#[must_use]
pub fn schema(descriptor: &Descriptor) -> Value {
    let mut properties = Map::new();
    for parameter in descriptor.parameters {
        properties.insert(parameter.name.to_owned(), property(parameter));
    }
    let mut required: Vec<&str> =
        descriptor.parameters.iter().filter(|it| it.required).map(|it| it.name).collect();
    if let Style::Gnu(operands) = descriptor.style {
        let items = json!({"type": "array", "items": {"type": "string"}, "description": operands.join(" ")});
        properties.insert("operands".to_owned(), items);
        required.push("operands");
    }
    json!({
        "type": "object",
        "description": descriptor.summary,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(parameter: &Parameter) -> Value {
    let mut property = match parameter.kind {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Text | Kind::Duration | Kind::Signal => json!({"type": "string"}),
        Kind::Name => json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}),
        Kind::Whole(least) => json!({"type": "integer", "minimum": least}),
        Kind::List => json!({"type": ["array", "string"], "items": {"type": "string"}}),
        Kind::Object => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Kind::Halt => json!({"type": "string", "pattern": "^(never|(soon|now)(,fail=[1-9][0-9]*)?)$"}),
    };
    property["description"] = parameter.summary.into();
    property
}
