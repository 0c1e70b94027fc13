//! `haft tool show`: describe a tool.

use std::fmt::Write as _;

use haft_tools::Tool;
use serde_json::Value;

use super::ToolRuntime;
use super::list::ToolReport;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;

/// Prints the description and parameters of a tool.
pub(super) fn run(runtime: &ToolRuntime, name: &str, json: bool) -> Result<i32, Failure> {
    let tool = runtime.registry.find(name)?;
    Ok(if json { print_json(&ToolReport::new(&tool), 0) } else { print_text(&text(&tool), 0) })
}

/// The description of a tool as text.
pub(crate) fn text(tool: &Tool) -> String {
    let descriptor = tool.descriptor();
    let mut text = format!("{}\n    {}\n", tool.name(), descriptor.description.replace('\n', "\n    "));
    let names: Vec<&str> = tool.parameters().names().collect();
    if !names.is_empty() {
        text.push_str("\nparameters:\n");
    }
    let required = descriptor.parameters["required"].as_array().cloned().unwrap_or_default();
    for name in names {
        let schema = tool.parameters().property(name).cloned().unwrap_or_default();
        let needed = required.iter().any(|required| required == name);
        let _ = writeln!(text, "    {name}: {}", parameter(&schema, needed));
    }
    let place = match (tool.file(), tool.provider()) {
        (Some(file), _) => file.path.display().to_string(),
        (None, Some(server)) => format!("MCP server '{server}'"),
        (None, None) => "built in".to_owned(),
    };
    let _ = writeln!(text, "\nsource: {}, {place}", tool.layer());
    if let Some(version) = &descriptor.version {
        let _ = writeln!(text, "version: {version}");
    }
    if let Some(timeout) = descriptor.timeout {
        let _ = writeln!(text, "timeout: {timeout} s");
    }
    if !descriptor.env.is_empty() {
        let _ = writeln!(text, "environment: {}", descriptor.env.join(", "));
    }
    text
}

fn parameter(schema: &Value, needed: bool) -> String {
    let plain = |value: &Value| value.to_string().replace('"', "");
    let kind = schema.get("type").or_else(|| schema.get("enum")).map_or("any".to_owned(), plain);
    let default = schema.get("default").map_or(String::new(), |default| format!(", default {default}"));
    let needed = if needed { ", required" } else { "" };
    let words = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let words = if words.is_empty() { String::new() } else { format!(" — {words}") };
    format!("{kind}{needed}{default}{words}")
}
