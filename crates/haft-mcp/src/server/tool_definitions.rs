//! The tools by their names: what each is for, what it takes, what it answers.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{job_tool, output_tool, run_tool, script_tools, withheld_variables};

const RUN_DESCRIPTION: &str = "Run a bash script. Answers when it has ended, or what \"until\" names has come true, or the time is up, \
             with its output and one line: exit status, duration, what is not shown. Everything it started is ended at \
             the time-out, unless it shall go on as a job. Each call is a fresh shell unless it names a session.";

/// Whether a tool of this name is one of ours.
pub(crate) fn is_built_in(name: &str) -> bool {
    ["run", "job", "output", "check", "plan"].contains(&name)
}

/// Our own tools; scripts do not have the variables of these names.
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
            "List what still runs, wait for it, read what it wrote since the last look, write to it, signal or end it.",
            outcome_schema(),
            ToolAnnotations::new().destructive(true).open_world(true),
        ),
        define::<output_tool::OutputArguments>(
            "output",
            "Look again at what an earlier script wrote, by the id in its answer: another part, or the lines that match. \
             Nothing is run again.",
            json!({ "type": "object" }),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
        define::<script_tools::ScriptArguments>(
            "check",
            "Say what is wrong with a bash script before it runs. Nothing is run.",
            json!({
                "type": "object",
                "properties": {
                    "ok": { "type": "boolean", "description": "Whether there are no errors" },
                    "incomplete": { "type": "boolean", "description": "Whether something is missing at the end" },
                    "diagnostics": { "type": "array", "items": { "type": "object" } },
                },
            }),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
        define::<script_tools::ScriptArguments>(
            "plan",
            "List every command that a bash script can run, with the files it reads and writes. Nothing is run.",
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

/// What `run` and `job` answer.
fn outcome_schema() -> Value {
    let stream = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "lossy": { "type": "boolean", "description": "Whether something was not UTF-8" },
            "total_bytes": { "type": "integer" },
            "total_lines": { "type": "integer" },
            "truncated": { "type": "boolean", "description": "Whether the text is not all of it" },
            "id": { "type": "string", "description": "Where the rest is, for the tool \"output\"" },
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
            "duration": { "type": "number", "description": "In seconds" },
            "job": { "type": "string", "description": "The job, if it still runs" },
            "pids": { "type": "array", "items": { "type": "integer" } },
            "needs_input": { "type": ["integer", "null"], "description": "The process that waits for input" },
            "met": { "type": "string", "description": "What was waited for and has come true" },
        },
    })
}

/// A schema in fewer words: what may be left out need not be said to be null, and a number is a number.
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

/// The arguments of a tool, or what is wrong with them.
pub(crate) fn parse_arguments<A: DeserializeOwned>(
    tool: &str,
    given: Option<JsonObject>,
) -> Result<A, String> {
    serde_json::from_value(Value::Object(given.unwrap_or_default()))
        .map_err(|error| format!("the arguments of \"{tool}\" cannot be understood: {error}"))
}
