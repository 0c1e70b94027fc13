//! The tool `output`: returns another part of an earlier output.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::reply::{ToolReply, facts_line};
use super::server_state::ServerState;
use super::view::ViewArguments;

/// Arguments of the tool `output`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputArguments {
    /// The output id from an earlier answer.
    id: String,
    /// Which part to return.
    #[serde(default)]
    view: ViewArguments,
}

/// Returns the requested part of an output.
pub(crate) fn output(state: &ServerState, arguments: OutputArguments) -> Result<ToolReply, String> {
    let id = &arguments.id;
    let of_tool = || state.setup.tools.as_ref()?.registry.output(id);
    let output = state
        .outputs
        .get(id)
        .or_else(of_tool)
        .ok_or_else(|| format!("unknown output \"{id}\"\nhint: outputs expire; run the script again"))?;
    let summary = arguments.view.resolve()?.summarize(&output).map_err(|error| error.to_string())?;
    let mut text = summary.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let mut facts = vec![format!("{} bytes, {} lines", summary.total_bytes, summary.total_lines)];
    if !output.is_finished() {
        facts.push("still being written".to_owned());
    }
    if let Some(omitted) = summary.omitted {
        facts.push(format!("{} bytes not shown", omitted.bytes));
        if omitted.lost_bytes > 0 {
            facts.push(format!("{} bytes lost", omitted.lost_bytes));
        }
    }
    if summary.lossy {
        facts.push("not valid UTF-8".to_owned());
    }
    text.push_str(&facts_line(&facts));
    let data = serde_json::to_value(&summary).unwrap_or_else(|_| json!({}));
    Ok(ToolReply::new(text, data))
}
