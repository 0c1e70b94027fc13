//! File tools in an overlay: each call is a process of its own that sees the overlay's files.

use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::OutputView;
use haft_process::{CancelToken, Input, Task};
use haft_tools::{CallError, Envelope, ToolSource};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::server_state::ServerState;
use super::tool_request::ToolRequest;

/// The tools that take the argument `overlay`.
const FILE_TOOLS: [&str; 5] = ["file_read", "file_write", "file_edit", "glob", "grep"];
/// The argument.
pub(crate) const OVERLAY: &str = "overlay";

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Whether a tool is one of haft's own file tools.
pub(crate) fn is_file_tool(tool: &haft_tools::Tool) -> bool {
    matches!(tool.source(), ToolSource::Native(_)) && FILE_TOOLS.contains(&tool.name())
}

/// Removes the id of the overlay from the arguments of a file tool.
pub(crate) fn take_overlay(tool: &str, arguments: Option<&mut JsonObject>) -> Option<String> {
    let arguments = arguments.filter(|_| FILE_TOOLS.contains(&tool))?;
    match arguments.remove(OVERLAY)? {
        Value::String(id) => Some(id),
        other => Some(other.to_string()),
    }
}

/// Calls a file tool in an overlay.
///
/// # Errors
/// If the overlay is not known, or the program cannot be started.
pub(crate) async fn call(
    state: &Arc<ServerState>,
    tool: &str,
    id: String,
    arguments: Value,
    request: &ToolRequest,
) -> Result<Envelope, String> {
    let cancel = CancelToken::new();
    let (state, tool, owner, token) = (state.clone(), tool.to_owned(), request.owner.id, cancel.clone());
    let work = tokio::task::spawn_blocking(move || {
        let (command, open) = state.overlays.tool_command(id, owner, &tool)?;
        let input = Input::Bytes(Arc::from(arguments.to_string().into_bytes()));
        let task = Task::new(command).input(input).timeout(TIMEOUT).cancel(&token);
        let ended = task.start(&state.setup.host).map_err(|error| error.to_string())?.wait();
        drop(open);
        let output =
            ended.captured.stdout.map(|output| output.slice(&OutputView::HeadAndTail, usize::MAX >> 1));
        let output = output.transpose().map_err(|error| error.to_string())?;
        read_envelope(&output.map(|output| output.to_bytes()).unwrap_or_default())
    });
    tokio::pin!(work);
    tokio::select! {
        biased;
        answer = &mut work => answer.map_err(|error| error.to_string())?,
        () = request.cancelled() => {
            cancel.cancel();
            Err("cancelled".to_owned())
        }
    }
}

/// Reads what the program printed.
fn read_envelope(output: &[u8]) -> Result<Envelope, String> {
    let printed: Value =
        serde_json::from_slice(output).map_err(|_| "the tool could not be run in the overlay".to_owned())?;
    if printed["tool_success"] == true {
        return Ok(Envelope::from(Ok(printed["result"].clone())));
    }
    let message =
        printed["error"].as_str().or(printed["error"]["message"].as_str()).unwrap_or("unknown error");
    Ok(Envelope::failure(CallError::invalid(message)))
}
