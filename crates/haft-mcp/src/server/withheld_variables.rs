//! Telling an agent that a variable it misses is withheld from its scripts.

use haft_process::capture::OutputView;
use serde_json::json;

use super::jobs::ScriptJob;
use super::reply::ToolReply;

/// How to allow a variable.
const ALLOW_HINT: &str =
    "the user allows it with `haft mcp --env-allow NAME` or `[env] allow = [\"NAME\"]` in the configuration";
/// How much of each end of an output is searched.
const SEARCHED_BYTES: usize = 8192;

/// What the description of `run` says of the variables.
pub(crate) fn description(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        " These variables look like keys and are withheld from scripts: {}; {ALLOW_HINT}.",
        names.join(", ")
    )
}

/// Adds a line to the answer of a script that names such a variable, or has failed with a message that does.
pub(crate) fn mention(reply: &mut ToolReply, job: &ScriptJob, names: &[String]) {
    let Some(ended) = job.ended() else { return };
    let written = if ended.has_failed() { written(job) } else { String::new() };
    let missed = |name: &&String| job.script.contains(name.as_str()) || written.contains(name.as_str());
    let missed: Vec<&str> = names.iter().filter(missed).map(String::as_str).collect();
    if missed.is_empty() {
        return;
    }
    reply.text.push_str(&format!("[withheld from scripts: {}; {ALLOW_HINT}]\n", missed.join(", ")));
    if let Some(data) = &mut reply.data {
        data["withheld"] = json!(missed);
    }
}

/// The beginning and the end of everything that the job wrote.
fn written(job: &ScriptJob) -> String {
    let shown =
        |output: haft_process::capture::Output| output.summary(&OutputView::HeadAndTail, SEARCHED_BYTES).ok();
    job.streams().into_iter().filter_map(|(_, output)| shown(output)).map(|summary| summary.text).collect()
}
