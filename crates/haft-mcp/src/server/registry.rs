//! Offers the tools of a registry over MCP.

use std::sync::Arc;
use std::time::Duration;

use haft_process::CancelToken;
use haft_tools::{CallOptions, CallProgress, Envelope, Registry, Toolset};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::reply::ToolReply;
use super::tool_request::ToolRequest;

/// The time that `tools/list` waits for tools that are still being discovered.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
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
    pub(crate) async fn list(&self) -> Vec<Tool> {
        let tools = self.clone();
        let look = move || {
            tools.registry.refresh_if_stale();
            tools.registry.wait_for_all_within(LIST_TIMEOUT)
        };
        let snapshot = tokio::task::spawn_blocking(look).await;
        let Ok(snapshot) = snapshot else { return Vec::new() };
        snapshot.tools().filter(|tool| self.allows(tool.name())).map(to_mcp_tool).collect()
    }

    fn allows(&self, name: &str) -> bool {
        self.toolset.as_ref().is_none_or(|toolset| toolset.allows(name))
    }

    /// Calls a tool. Returns `None` if there is no tool of this name.
    pub(crate) async fn call(
        &self,
        name: &str,
        given: Option<JsonObject>,
        request: &ToolRequest,
    ) -> Option<ToolReply> {
        let name = name.to_owned();
        let cancel = CancelToken::new();
        let options = CallOptions {
            cancel: Some(cancel.clone()),
            toolset: self.toolset.clone(),
            ..CallOptions::default()
        };
        let registry = self.registry.clone();
        let (sender, mut steps) = unbounded_channel();
        let work = tokio::task::spawn_blocking(move || {
            let arguments = Value::Object(given.unwrap_or_default());
            let name = if registry.has(&name) { name } else { from_client_name(&name) };
            let on_progress = |progress: &CallProgress| drop(sender.send(progress.clone()));
            registry.call_with_progress(&name, arguments, &options, &on_progress)
        });
        tokio::pin!(work);
        let envelope = loop {
            tokio::select! {
                biased;
                Some(progress) = steps.recv() => request.forward_progress(progress).await,
                envelope = &mut work => break envelope,
                () = request.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        let envelope = envelope.ok()?;
        (envelope.code() != Some(haft_tools::ErrorCode::ToolNotFound)).then(|| reply(envelope))
    }
}

/// Converts a tool to its MCP form. A period in the name becomes two underscores, because many clients reject
/// periods.
fn to_mcp_tool(tool: &haft_tools::Tool) -> Tool {
    let schema = match &tool.descriptor().parameters {
        Value::Object(schema) => schema.clone(),
        _ => JsonObject::new(),
    };
    Tool::new(tool.name().replace('.', "__"), tool.description().to_owned(), Arc::new(schema))
}

/// Reverses the conversion of the name.
fn from_client_name(name: &str) -> String {
    match name.split_once("__") {
        Some((server, tool)) if !server.is_empty() => format!("{server}.{tool}"),
        _ => name.to_owned(),
    }
}

fn reply(envelope: Envelope) -> ToolReply {
    match envelope.outcome {
        Ok(Value::String(text)) => ToolReply::new(text.clone(), json!({ "result": text })),
        Ok(value) => {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            ToolReply::new(text, if value.is_object() { value } else { json!({ "result": value }) })
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
                    "\n[{stream} truncated, {total} bytes in all: call \"output\" with id \"{id}\"]"
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
