//! `haft tool list` and `haft tool refresh`: list all tools, and rejected candidates.

use std::path::Path;

use haft_config::printable;
use haft_tools::{RejectedTool, ShadowedTool, Tool, ToolDescriptor, ToolSnapshot};
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolRuntime;
use super::arguments::ToolListArguments;
use crate::commands::print::{print_json, print_text};
use crate::failure::{self, Failure};

/// Lists the tools that are known after the wait, or when a signal interrupts the discovery.
#[expect(clippy::unnecessary_wraps, reason = "all commands return a result")]
pub(super) fn run(runtime: &ToolRuntime, arguments: &ToolListArguments) -> Result<i32, Failure> {
    let snapshot = runtime.registry.wait_for_all_within(arguments.wait);
    let status = if runtime.signals.cancel.is_cancelled() { haft_process::CANCELLED } else { 0 };
    if arguments.json {
        let report = ToolListReport {
            complete: snapshot.is_complete(),
            tools: snapshot.tools().map(ToolReport::new).collect(),
            shadowed: snapshot.shadowed(),
            rejected: snapshot.rejected(),
        };
        return Ok(print_json(&report, status));
    }
    failure::print_stderr(&omitted(&snapshot));
    if status == 0 && snapshot.rejected().iter().any(|rejected| rejected.unanswered) {
        failure::print_hint(
            "`--wait TIME` waits longer for servers; a call waits as long as the server's `timeout`",
        );
    }
    Ok(print_text(&table(&snapshot), status))
}

/// All tools.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ToolListReport<'a> {
    /// False if MCP servers have not answered yet; they are in `rejected`.
    complete: bool,
    /// The tools that can be called.
    tools: Vec<ToolReport<'a>>,
    /// Tools that another tool of the same name replaces.
    shadowed: &'a [ShadowedTool],
    /// Files and servers that do not provide a tool, with the reason.
    rejected: &'a [RejectedTool],
}

/// A tool: the schema that it reports, and where it comes from.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ToolReport<'a> {
    #[serde(flatten)]
    descriptor: &'a ToolDescriptor,
    /// `core`, `system`, `user`, `project`, or `mcp` for a tool of an MCP server.
    source: &'static str,
    /// The MCP server that provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    /// The executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a Path>,
    /// The hash of the executable's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
}

impl<'a> ToolReport<'a> {
    pub(super) fn new(tool: &'a Tool) -> ToolReport<'a> {
        let file = tool.file();
        ToolReport {
            descriptor: tool.descriptor(),
            source: source(tool),
            server: tool.provider(),
            path: file.map(|file| file.path.as_path()),
            hash: file.map(|file| file.hash.as_str()),
        }
    }
}

/// The source of a tool in one word.
fn source(tool: &Tool) -> &'static str {
    if tool.provider().is_some() { "mcp" } else { tool.layer().as_str() }
}

/// The tools, one per line, cut to the width of the terminal.
pub(crate) fn table(snapshot: &ToolSnapshot) -> String {
    let width = snapshot.tools().map(|tool| tool.name().len()).max().unwrap_or(0);
    let columns = columns().unwrap_or(usize::MAX);
    let line = |tool: &Tool| {
        let first = tool.description().lines().next().unwrap_or_default();
        let source = source(tool);
        cut(&format!("{:width$}  {source:8}  {first}", tool.name()), columns) + "\n"
    };
    snapshot.tools().map(line).collect()
}

/// The width of the terminal on standard output, if there is one.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn cut(line: &str, columns: usize) -> String {
    match line.char_indices().nth(columns) {
        None => line.to_owned(),
        Some(_) => line.chars().take(columns - 1).chain(['…']).collect(),
    }
}

/// Shadowed and rejected tools, one per line.
pub(crate) fn omitted(snapshot: &ToolSnapshot) -> String {
    let mut text = String::new();
    for shadowed in snapshot.shadowed() {
        let place =
            shadowed.path.as_ref().map_or("built in".to_owned(), |path| format!("'{}'", printable(path)));
        text.push_str(&format!(
            "shadowed: {} of the {} layer, {place}, by the {} layer\n",
            shadowed.name, shadowed.layer, shadowed.by
        ));
    }
    for rejected in snapshot.rejected() {
        let name = &rejected.name;
        let place = rejected.path.as_ref().map_or(String::new(), |path| format!(", '{}'", printable(path)));
        let instead = rejected
            .instead
            .map_or(String::new(), |layer| format!("; '{name}' of the {layer} layer is called instead"));
        let label = if rejected.unanswered { "no answer" } else { "rejected" };
        text.push_str(&format!("{label}: {name}{place}: {}{instead}\n", rejected.reason));
    }
    text
}
