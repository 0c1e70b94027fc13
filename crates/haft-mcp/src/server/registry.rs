//! The tools of the registry, each under its own name and schema.

use std::sync::Arc;
use std::time::Duration;

use haft_process::CancelToken;
use haft_tools::{CallOptions, CallProgress, Envelope, Registry, Toolset};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::reply::ToolReply;
use super::tool_request::ToolRequest;

/// How long a list waits for all tools to be known.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// How often files are looked at.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);

/// The registry, and what of it may be called.
#[derive(Clone, Debug)]
pub struct RegistryTools {
    /// All tools.
    pub registry: Registry,
    /// Those that may be called; all, if there is none.
    pub toolset: Option<Toolset>,
}

impl RegistryTools {
    /// Looks, again and again, whether files of tools have come, gone or changed. Whoever wants to know hears of it.
    pub(crate) async fn watch(self) {
        loop {
            tokio::time::sleep(REFRESH_INTERVAL).await;
            let registry = self.registry.clone();
            let _ = tokio::task::spawn_blocking(move || registry.refresh_if_stale()).await;
        }
    }

    /// All that may be called, as far as they are known soon. A server of others that takes longer to say which tools it has
    /// must not keep a client waiting; it hears of them when they are known.
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

    /// Calls one; `None` if there is none of this name.
    pub(crate) async fn call(
        &self,
        name: &str,
        given: Option<JsonObject>,
        call: &ToolRequest,
    ) -> Option<ToolReply> {
        let name = name.to_owned();
        let cancel = CancelToken::new();
        let options = CallOptions {
            cancel: Some(cancel.clone()),
            toolset: self.toolset.clone(),
            ..CallOptions::default()
        };
        let registry = self.registry.clone();
        let (tell, mut told) = unbounded_channel();
        let work = tokio::task::spawn_blocking(move || {
            let arguments = Value::Object(given.unwrap_or_default());
            let name = if registry.has(&name) { name } else { from_client_name(&name) };
            let tell = |progress: &CallProgress| drop(tell.send(progress.clone()));
            registry.call_with_progress(&name, arguments, &options, &tell)
        });
        tokio::pin!(work);
        let envelope = loop {
            tokio::select! {
                biased;
                Some(progress) = told.recv() => call.forward_progress(progress).await,
                envelope = &mut work => break envelope,
                () = call.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        let envelope = envelope.ok()?;
        (envelope.code() != Some(haft_tools::ErrorCode::ToolNotFound)).then(|| reply(envelope))
    }
}

/// A tool as a client sees it. A period in a name, which many clients refuse, becomes two underscores.
fn to_mcp_tool(tool: &haft_tools::Tool) -> Tool {
    let schema = match &tool.descriptor().parameters {
        Value::Object(schema) => schema.clone(),
        _ => JsonObject::new(),
    };
    Tool::new(tool.name().replace('.', "__"), tool.description().to_owned(), Arc::new(schema))
}

/// The name of a tool as we know it, if none is called as a client says.
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
            let mut words = fault.message.clone();
            for more in [&fault.stdout, &envelope.stderr] {
                if !more.trim().is_empty() {
                    words = format!("{words}\n{}", more.trim_end());
                }
            }
            for cut in &envelope.truncated {
                let (total, stream, id) = (cut.total_bytes, cut.stream, &cut.id);
                words += &format!(
                    "\n[not all {total} bytes of {stream} are shown: see \"output\" with id \"{id}\"]"
                );
            }
            let data = json!({
                "error": fault.message,
                "error_code": fault.code.as_str(),
                "truncated": envelope.truncated,
            });
            ToolReply { data: Some(data), ..ToolReply::failure(words) }
        }
    }
}
