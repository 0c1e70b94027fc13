//! Offers the tools of a registry over MCP.

use std::sync::Arc;
use std::time::Duration;

use haft_process::CancelToken;
use haft_tools::{CallOptions, CallProgress, Envelope, Registry, ToolSource, Toolset, exact, model_name};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::coerce::coerce;
use super::detail::ResultDetail;
use super::file_tools;
use super::reply::{ToolReply, output_call};
use super::server_state::ServerState;
use super::tool_definitions::shorten;
use super::tool_request::ToolRequest;

/// The time that `tools/list` waits for tools that are still being discovered. Clients are notified of later ones.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between checks for changed tool files.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);

/// A registry, and the subset of its tools that clients may call.
#[derive(Clone, Debug)]
pub struct RegistryTools {
    /// The registry.
    pub registry: Registry,
    /// The tools that may be called; `None` allows all.
    pub toolset: Option<Toolset>,
}

/// Native tools that do the same as the built-in ones, and are therefore offered only on request.
const ON_REQUEST: [&str; 8] = [
    "bash",
    "output",
    "process_start",
    "process_read",
    "process_write",
    "process_close",
    "process_kill",
    "process_list",
];

/// Whether a tool is offered only on request.
fn is_on_request(tool: &haft_tools::Tool) -> bool {
    matches!(tool.source(), ToolSource::Native(_)) && ON_REQUEST.contains(&tool.name())
}

impl RegistryTools {
    /// Checks periodically for added, removed or changed tool files. Subscribers of the registry are notified.
    pub(crate) async fn watch(self) {
        loop {
            tokio::time::sleep(REFRESH_INTERVAL).await;
            let registry = self.registry.clone();
            let _ = tokio::task::spawn_blocking(move || registry.refresh_if_stale()).await;
        }
    }

    /// The tools that may be called and are known within [`LIST_TIMEOUT`]. Clients are notified when slower servers
    /// have listed their tools.
    pub(crate) async fn list(&self, requested: Option<&Toolset>, detail: ResultDetail) -> Vec<Tool> {
        let tools = self.clone();
        let look = move || {
            tools.registry.refresh_if_stale();
            tools.registry.wait_for_all_within(LIST_TIMEOUT)
        };
        let snapshot = tokio::task::spawn_blocking(look).await;
        let Ok(snapshot) = snapshot else { return Vec::new() };
        let offered = snapshot.tools().filter(|tool| self.offers(tool, requested));
        offered.map(|tool| to_mcp_tool(tool, detail)).collect()
    }

    /// Whether a tool is offered: it is in the toolset, if there is one, and was requested if that is necessary.
    fn offers(&self, tool: &haft_tools::Tool, requested: Option<&Toolset>) -> bool {
        let allowed_by = |set: Option<&Toolset>| set.is_some_and(|set| set.allows(tool.name()));
        match &self.toolset {
            Some(toolset) => toolset.allows(tool.name()) || allowed_by(requested),
            None => !is_on_request(tool) || allowed_by(requested),
        }
    }

    /// The definition of a tool that is known already.
    pub(crate) fn definition(&self, name: &str) -> Option<Tool> {
        let snapshot = self.registry.snapshot();
        snapshot
            .tools()
            .find(|tool| model_name(tool.name()) == name)
            .map(|tool| to_mcp_tool(tool, ResultDetail::Text))
    }

    /// Calls a tool. Returns `None` if there is no tool of this name.
    pub(crate) async fn call(
        &self,
        state: &Arc<ServerState>,
        name: &str,
        mut given: Option<JsonObject>,
        requested: Option<Toolset>,
        request: &ToolRequest,
    ) -> Option<Result<ToolReply, String>> {
        if let Some(tool) = self.file_tool(name, requested.as_ref())
            && let Some(id) = file_tools::take_overlay(name, given.as_mut())
        {
            let mut arguments = Value::Object(given.unwrap_or_default());
            coerce(tool.parameters().value(), &mut arguments);
            let envelope = file_tools::call(state, name, id, arguments, request).await;
            return Some(envelope.map(|envelope| reply(envelope, Some(&tool))));
        }
        let cancel = CancelToken::new();
        let options = CallOptions { cancel: Some(cancel.clone()), ..CallOptions::default() };
        let (sender, mut steps) = unbounded_channel();
        let (tools, name) = (self.clone(), name.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let on_progress = |progress: &CallProgress| drop(sender.send(progress.clone()));
            tools.call_blocking(&name, given, requested.as_ref(), &options, &on_progress)
        });
        tokio::pin!(work);
        let mut progress = request.tool_progress();
        let answer = loop {
            tokio::select! {
                biased;
                Some(step) = steps.recv() => progress.forward(step).await,
                answer = &mut work => break answer,
                () = progress.silence() => progress.report("running").await,
                () = request.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        answer.ok()?
    }

    /// The file tool of this name, if it is offered.
    fn file_tool(&self, name: &str, requested: Option<&Toolset>) -> Option<haft_tools::Tool> {
        let tool = self.registry.find_for(name, &CallOptions::default()).ok()?;
        (file_tools::is_file_tool(&tool) && self.offers(&tool, requested)).then_some(tool)
    }

    /// Finds a tool and calls it.
    fn call_blocking(
        &self,
        name: &str,
        given: Option<JsonObject>,
        requested: Option<&Toolset>,
        options: &CallOptions,
        on_progress: &(dyn Fn(&CallProgress) + Sync),
    ) -> Option<Result<ToolReply, String>> {
        let registry = &self.registry;
        let name = registry.name_of_model_name(name).unwrap_or_else(|| name.to_owned());
        let tool = match registry.find_for(&name, options) {
            Ok(tool) => tool,
            Err(fault) if fault.code == haft_tools::ErrorCode::ToolNotFound => return None,
            Err(fault) => return Some(Ok(reply(Envelope::failure(fault), None))),
        };
        if !self.offers(&tool, requested) {
            return Some(Err(not_offered(&name)));
        }
        let mut arguments = Value::Object(given.unwrap_or_default());
        coerce(tool.parameters().value(), &mut arguments);
        let envelope = registry.call_with_progress(&name, arguments, options, on_progress);
        Some(Ok(reply(envelope, Some(&tool))))
    }
}

/// The message for a tool that exists but is not offered.
pub(crate) fn not_offered(name: &str) -> String {
    format!("this server does not offer the tool '{name}'\nhint: `haft mcp --tools {name}` offers it")
}

/// Converts a tool to its MCP form, with a name that the APIs of models accept. It has an output schema only if clients
/// receive structured content.
fn to_mcp_tool(tool: &haft_tools::Tool, detail: ResultDetail) -> Tool {
    let mut schema = tool.descriptor().parameters.clone();
    if matches!(tool.source(), ToolSource::Native(_)) {
        shorten(&mut schema);
    }
    if file_tools::is_file_tool(tool) {
        schema["properties"][file_tools::OVERLAY] = json!({ "type": "string" });
    }
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let mut shown = Tool::new(model_name(tool.name()), tool.description().to_owned(), Arc::new(schema));
    shown.title = tool.descriptor().title.clone();
    let annotations = tool.descriptor().annotations.clone();
    shown.annotations = annotations.and_then(|annotations| serde_json::from_value(annotations).ok());
    if detail == ResultDetail::Full {
        shown.output_schema = output_schema(tool).cloned().map(Arc::new);
    }
    shown
}

/// The schema of a tool's results. Other results than objects cannot be structured content.
fn output_schema(tool: &haft_tools::Tool) -> Option<&JsonObject> {
    let schema = tool.descriptor().returns.as_ref()?.as_object()?;
    (schema.get("type")? == "object").then_some(schema)
}

/// Converts a result: the text form of the tool, a string as it is, or JSON in one line.
fn reply(envelope: Envelope, tool: Option<&haft_tools::Tool>) -> ToolReply {
    match envelope.outcome {
        Ok(value) if value.is_string() && exact::large_integer(&value).is_none() => {
            let text = value.as_str().unwrap_or_default().to_owned();
            ToolReply::new(text, json!({ "result": value }))
        }
        Ok(value) => {
            let text = tool.and_then(|tool| tool.text(&value)).unwrap_or_else(|| exact::to_text(&value));
            let is_foreign = value.is_object() && tool.is_some_and(|tool| output_schema(tool).is_some());
            let data = match value.is_object() {
                true => Some(value),
                // Blocks that are passed on are not repeated as JSON.
                false => envelope.content.is_none().then(|| json!({ "result": value })),
            };
            ToolReply { text, data, is_foreign, content: envelope.content, ..ToolReply::default() }
        }
        Err(fault) => {
            let mut text = fault.message.clone();
            for more in [&fault.stdout, &envelope.stderr] {
                if !more.trim().is_empty() {
                    text = format!("{text}\n{}", more.trim_end());
                }
            }
            for cut in &envelope.truncated {
                let (total, stream, id) = (cut.total_bytes, cut.stream, &cut.id);
                text += &format!(
                    "\n[{stream} truncated, {total} bytes in all; full output: {}]",
                    output_call(id, None)
                );
            }
            let data = json!({
                "error": fault.message,
                "error_code": fault.code.as_str(),
                "truncated": envelope.truncated,
            });
            ToolReply { data: Some(data), ..ToolReply::failure(text) }
        }
    }
}
