//! Generates `docs/json.md` and `docs/json.schema.json` from the types that haft prints.
//!
//! The test fails when they are stale; `HAFT_WRITE_DOCS=1 cargo test -p haft json_docs` writes them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::commands::changes::report::{ChangesReport, CommittedReport, OverlayListReport, RemovedReport};
use crate::commands::check::CheckReport;
use crate::commands::doctor::MachineDoctorReport;
use crate::commands::doctor::version::VersionReport;
use crate::commands::launch::configure::InitReport;
use crate::commands::launch::doctor::DoctorReport;
use crate::commands::launch::list::{LaunchItemReport, LaunchListReport, LaunchSearchReport};
use crate::commands::launch::share::LaunchChangeReport;
use crate::commands::launch::summary::LaunchReport;
use crate::commands::launch::supervise::SupervisedReport;
use crate::commands::log::RunListReport;
use crate::commands::output::OutputListReport;
use crate::commands::plan::PlanReport;
use crate::commands::policy::check::PolicyCheckReport;
use crate::commands::policy::explain::PolicyReport;
use crate::commands::policy::import::PolicyImportReport;
use crate::commands::policy::show::PresetReport;
use crate::commands::policy::test::PolicyTestReport;
use crate::commands::ps::RunningListReport;
use crate::commands::tool::batch::BatchAnswer;
use crate::commands::tool::check::ToolCheckReport;
use crate::commands::tool::list::{ToolListReport, ToolReport};
use crate::commands::tool::new::NewToolReport;
use crate::commands::trust::show::{OwnersReport, RevokedReport, TrustListReport, TrustReport};
use crate::json::{ErrorReport, Versioned};

const INTRODUCTION: &str = "# JSON output

Commands with `--json` print one JSON object per result, on one line. Each object has `schema_version`, which is 1. It
changes when a field is removed or changes its meaning; fields may be added at any time. Fields marked *optional* are absent
when they do not apply.

A command that fails prints an [error](#errors) instead, for wrong usage too, and has the exit status that the error names.

Commands inside scripts, such as `ls --json`, write an array of objects without `schema_version`. [commands.md](commands.md) lists their
members; `data` of a run has the same array.

[json.schema.json](json.schema.json) has the same as JSON Schema: one definition per command in `$defs`. Both files are
generated from the types that haft prints.
";

/// An output: its anchor in the schema, the commands that print it, and its type.
struct Output {
    name: &'static str,
    commands: &'static str,
    schema: Schema,
}

fn output<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &'static str,
    commands: &'static str,
) -> Output {
    let mut schema = Versioned::<T>::json_schema(generator);
    let description = T::json_schema(generator).get("description").cloned();
    schema.insert("description".to_owned(), description.unwrap_or_default());
    Output { name, commands, schema }
}

fn outputs(generator: &mut SchemaGenerator) -> Vec<Output> {
    vec![
        output::<crate::commands::run::RunReport>(generator, "run", "haft run --json"),
        output::<haft_process::JobOutcomeReport>(generator, "spawn", "haft spawn --json"),
        output::<OutputListReport<'_>>(generator, "output-list", "haft output --json"),
        output::<haft_process::capture::OutputSummary>(generator, "output", "haft output ID --json"),
        output::<OverlayListReport<'_>>(generator, "changes", "haft changes --json"),
        output::<ChangesReport<'_>>(generator, "changes-show", "haft changes show ID --json"),
        output::<CommittedReport<'_>>(
            generator,
            "changes-commit",
            "haft changes commit ID --json, haft changes undo ID --json",
        ),
        output::<RemovedReport<'_>>(
            generator,
            "changes-discard",
            "haft changes discard ID --json, haft changes prune --json",
        ),
        output::<RunningListReport>(generator, "ps", "haft ps --json"),
        output::<RunListReport<'_>>(generator, "log", "haft log --json"),
        output::<haft_records::RunDetail>(generator, "log-show", "haft log show ID --json"),
        output::<haft_records::RunStatistics>(generator, "log-stats", "haft log stats --json"),
        output::<haft_records::Verification>(generator, "log-verify", "haft log verify --json"),
        output::<CheckReport<'_>>(generator, "check", "haft check --json"),
        output::<PlanReport<'_>>(generator, "plan", "haft plan --json"),
        output::<PolicyCheckReport<'_>>(generator, "policy-check", "haft policy check --json"),
        output::<PolicyReport>(generator, "policy-explain", "haft policy explain --json"),
        output::<PolicyTestReport<'_>>(generator, "policy-test", "haft policy test --json"),
        output::<PresetReport>(generator, "policy-show", "haft policy show PRESET --json"),
        output::<PolicyImportReport<'_>>(generator, "policy-import", "haft policy import AGENT --json"),
        output::<ToolListReport<'_>>(
            generator,
            "tool-list",
            "haft tool list --json, haft tool refresh --json",
        ),
        output::<ToolReport<'_>>(generator, "tool-show", "haft tool show NAME --json"),
        output::<haft_tools::Envelope>(generator, "tool-call", "haft tool call --json NAME"),
        output::<BatchAnswer>(generator, "tool-batch", "haft tool batch"),
        output::<ToolCheckReport<'_>>(generator, "tool-check", "haft tool check FILE --json"),
        output::<NewToolReport<'_>>(generator, "tool-new", "haft tool new NAME --json"),
        output::<TrustReport<'_>>(generator, "trust", "haft trust --json"),
        output::<TrustListReport<'_>>(generator, "trust-list", "haft trust --list --json"),
        output::<RevokedReport<'_>>(generator, "trust-revoke", "haft trust --revoke --json"),
        output::<OwnersReport<'_>>(generator, "trust-owner", "haft trust --owner --json DIR"),
        output::<LaunchReport>(
            generator,
            "launch",
            "haft launch --dry-run --json, haft launch --json (stderr)",
        ),
        output::<SupervisedReport<'_>>(generator, "launch-supervised", "haft launch --supervised --json"),
        output::<LaunchListReport<'_>>(generator, "launch-list", "haft launch list --json"),
        output::<LaunchItemReport>(generator, "launch-show", "haft launch show NAME --json"),
        output::<MachineDoctorReport>(generator, "doctor", "haft doctor --json"),
        output::<VersionReport>(generator, "version", "haft version --json, haft --version --json"),
        output::<DoctorReport<'_>>(generator, "launch-doctor", "haft launch doctor --json"),
        output::<InitReport<'_>>(generator, "launch-init", "haft launch init --json"),
        output::<LaunchSearchReport>(generator, "launch-search", "haft launch search WORD --json"),
        output::<LaunchChangeReport<'_>>(
            generator,
            "launch-change",
            "haft launch add --yes --json, haft launch remove --yes --json, haft launch order --yes --json",
        ),
        output::<ErrorReport>(generator, "error", "any command with --json that fails"),
    ]
}

/// The schema of all outputs.
fn json_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let outputs = outputs(&mut generator);
    let mut definitions = generator.take_definitions(true);
    for output in outputs {
        definitions.insert(output.name.to_owned(), output.schema.to_value());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JSON output of haft",
        "$defs": definitions,
    })
}

/// The document, from the schema.
fn document(schema: &Value) -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let outputs = outputs(&mut generator);
    let mut text = INTRODUCTION.to_owned();
    for output in &outputs {
        let title = if output.name == "error" { "Errors" } else { output.commands };
        let _ = write!(text, "\n## {title}\n\n");
        text.push_str(&describe(&schema["$defs"][output.name]));
    }
    let is_output = |name: &str| outputs.iter().any(|output| output.name == name);
    let types = schema["$defs"].as_object().into_iter().flatten();
    let mut types: Vec<(&String, &Value)> = types.filter(|(name, _)| !is_output(name)).collect();
    types.sort_by_key(|(name, _)| name.to_lowercase());
    text.push_str("\n# Types\n");
    for (name, definition) in types {
        let _ = write!(text, "\n## {name}\n\n");
        text.push_str(&describe(definition));
    }
    text
}

/// A definition: its description, then its fields or alternatives.
fn describe(definition: &Value) -> String {
    let mut text = String::new();
    if let Some(description) = definition["description"].as_str() {
        let _ = write!(text, "{}\n\n", one_line(description));
    }
    if let Some(fields) = definition["properties"].as_object() {
        text.push_str(&table(fields, &definition["required"]));
    }
    for keyword in ["oneOf", "anyOf", "enum"] {
        for alternative in definition[keyword].as_array().into_iter().flatten() {
            text.push_str(&describe_alternative(alternative));
        }
    }
    if text.is_empty() {
        let _ = writeln!(text, "{}", type_name(definition));
    }
    text
}

fn describe_alternative(alternative: &Value) -> String {
    let meaning =
        alternative["description"].as_str().map_or(String::new(), |text| format!(": {}", one_line(text)));
    let values = alternative["enum"].as_array().into_iter().flatten();
    let constants: Vec<String> =
        alternative.get("const").into_iter().chain(values).map(|value| format!("`{value}`")).collect();
    if !constants.is_empty() {
        return format!("- {}{meaning}\n", constants.join(", "));
    }
    match alternative["properties"].as_object() {
        None => format!("- {}{meaning}\n", type_name(alternative)),
        Some(fields) => {
            let fields = fields.iter().map(|(name, field)| match field.get("const") {
                Some(value) => format!("`{name}`: `{value}`"),
                None => format!("`{name}`: {}", type_name(field)),
            });
            format!("- {{{}}}{meaning}\n", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

fn table(fields: &Map<String, Value>, required: &Value) -> String {
    let mut text = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in fields {
        let is_required =
            required.as_array().is_some_and(|names| names.iter().any(|required| required == name));
        let optional = if is_required { "" } else { " *optional*" };
        let meaning = one_line(field["description"].as_str().unwrap_or_default());
        let _ = writeln!(text, "| `{name}` | {}{optional} | {meaning} |", type_name(field));
    }
    text
}

/// The type of a field in a few words, with links to the types below.
fn type_name(field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(alternatives) = field[keyword].as_array() {
            return alternatives.iter().map(type_name).collect::<Vec<_>>().join(" or ");
        }
    }
    let name = |kind: &str| match kind {
        "array" => format!("list of {}", type_name(&field["items"])),
        "integer" => "number".to_owned(),
        other => other.to_owned(),
    };
    match &field["type"] {
        Value::String(kind) => name(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

/// A description in one line of a table, without the links of Rust.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        let (label, after) = link.split_once(']').unwrap_or((link, ""));
        let after = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
        plain = plain + before + label;
        rest = after;
    }
    plain + rest
}

fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_documented_schemas_are_those_of_the_types() {
    let schema = json_schema();
    let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    let files = [("json.schema.json", text), ("json.md", document(&schema))];
    #[expect(clippy::disallowed_methods, reason = "a test may ask its environment")]
    let writes = std::env::var_os("HAFT_WRITE_DOCS").is_some();
    for (name, text) in files {
        if writes {
            std::fs::write(path_of(name), &text).expect("docs can be written");
        }
        let current = std::fs::read_to_string(path_of(name)).unwrap_or_default();
        let hint = "run HAFT_WRITE_DOCS=1 cargo test -p haft json_docs";
        assert!(current == text, "docs/{name} does not describe the types: {hint}");
    }
}
