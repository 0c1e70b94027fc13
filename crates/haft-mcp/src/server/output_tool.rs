//! The tool `output`: returns another part of an earlier output.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::detail::ResultDetail;
use super::reply::{ToolReply, facts_line, output_call};
use super::server_state::ServerState;
use super::view::ViewArguments;

/// Arguments of the tool `output`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputArguments {
    /// The id in an earlier answer.
    id: String,
    #[serde(default)]
    view: ViewArguments,
    /// "full" adds the text and its size as structured content.
    #[serde(default)]
    detail: ResultDetail,
}

/// Returns the requested part of an output.
pub(crate) fn output(
    state: &ServerState,
    owner: u64,
    arguments: OutputArguments,
) -> Result<ToolReply, String> {
    let id = &arguments.id;
    let of_tool = || state.setup.tools.as_ref()?.registry.output(id);
    let output = state
        .outputs
        .get(owner, id)
        .or_else(of_tool)
        .ok_or_else(|| format!("unknown output '{id}'\nhint: outputs expire; run the script again"))?;
    let shown = arguments.view.resolve()?.summarize(&output).map_err(|error| error.to_string())?;
    let summary = shown.summary;
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
        facts.extend(shown.omitted_lines.map(|lines| format!("next: {}", output_call(id, Some(lines)))));
        if omitted.lost_bytes > 0 {
            facts.push(format!("{} bytes lost", omitted.lost_bytes));
        }
    }
    if summary.lossy {
        facts.push("not valid UTF-8".to_owned());
    }
    text.push_str(&facts_line(&facts));
    let data = serde_json::to_value(&summary).unwrap_or_else(|_| json!({}));
    Ok(ToolReply::new(text, data).with_detail(arguments.detail))
}
