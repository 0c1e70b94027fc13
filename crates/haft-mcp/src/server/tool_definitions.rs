//! Names, descriptions and schemas of the built-in tools.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{job_tool, output_tool, run_tool, script_tools, withheld_variables};

const RUN_DESCRIPTION: &str = "Run a bash script. Returns when the script ends, when a condition in \"until\" is met, or at the \
    timeout. The result is the output, then one line with exit status, duration and omitted output. At the timeout, every \
    process of the script is killed unless it shall continue as a job. Each call is a new shell unless it names a session.";

/// Whether this is the name of a built-in tool.
pub(crate) fn is_built_in(name: &str) -> bool {
    ["run", "job", "output", "check", "plan"].contains(&name)
}

/// The built-in tools. The description of `run` lists the withheld variables.
pub(crate) fn built_in(withheld: &[String]) -> Vec<Tool> {
    vec![
        define::<run_tool::RunArguments>(
            "run",
            RUN_DESCRIPTION.to_owned() + &withheld_variables::description(withheld),
            outcome_schema(),
            ToolAnnotations::new().destructive(true).open_world(true),
        ),
        define::<job_tool::JobArguments>(
            "job",
            "List running jobs, wait for a job, read its new output, write to it, send it a signal, or kill it.",
            outcome_schema(),
            ToolAnnotations::new().destructive(true).open_world(true),
        ),
        define::<output_tool::OutputArguments>(
            "output",
            "Read another part of an earlier output, or the lines that match a pattern, by the id in an earlier answer. \
             Nothing is run again.",
            json!({ "type": "object" }),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
        define::<script_tools::ScriptArguments>(
            "check",
            "Find errors and likely mistakes in a bash script without running it.",
            json!({
                "type": "object",
                "properties": {
                    "ok": { "type": "boolean", "description": "Whether the script has no errors" },
                    "incomplete": { "type": "boolean", "description": "Whether the end of the script is missing" },
                    "diagnostics": { "type": "array", "items": { "type": "object" } },
                },
            }),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
        define::<script_tools::ScriptArguments>(
            "plan",
            "List every command that a bash script can run, with the files it reads and writes, without running it.",
            json!({ "type": "object" }),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
    ]
}

fn define<A: JsonSchema>(
    name: &'static str,
    description: impl Into<Cow<'static, str>>,
    output: Value,
    annotations: ToolAnnotations,
) -> Tool {
    let input = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<A>();
    let mut input = object(input.to_value());
    input.remove("title");
    input.remove("description");
    input.values_mut().for_each(simplify);
    Tool::new(name, description, Arc::new(input))
        .with_raw_output_schema(Arc::new(object(output)))
        .with_annotations(annotations)
}

/// The output schema of `run` and `job`.
fn outcome_schema() -> Value {
    let stream = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "lossy": { "type": "boolean", "description": "Whether the output was not valid UTF-8" },
            "total_bytes": { "type": "integer" },
            "total_lines": { "type": "integer" },
            "truncated": { "type": "boolean", "description": "Whether part of the output is omitted" },
            "id": { "type": "string", "description": "The id for the tool \"output\"" },
        },
    });
    json!({
        "type": "object",
        "properties": {
            "state": { "type": "string", "enum": ["ended", "running"] },
            "status": {
                "type": "object",
                "properties": {
                    "code": { "type": "integer" },
                    "signal": { "type": ["string", "null"] },
                    "timed_out": { "type": "boolean" },
                    "cancelled": { "type": "boolean" },
                },
            },
            "stages": { "type": "array", "items": { "type": "object" } },
            "stdout": stream,
            "stderr": stream,
            "output": stream,
            "cwd": { "type": ["string", "null"] },
            "tree": { "type": "object" },
            "jobs": { "type": "array", "items": { "type": "object" } },
            "duration": { "type": "number", "description": "Seconds" },
            "job": { "type": "string", "description": "The id of the job, if it still runs" },
            "pids": { "type": "array", "items": { "type": "integer" } },
            "needs_input": { "type": ["integer", "null"], "description": "The id of a process that waits for input" },
            "met": { "type": "string", "description": "The condition that was met" },
        },
    })
}

/// Simplifies a schema: an optional property need not allow null, and formats and null defaults are dropped.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| !(key == "format" || key == "default" && value.is_null()));
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    object.insert("type".to_owned(), kind);
                }
            }
            if let Some(Value::Array(kinds)) = object.get_mut("anyOf") {
                kinds.retain(|kind| kind["type"] != "null");
            }
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Deserializes the arguments of a tool.
pub(crate) fn parse_arguments<A: DeserializeOwned>(
    tool: &str,
    given: Option<JsonObject>,
) -> Result<A, String> {
    serde_json::from_value(Value::Object(given.unwrap_or_default()))
        .map_err(|error| format!("invalid arguments for \"{tool}\": {error}"))
}
