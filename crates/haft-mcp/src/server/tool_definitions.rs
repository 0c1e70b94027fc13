//! Names, descriptions and schemas of the built-in tools, and their arguments.

use std::borrow::Cow;
use std::sync::Arc;

use haft_tools::{Schema, exact};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::coerce::coerce;
use super::detail::ResultDetail;
use super::{changes_tool, job_tool, output_tool, run_tool, script_tools, withheld_variables};

const RUN_DESCRIPTION: &str = "Run a bash script. Returns its output, then a line with exit status and duration, \
    when it ends, an \"until\" condition is met, or the timeout passes.";

/// The names of all built-in tools.
pub(crate) const BUILT_IN: [&str; 6] = ["run", "job", "output", "changes", "check", "plan"];

/// Built-in tools that are offered only on request.
pub(crate) const ON_REQUEST: [&str; 2] = ["check", "plan"];

/// Other names that models use for a parameter: tool, name, parameter.
const ALIASES: [(&str, &str, &str); 3] =
    [("run", "command", "script"), ("job", "job", "id"), ("output", "output", "id")];

/// The built-in tools with the schemas of their arguments.
#[derive(Debug)]
pub(crate) struct BuiltInTools {
    tools: Vec<(Tool, Schema)>,
}

impl BuiltInTools {
    /// Defines all built-in tools. The description of `run` lists the withheld variables. Output schemas are included
    /// if every result has structured content.
    pub(crate) fn new(withheld: &[String], detail: ResultDetail) -> BuiltInTools {
        let tools = define_all(withheld).into_iter().map(|mut tool| {
            if detail == ResultDetail::Text {
                tool.output_schema = None;
            }
            let full = Value::Object((*tool.input_schema).clone());
            tool.input_schema = Arc::new(object(listed(&tool.name, full.clone())));
            (tool, Schema::new(&full))
        });
        BuiltInTools { tools: tools.collect() }
    }

    /// The definitions.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|(tool, _)| tool)
    }

    /// Reads the arguments of a tool. Values of a nearly right type are converted.
    ///
    /// # Errors
    /// Names the parameters that are wrong, and what is expected.
    pub(crate) fn parse<A: DeserializeOwned>(
        &self,
        name: &str,
        given: Option<JsonObject>,
    ) -> Result<A, String> {
        let mut given = given.unwrap_or_default();
        for (_, alias, parameter) in ALIASES.iter().filter(|(tool, ..)| *tool == name) {
            if !given.contains_key(*parameter)
                && let Some(value) = given.remove(*alias)
            {
                given.insert((*parameter).to_owned(), value);
            }
        }
        let mut given = Value::Object(given);
        if let Some((_, schema)) = self.tools.iter().find(|(tool, _)| tool.name == name) {
            coerce(schema.value(), &mut given);
            given = exact::saturated(&given);
            schema.validate(&given)?;
        }
        serde_json::from_value(given).map_err(|error| format!("invalid arguments: {error}"))
    }
}

/// Parameters whose schema is described in words, or by another tool: tool, parameter, description.
const DESCRIBED_ELSEWHERE: [(&str, &str, &str); 4] = [
    (
        "run",
        "limits",
        "memory and output (bytes), cpu (seconds), processes; \"strict\": true refuses to start if one cannot be enforced.",
    ),
    ("run", "view", "As in the tool output."),
    ("job", "view", "As in the tool output."),
    (
        "job",
        "until",
        "As in the tool run. Default for wait: the end of the job; for write: it waits for input or is silent.",
    ),
];

/// The schema that clients see. It is shorter than the one that validates: clients send it to a model with every request.
fn listed(tool: &str, mut schema: Value) -> Value {
    let Some(properties) = schema["properties"].as_object_mut() else { return schema };
    for (_, name, description) in DESCRIBED_ELSEWHERE.iter().filter(|(of, ..)| *of == tool) {
        properties.insert((*name).to_owned(), json!({ "type": "object", "description": description }));
    }
    properties.values_mut().for_each(shorten);
    // Said once, by `run`. Unknown parameters are refused with a message, whatever the schema says.
    if let Some(Value::Object(detail)) = properties.get_mut("detail").filter(|_| tool != "run") {
        detail.remove("description");
    }
    schema.as_object_mut().map(|schema| schema.remove("additionalProperties"));
    schema
}

/// Removes what a model does not need: bounds, and properties that are false by default.
pub(crate) fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| match key.as_str() {
                "minimum" | "maximum" | "minLength" => !value.is_number(),
                "additionalProperties" | "default" => *value != Value::Bool(false),
                _ => true,
            });
            object.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn define_all(withheld: &[String]) -> Vec<Tool> {
    vec![
        define::<run_tool::RunArguments>(
            "run",
            RUN_DESCRIPTION.to_owned() + &withheld_variables::description(withheld),
            outcome_schema(),
            ToolAnnotations::new().destructive(true).open_world(true),
        ),
        define::<job_tool::JobArguments>(
            "job",
            "List scripts that continue as jobs; wait for, read, write to, signal or kill one.",
            outcome_schema(),
            ToolAnnotations::new().destructive(true).open_world(true),
        ),
        define::<output_tool::OutputArguments>(
            "output",
            "Read another part of an earlier output. Nothing is run again.",
            output_schema(),
            ToolAnnotations::new().read_only(true).open_world(false),
        ),
        define::<changes_tool::ChangesArguments>(
            "changes",
            "Show, commit, discard or take back what scripts changed in an overlay.",
            json!({ "type": "object" }),
            ToolAnnotations::new().destructive(true).open_world(false),
        ),
        define::<script_tools::ScriptArguments>(
            "check",
            "Find errors and likely mistakes in a bash script without running it.",
            check_schema(),
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
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
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
    let stream = output_schema();
    json!({
        "type": "object",
        "properties": {
            "schema_version": { "type": "integer" },
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
            "needs_input": { "type": "boolean", "description": "Whether a process waits for input" },
            "met": { "type": "string", "description": "The condition that was met" },
        },
    })
}

/// The output schema of `output`, and of a stream in an outcome.
fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "lossy": { "type": "boolean", "description": "Whether the output was not valid UTF-8" },
            "total_bytes": { "type": "integer" },
            "total_lines": { "type": "integer" },
            "truncated": { "type": "boolean", "description": "Whether part of the output is omitted" },
            "id": { "type": "string", "description": "The id for the tool \"output\"" },
        },
    })
}

/// The output schema of `check`.
fn check_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean", "description": "Whether the script has no errors" },
            "incomplete": { "type": "boolean", "description": "Whether the end of the script is missing" },
            "diagnostics": { "type": "array", "items": { "type": "object" } },
        },
    })
}

/// Simplifies a schema: an optional property need not allow null, and formats and defaults are dropped.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, _| !["format", "default"].contains(&key.as_str()));
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    object.insert("type".to_owned(), kind);
                }
            }
            if let Some(Value::Array(kinds)) = object.get_mut("anyOf") {
                kinds.retain(|kind| kind["type"] != "null");
                if let [Value::Object(only)] = kinds.as_mut_slice() {
                    let only = std::mem::take(only);
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, arguments: Value) -> Result<run_tool::RunArguments, String> {
        BuiltInTools::new(&[], ResultDetail::Text).parse(name, Some(object(arguments)))
    }

    #[test]
    fn wrong_arguments_are_named_with_what_is_expected() {
        let cases = [
            (json!({ "scrpt": "true" }), "did you mean 'script'?"),
            (json!({}), "parameter 'script' is missing; expected string"),
            (
                json!({ "script": "true", "timeout": "soon" }),
                "parameter 'timeout': expected number, got \"soon\"",
            ),
            (
                json!({ "script": "true", "view": { "head": -1 } }),
                "parameter 'view.head': expected at least 0, got -1",
            ),
        ];
        for (arguments, words) in cases {
            let message = parse("run", arguments.clone()).unwrap_err();
            assert!(message.contains(words), "{arguments}: {message}");
        }
    }

    #[test]
    fn the_schemas_are_short() {
        let tools = BuiltInTools::new(&[], ResultDetail::Text);
        let listed: Vec<&Tool> = tools.definitions().take(4).collect();
        let bytes = serde_json::to_string(&listed).unwrap().len();
        assert!(bytes < 5150, "{bytes} bytes");
    }

    #[test]
    fn other_names_and_nearly_right_values_are_accepted() {
        let arguments =
            json!({ "command": "true", "timeout": "2", "pty": "true", "view": "{\"lines\": [\"1\", 2]}" });
        parse("run", arguments).unwrap();
    }
}
