//! The tool `output`: another look at what was written before.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::reply::{ToolReply, facts_line};
use super::server_state::ServerState;
use super::view::ViewArguments;

/// What `output` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputArguments {
    /// The output, as an earlier answer names it.
    id: String,
    /// Which part of it to show.
    #[serde(default)]
    view: ViewArguments,
}

/// Shows it.
pub(crate) fn output(state: &ServerState, arguments: OutputArguments) -> Result<ToolReply, String> {
    let id = &arguments.id;
    let of_tool = || state.setup.tools.as_ref()?.registry.output(id);
    let output = state.outputs.get(id).or_else(of_tool).ok_or_else(|| {
        format!("there is no output \"{id}\"\nhint: outputs are kept for a while only; run the script again")
    })?;
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
            facts.push(format!("{} bytes are lost", omitted.lost_bytes));
        }
    }
    if summary.lossy {
        facts.push("not all of it is UTF-8".to_owned());
    }
    text.push_str(&facts_line(&facts));
    let data = serde_json::to_value(&summary).unwrap_or_else(|_| json!({}));
    Ok(ToolReply::new(text, data))
}
