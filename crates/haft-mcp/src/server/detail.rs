//! How much of a result a client receives.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

/// How much of a result a client receives.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ResultDetail {
    /// Text only.
    #[default]
    Text,
    /// The outcome as structured content too.
    Full,
}

impl JsonSchema for ResultDetail {
    fn schema_name() -> Cow<'static, str> {
        "ResultDetail".into()
    }

    /// The names alone. A derived schema would have a description for each, which every client sends to its model.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["text", "full"] })
    }
}

/// The version of the structured content, the same as that of the JSON output of the command line.
const SCHEMA_VERSION: u32 = 1;

/// The name of the outcome in `_meta`.
pub(crate) const OUTCOME_META: &str = "haft/outcome";

/// Beginnings of the names of clients that keep `_meta` from the model. Qwen Code adds the name of the server.
const CLIENTS_WITH_META: [&str; 4] =
    ["claude-code", "codex-mcp-client", "copilot-cli", "qwen-cli-mcp-client"];

/// Whether a client keeps `_meta` from the model.
pub(crate) fn keeps_meta_from_model(client: &str) -> bool {
    CLIENTS_WITH_META.iter().any(|known| client.starts_with(known))
}

/// Adds the version of the schema to structured content.
pub(crate) fn versioned(mut data: Value) -> Value {
    if let Value::Object(fields) = &mut data {
        fields.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
    }
    data
}

/// The outcome for `_meta`: without the text of the output, which the result contains already.
pub(crate) fn without_output(mut data: Value) -> Value {
    for stream in ["stdout", "stderr", "output"] {
        if let Some(Value::Object(stream)) = data.get_mut(stream) {
            stream.remove("text");
        }
    }
    data
}
