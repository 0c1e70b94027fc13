//! Tells an agent which environment variables are withheld from its scripts.

use haft_process::capture::OutputView;
use serde_json::json;

use super::jobs::ScriptJob;
use super::reply::ToolReply;

/// How to allow a variable.
const ALLOW_HINT: &str = "the user can allow it with `haft mcp --env-allow NAME`, or with `[env] allow = [\"NAME\"]` in the configuration";
/// The number of output bytes to search for variable names.
const SEARCHED_BYTES: usize = 8192;

/// The sentence that lists the variables in the description of `run`.
pub(crate) fn description(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        " These variables look like keys and are withheld from scripts: {}; {ALLOW_HINT}.",
        names.join(", ")
    )
}

/// Adds a line to the reply if the script, or the output of a failed script, names a withheld variable.
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

/// The beginning and the end of all output of the job.
fn written(job: &ScriptJob) -> String {
    let shown =
        |output: haft_process::capture::Output| output.summary(&OutputView::HeadAndTail, SEARCHED_BYTES).ok();
    job.streams().into_iter().filter_map(|(_, output)| shown(output)).map(|summary| summary.text).collect()
}
